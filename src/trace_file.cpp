// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "trace_coding.hpp"

namespace arcalloc::detail {

namespace {

constexpr unsigned char header[16] = {0x89, 'A', 'R', 'C', 'T', '\r', '\n', 0x1a, 2, 0, 0, 0, 0, 0, 0, 0};
constexpr std::size_t chunk_header_bytes = 12;
/// What is written at once: where it lies at a multiple of its size the system copies it into whole pages of the file,
/// in half the time.
constexpr std::size_t block_bytes = std::size_t{64} << 10;
/// A chunk that is cut is lost: small enough, and its header costs nothing.
constexpr std::size_t payload_bytes_wanted = std::size_t{16} << 10;
/// What may be taken before somebody looks whether a block is full, and the beginnings of two chunks.
constexpr std::size_t bytes_beyond_block = 2 * chunk_header_bytes + stretch_bytes_max + event_bytes_max;
constexpr unsigned files_max = 64;  ///< recordings of one path at once

void put_little_endian(unsigned char* at, std::uint32_t value) noexcept { std::memcpy(at, &value, sizeof value); }

/// One file, the chunk that is being filled, and the whole ones before it that are not written yet.
class trace_file {
 public:
  explicit trace_file(int file) noexcept : file_(file), writer_(::getpid()) {}

  [[nodiscard]] status begin() noexcept;
  [[nodiscard]] status take(const recorded_event* events, std::size_t count) noexcept;
  [[nodiscard]] status take(const noted_hits& hits) noexcept;
  [[nodiscard]] status write_all() noexcept { return write_out(at_); }
  [[nodiscard]] status finish() noexcept;

 private:
  void open_chunk(char type) noexcept;
  void close_chunk() noexcept;
  [[nodiscard]] std::uint64_t moved_on(std::uint64_t read_ns) noexcept;
  [[nodiscard]] status end_where_due() noexcept;
  [[nodiscard]] status write_out(unsigned char* end) noexcept;
  [[nodiscard]] status write_whole(const unsigned char* bytes, std::size_t count) const noexcept;

