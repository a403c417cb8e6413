// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/gzip_source.hpp"

#include <zlib.h>

#include <algorithm>

#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

class gzip_source final : public byte_source {
 public:
  explicit gzip_source(std::unique_ptr<byte_source> packed) : byte_source(packed->name()), packed_(std::move(packed)) {
    // 16: gzip alone, and its header and checksum are looked at.
    if (::inflateInit2(&state_, 16 + MAX_WBITS) != Z_OK) throw trace_error{"cannot unpack " + name()};
  }
  ~gzip_source() override { ::inflateEnd(&state_); }

 private:
  [[nodiscard]] const char* place() const noexcept override { return " at unpacked byte "; }

  std::size_t read(char* out, std::size_t capacity) override {
    if (ended_) return 0;
    state_.next_out = reinterpret_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(capacity);
    while (state_.avail_out == capacity) {
      const std::string_view packed = packed_->ahead();
      if (packed.empty()) packed_->refuse("the gzip data ends early");
      // zlib's interface takes what it does not write to without const.
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      state_.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size(), std::size_t{1} << 30));
      const uInt offered = state_.avail_in;
      const int answer = ::inflate(&state_, Z_NO_FLUSH);
      packed_->skip(offered - state_.avail_in);
      if (answer == Z_STREAM_END) {
        if (packed_->ahead().empty()) {
          ended_ = true;
          break;
        }
        ::inflateReset(&state_);
      } else if (answer != Z_OK) {
        packed_->refuse(state_.msg != nullptr ? std::string("damaged gzip data: ") + state_.msg : "damaged gzip data");
      }
    }
    const std::size_t made = capacity - state_.avail_out;
    made_ += made;
    if (made_ > unpacked_bytes_free && made_ / unpacked_ratio_max > packed_->offset()) {
      packed_->refuse("unpacks to more than " + std::to_string(unpacked_ratio_max) + " times its size");
    }
    return made;
  }

  void restart() override {
    packed_->rewind();
    ::inflateReset(&state_);
    made_ = 0;
    ended_ = false;
  }

  std::unique_ptr<byte_source> packed_;
  z_stream state_{};
  std::uint64_t made_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<byte_source> unpacked(std::unique_ptr<byte_source> packed) {
  return std::make_unique<gzip_source>(std::move(packed));
}

}  // namespace arcalloc::trace
