// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trace/formats/gzip_source.hpp"
#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

class memory_source final : public byte_source {
 public:
  memory_source(const std::string& name, std::string_view bytes) : byte_source(name), bytes_(bytes) { show(bytes_); }

 private:
  std::size_t read(char* /*out*/, std::size_t /*capacity*/) override { return 0; }
  void restart() override { show(bytes_); }

  std::string_view bytes_;
};

class file_source final : public byte_source {
 public:
  enum class owner { source, caller };

  file_source(const std::string& name, int file, owner whose) : byte_source(name), file_(file), whose_(whose) {}
  ~file_source() override {
    if (whose_ == owner::source) ::close(file_);
  }

 private:
  std::size_t read(char* out, std::size_t capacity) override {
    for (;;) {
      // By place, so that a file that is still written to can be read through the same descriptor.
      const ssize_t now = ::pread(file_, out, capacity, static_cast<off_t>(next_));
      if (now >= 0) {
        next_ += static_cast<std::uint64_t>(now);
        return static_cast<std::size_t>(now);
      }
      if (errno != EINTR) throw trace_error{"cannot read " + name() + ": " + std::strerror(errno)};
    }
  }
  void restart() override { next_ = 0; }

  int file_;
  owner whose_;
  std::uint64_t next_ = 0;
};

std::unique_ptr<byte_source> unpacked_where_packed(std::unique_ptr<byte_source> raw) {
  return raw->ahead_of(2).starts_with("\x1f\x8b") ? unpacked(std::move(raw)) : std::move(raw);
}

}  // namespace

bool byte_source::skip_unseen(std::uint64_t count) {
  while (count > 0) {
    const std::size_t now = static_cast<std::size_t>(std::min<std::uint64_t>(count, ahead().size()));
    if (now == 0) return false;
    skip(now);
    count -= now;
  }
  return true;
}

void byte_source::rewind() {
  begin_ = at_ = end_ = nullptr;
  passed_ = 0;
  ended_ = false;
  restart();
}

void byte_source::refuse_at(std::uint64_t offset, const std::string& what) const {
  throw trace_error{name_ + place() + std::to_string(offset) + ": " + what};
}

bool byte_source::refill() {
  if (ended_ || is_shown_) return false;
  if (buffer_.empty()) buffer_.resize(buffer_bytes);
  const auto left = static_cast<std::size_t>(end_ - at_);
  passed_ = offset();
  if (left > 0) std::memmove(buffer_.data(), at_, left);
  begin_ = at_ = buffer_.data();
  end_ = begin_ + left;
  const std::size_t more = read(buffer_.data() + left, buffer_.size() - left);
  end_ += more;
  ended_ = more == 0;
  return more > 0;
}

std::unique_ptr<byte_source> open_source(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw trace_error{"cannot read " + path + ": " + std::strerror(errno)};
  auto opened = std::make_unique<file_source>(path, file, file_source::owner::source);
  struct stat found {};
  if (::fstat(file, &found) == 0 && !S_ISREG(found.st_mode)) {
    throw trace_error{"cannot read " + path + ": it is not a file that can be read twice"};
  }
  return unpacked_where_packed(std::move(opened));
}

std::unique_ptr<byte_source> source_of(const std::string& name, std::string_view bytes) {
  return unpacked_where_packed(std::make_unique<memory_source>(name, bytes));
}

std::unique_ptr<byte_source> source_of(const std::string& name, int file) {
  return std::make_unique<file_source>(name, file, file_source::owner::caller);
}

}  // namespace arcalloc::trace