  int file_;
  ::pid_t writer_;
  char type_ = 0;  ///< of the open chunk; 0: none is
  bool failed_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t began_ns_ = 0;  ///< times in the file begin at 0
  std::uint64_t now_ns_ = 0;    ///< since then; never falls
  std::uint64_t written_bytes_ = 0;
  chunk_state last_;
  unsigned char* chunk_ = bytes_;
  unsigned char* at_ = bytes_;
  unsigned char* full_ = bytes_;  ///< where a block of the file ends
  unsigned char* due_ = bytes_;   ///< there, or where the open chunk is large enough
  unsigned char bytes_[block_bytes + bytes_beyond_block];
};

status trace_file::begin() noexcept {
  std::memcpy(at_, header, sizeof header);
  at_ += sizeof header;
  return write_out(at_);
}

std::uint64_t trace_file::moved_on(std::uint64_t read_ns) noexcept {
  if (read_ns != 0) {
    if (began_ns_ == 0) began_ns_ = read_ns;
    if (read_ns > began_ns_ + now_ns_) now_ns_ = read_ns - began_ns_;
  }
  return now_ns_;
}

status trace_file::take(const recorded_event* events, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count;) {
    open_chunk('E');
    cursor to(at_, last_);
    do {
      to.put(events[i], moved_on(events[i].time_ns));
    } while (++i < count && to.at() < due_);
    at_ = to.at();
    last_ = to.last();
    if (const status written = end_where_due(); written != status::ok) return written;
  }
  events_ += count;
  return status::ok;
}

status trace_file::take(const noted_hits& hits) noexcept {
  open_chunk('H');
  at_ = put_stretch(at_, hits, moved_on(hits.time_ns));
  events_ += hits.count;
  return end_where_due();
}

void trace_file::open_chunk(char type) noexcept {
  if (type_ == type) return;
  close_chunk();
  type_ = type;
  chunk_ = at_;
  at_ += chunk_header_bytes;
  due_ = std::min(full_, at_ + payload_bytes_wanted);
  last_ = {};
}

status trace_file::end_where_due() noexcept {
  if (at_ < due_) return status::ok;
  close_chunk();
  return at_ < full_ ? status::ok : write_out(full_);
}

void trace_file::close_chunk() noexcept {
  if (type_ == 0) return;
  const unsigned char* const payload = chunk_ + chunk_header_bytes;
  const auto bytes = static_cast<std::size_t>(at_ - payload);
  put_little_endian(chunk_, static_cast<std::uint32_t>(bytes));
  chunk_[4] = static_cast<unsigned char>(type_);
  chunk_[5] = chunk_[6] = chunk_[7] = 0;
  put_little_endian(chunk_ + 8, checksum_of(chunk_, payload, bytes));
  type_ = 0;
}

/// What comes before `end`. The open chunk is closed, wherever that ends.
status trace_file::write_out(unsigned char* end) noexcept {
  close_chunk();
  const auto count = static_cast<std::size_t>(end - bytes_);
  if (failed_ || write_whole(bytes_, count) != status::ok) {
    failed_ = true;
    return status::backend_failed;
  }
  std::memmove(bytes_, end, static_cast<std::size_t>(at_ - end));
  at_ -= count;
  written_bytes_ += count;
  full_ = bytes_ + block_bytes - written_bytes_ % block_bytes;
  return status::ok;
}

status trace_file::finish() noexcept {
  status outcome = status::backend_failed;
  if (!failed_) {
    open_chunk('Z');
    cursor to(at_, last_);
    to.put_number(events_);
    at_ = to.at();
    outcome = write_all();
  }
  const bool closed = ::close(file_) == 0;
  return outcome == status::ok && !closed ? status::backend_failed : outcome;
}

status trace_file::write_whole(const unsigned char* bytes, std::size_t count) const noexcept {
  if (::getpid() != writer_) return status::backend_failed;  // forked: the file is the parent's
  while (count > 0) {
    const ::ssize_t written = ::write(file_, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return status::backend_failed;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return status::ok;
}

std::int32_t write_events(void* context, const recorded_event* events, std::size_t count) noexcept {
  return static_cast<std::int32_t>(static_cast<trace_file*>(context)->take(events, count));
}

std::int32_t write_hits(void* context, const noted_hits& hits) noexcept {
  return static_cast<std::int32_t>(static_cast<trace_file*>(context)->take(hits));
}

std::int32_t write_rest(void* context) noexcept {
  return static_cast<std::int32_t>(static_cast<trace_file*>(context)->write_all());
}

std::int32_t close_file(void* context) noexcept {
  auto* const file = static_cast<trace_file*>(context);
  const status outcome = file->finish();
  file->~trace_file();
  std::free(file);
  return static_cast<std::int32_t>(outcome);
}

/// A file that nobody else records into, emptied; negative with errno where there is none.
int open_unused(const char* path) noexcept {
  char name[4096];
  for (unsigned number = 1; number <= files_max; ++number) {
    const int length = number == 1 ? std::snprintf(name, sizeof name, "%s", path)
                                   : std::snprintf(name, sizeof name, "%s.%u", path, number);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof name) {
      errno = ENAMETOOLONG;
      return -1;
    }
    const int file = ::open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0) return -1;
    struct stat about {};
    const bool regular = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    if (regular && ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::ftruncate(file, 0) == 0) return file;
    const int why = regular ? errno : EINVAL;
    ::close(file);
    errno = why;
    if (why != EWOULDBLOCK) return -1;
  }
  return -1;
}

}  // namespace

hit_writer hit_writer_of(const recording_sink& into) noexcept {
  return into.write == write_events ? write_hits : nullptr;
}

status open_trace_file(const char* path, recording_sink& out, trace_file_error& why) noexcept {
  const int file = open_unused(path);
  if (file < 0) {
    const int error = errno;
    char room[80];
    std::snprintf(why.text, sizeof why.text, "%.200s: cannot be recorded into: %.80s", path,
                  error == EINVAL ? "no ordinary file" : ::strerror_r(error, room, sizeof room));
    return status::invalid_argument;
  }
  void* const room = std::malloc(sizeof(trace_file));
  auto* const made = room != nullptr ? ::new (room) trace_file(file) : nullptr;
  if (made == nullptr || made->begin() != status::ok) {
    char said[80];
    std::snprintf(why.text, sizeof why.text, "%.200s: cannot be written: %.80s", path,
                  ::strerror_r(errno, said, sizeof said));
    std::free(room);
    ::close(file);
    return status::backend_failed;
  }
  out = {write_events, write_rest, close_file, made};
  return status::ok;
}

}  // namespace arcalloc::detail
