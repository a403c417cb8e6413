// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace arcalloc::detail {

namespace {

constexpr unsigned char header[16] = {0x89, 'A', 'R', 'C', 'T', '\r', '\n', 0x1a, 1, 0, 0, 0, 0, 0, 0, 0};
constexpr std::size_t chunk_header_bytes = 12;
constexpr std::size_t payload_bytes_wanted = std::size_t{32} << 10;
constexpr std::size_t event_bytes_max = 2 + 6 * 10;
constexpr unsigned has_time = 0x20;
constexpr unsigned has_place = 0x40;
constexpr unsigned has_marks = 0x80;
constexpr unsigned char mark_before = 0x01;
constexpr unsigned char mark_ids_addresses = 0x04;
constexpr unsigned files_max = 64;  ///< recordings of one path at once

/// CRC-32 of gzip, eight bytes at a time: table k is for a byte that has k bytes behind it.
constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

std::uint32_t little_endian(const unsigned char* bytes) noexcept {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

void put_little_endian(unsigned char* at, std::uint32_t value) noexcept {
  for (int shift = 0; shift < 32; shift += 8) *at++ = static_cast<unsigned char>(value >> shift);
}

/// `sum` is that of what came before, without the last inversion; 0xFFFFFFFF where nothing did.
std::uint32_t crc_of(std::uint32_t sum, const unsigned char* bytes, std::size_t count) noexcept {
  for (; count >= 8; count -= 8, bytes += 8) {
    const std::uint32_t low = sum ^ little_endian(bytes);
    const std::uint32_t high = little_endian(bytes + 4);
    sum = crc_tables[7][low & 0xff] ^ crc_tables[6][(low >> 8) & 0xff] ^ crc_tables[5][(low >> 16) & 0xff] ^
          crc_tables[4][low >> 24] ^ crc_tables[3][high & 0xff] ^ crc_tables[2][(high >> 8) & 0xff] ^
          crc_tables[1][(high >> 16) & 0xff] ^ crc_tables[0][high >> 24];
  }
  for (; count > 0; --count) sum = (sum >> 8) ^ crc_tables[0][(sum ^ *bytes++) & 0xff];
  return sum;
}

constexpr std::uint64_t zigzag(std::uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }

/// What the numbers of a chunk are differences to; all zero where one begins.
struct chunk_state {
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t stream = 0;
  bool ids_are_addresses = false;
};

/// Writes numbers into a chunk. A local object: were its place a member of the file, every byte that is written might
/// change it, for all that the compiler knows.
class cursor {
 public:
  cursor(unsigned char* at, const chunk_state& last) noexcept : at_(at), last_(last) {}

  [[nodiscard]] unsigned char* at() const noexcept { return at_; }
  [[nodiscard]] const chunk_state& last() const noexcept { return last_; }
  void put_byte(unsigned value) noexcept { *at_++ = static_cast<unsigned char>(value); }
  void put_number(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) put_byte(static_cast<unsigned>(value & 0x7f) | 0x80);
    put_byte(static_cast<unsigned>(value));
  }
  /// `now_ns`: since the recording began.
  void put(const recorded_event& what, std::uint64_t now_ns) noexcept;

 private:
  void put_difference(std::uint64_t value, std::uint64_t& before) noexcept {
    put_number(zigzag(value - before));
    before = value;
  }
  void put_rare_fields(const recorded_event& what) noexcept;

  unsigned char* at_;
  chunk_state last_;
};

inline void cursor::put(const recorded_event& what, std::uint64_t now_ns) noexcept {
  const bool is_allocate = what.kind == ARCALLOC_RECORDED_ALLOCATE;
  unsigned marks = what.before != 0 ? mark_before : 0;
  if (is_allocate && !last_.ids_are_addresses) marks |= mark_ids_addresses;
  if (is_allocate) last_.ids_are_addresses = true;
  const bool elsewhere = what.stream != last_.stream;
  put_byte(what.kind | (what.before == 0 ? has_time : 0U) | (elsewhere ? has_place : 0U) |
           (marks != 0 ? has_marks : 0U));
  if (marks != 0) put_byte(marks);
  if (what.before == 0) put_difference(now_ns, last_.time_ns);
  if (elsewhere) {
    put_number(what.stream);
    put_number(0);  // the device: an allocator has one
    last_.stream = what.stream;
  }
  if (what.kind > ARCALLOC_RECORDED_FREE) return put_rare_fields(what);
  put_difference(what.id, last_.id);
  if (is_allocate) put_number(what.bytes);
}

void cursor::put_rare_fields(const recorded_event& what) noexcept {
  switch (static_cast<arcalloc_recorded_kind>(what.kind)) {
    case ARCALLOC_RECORDED_USE:
    case ARCALLOC_RECORDED_CAPTURE_END:
    case ARCALLOC_RECORDED_GRAPH_LAUNCH:
    case ARCALLOC_RECORDED_GRAPH_FORGET:
      return put_difference(what.id, last_.id);
    case ARCALLOC_RECORDED_REFUSAL:
      put_number(what.bytes);
      put_number(what.detail);
      return put_number(what.other);
    case ARCALLOC_RECORDED_PHASE:
      return put_number(what.detail);
    case ARCALLOC_RECORDED_CAPTURE_BEGIN:
      put_number(what.detail);
      return put_number(what.other);
    case ARCALLOC_RECORDED_CAPTURE_JOIN:
      return put_number(what.other);
    case ARCALLOC_RECORDED_TRIM:
      return put_number(what.bytes);
    case ARCALLOC_RECORDED_SEGMENT_ALLOCATE:
    case ARCALLOC_RECORDED_SEGMENT_FREE:
      put_difference(what.id, last_.address);
      return put_number(what.bytes);
    case ARCALLOC_RECORDED_ALLOCATE:
    case ARCALLOC_RECORDED_FREE:
    case ARCALLOC_RECORDED_STEP:
    case ARCALLOC_RECORDED_CAPTURE_ABORT:
    case ARCALLOC_RECORDED_STREAM_END:
    case ARCALLOC_RECORDED_DRAIN:
      return;
  }
}

/// One file, and the chunk that is being filled.
class trace_file {
 public:
  explicit trace_file(int file) noexcept : file_(file), writer_(::getpid()) {}

