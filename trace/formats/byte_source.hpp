// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace arcalloc::trace {

/// The bytes of a trace, front to back, as often as wanted: a file, a text in memory, or what a gzip file unpacks to.
///
/// Called by readers, which look at what is buffered and skip what they have taken. Concurrency: one thread.
/// Cost: one buffer of 256 KiB, whatever the file's size; a text in memory is not copied. It never seeks but to the
/// beginning. Errors of the system are trace_errors that name the file.
class byte_source {
 public:
  /// The most that ahead_of can be asked for.
  static constexpr std::size_t window_bytes = std::size_t{1} << 16;

  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Where the next byte stands.
  [[nodiscard]] std::uint64_t offset() const noexcept { return passed_ + static_cast<std::uint64_t>(at_ - begin_); }

  /// What is buffered of the bytes ahead; empty only at the end.
  [[nodiscard]] std::string_view ahead() {
    if (at_ == end_) refill();
    return {at_, static_cast<std::size_t>(end_ - at_)};
  }
  /// At least `count` (at most window_bytes) of the bytes ahead, or all there are.
  [[nodiscard]] std::string_view ahead_of(std::size_t count) {
    while (static_cast<std::size_t>(end_ - at_) < count && refill()) {
    }
    return {at_, static_cast<std::size_t>(end_ - at_)};
  }
  /// Passes over bytes that ahead has shown.
  void skip(std::size_t count) noexcept { at_ += count; }
  /// Passes over bytes unseen; false when there are fewer.
  bool skip_unseen(std::uint64_t count);
  /// Back to the first byte.
  void rewind();

  /// Throws trace_error: "NAME at byte N: WHAT".
  [[noreturn]] void refuse(const std::string& what) const { refuse_at(offset(), what); }
  [[noreturn]] void refuse_at(std::uint64_t offset, const std::string& what) const;

 protected:
  explicit byte_source(std::string name) : name_(std::move(name)) {}

  /// What stands where: "at byte" in a file.
  [[nodiscard]] virtual const char* place() const noexcept { return " at byte "; }
  /// Writes up to `capacity` more bytes to `out`; 0 at the end.
  virtual std::size_t read(char* out, std::size_t capacity) = 0;
  virtual void restart() = 0;
  /// For a source that has all its bytes in memory already.
  void show(std::string_view all) noexcept {
    begin_ = at_ = all.data();
    end_ = begin_ + all.size();
    passed_ = 0;
    is_shown_ = true;
  }

 private:
  bool refill();

  std::string name_;
  std::vector<char> buffer_;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t passed_ = 0;  ///< bytes before begin_
  bool is_shown_ = false;     ///< there is nothing beyond what show has shown
  bool ended_ = false;
};

/// Opens a file; unpacks it where it is gzip.
[[nodiscard]] std::unique_ptr<byte_source> open_source(const std::string& path);

/// The bytes themselves, which must outlive the source; unpacks them where they are gzip.
[[nodiscard]] std::unique_ptr<byte_source> source_of(const std::string& name, std::string_view bytes);

/// A file that is open already and stays the caller's, from its beginning; never unpacked.
[[nodiscard]] std::unique_ptr<byte_source> source_of(const std::string& name, int file);

}  // namespace arcalloc::trace