  [[nodiscard]] status begin() noexcept { return write_whole(header, sizeof header); }
  [[nodiscard]] status take(const recorded_event* events, std::size_t count) noexcept;
  [[nodiscard]] status put_chunk(unsigned char type) noexcept;
  [[nodiscard]] status finish() noexcept;

 private:
  [[nodiscard]] std::size_t payload_bytes() const noexcept {
    return static_cast<std::size_t>(at_ - chunk_) - chunk_header_bytes;
  }
  [[nodiscard]] status write_whole(const unsigned char* bytes, std::size_t count) const noexcept;

  int file_;
  ::pid_t writer_;
  std::uint64_t events_ = 0;
  std::uint64_t began_ns_ = 0;  ///< times in the file begin at 0
  std::uint64_t now_ns_ = 0;    ///< since then; never falls
  chunk_state last_;
  unsigned char* at_ = chunk_ + chunk_header_bytes;
  unsigned char chunk_[chunk_header_bytes + payload_bytes_wanted + event_bytes_max];
};

status trace_file::take(const recorded_event* events, std::size_t count) noexcept {
  const unsigned char* const full = chunk_ + chunk_header_bytes + payload_bytes_wanted;
  std::uint64_t now_ns = now_ns_;
  for (std::size_t i = 0; i < count;) {
    cursor to(at_, last_);
    for (; i < count && to.at() < full; ++i) {
      const std::uint64_t read_ns = events[i].time_ns;
      if (read_ns != 0) {
        if (began_ns_ == 0) began_ns_ = read_ns;
        if (read_ns > began_ns_ + now_ns) now_ns = read_ns - began_ns_;
      }
      to.put(events[i], now_ns);
    }
    at_ = to.at();
    last_ = to.last();
    if (at_ < full) break;
    if (const status written = put_chunk('E'); written != status::ok) return written;
  }
  now_ns_ = now_ns;
  events_ += count;
  return status::ok;
}

status trace_file::put_chunk(unsigned char type) noexcept {
  const std::size_t bytes = payload_bytes();
  if (bytes == 0) return status::ok;
  put_little_endian(chunk_, static_cast<std::uint32_t>(bytes));
  chunk_[4] = type;
  chunk_[5] = chunk_[6] = chunk_[7] = 0;
  const std::uint32_t sum = crc_of(crc_of(0xFFFFFFFFU, chunk_, 8), chunk_ + chunk_header_bytes, bytes);
  put_little_endian(chunk_ + 8, ~sum);
  at_ = chunk_ + chunk_header_bytes;
  last_ = {};
  return write_whole(chunk_, chunk_header_bytes + bytes);
}

status trace_file::finish() noexcept {
  status outcome = put_chunk('E');
  if (outcome == status::ok) {
    cursor to(at_, last_);
    to.put_number(events_);
    at_ = to.at();
    outcome = put_chunk('Z');
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

std::int32_t write_chunk(void* context) noexcept {
  return static_cast<std::int32_t>(static_cast<trace_file*>(context)->put_chunk('E'));
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
  out = {write_events, write_chunk, close_file, made};
  return status::ok;
}

}  // namespace arcalloc::detail
