// SPDX-License-Identifier: Apache-2.0
#include "decode/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

namespace arcalloc::decode {

// Both formats are little-endian arrays that are read in place.
static_assert(std::endian::native == std::endian::little);

namespace {

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

input_file::input_file(std::string path) : path_(std::move(path)) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer before it could be refused.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw input_error{path_ + ": cannot be opened: " + reason()};
  struct stat about {};
  const bool known = ::fstat(descriptor_, &about) == 0;
  const std::string why = known ? "not a regular file" : reason();
  if (!known || !S_ISREG(about.st_mode)) {
    ::close(descriptor_);
    throw input_error{path_ + ": cannot be read: " + why};
  }
  bytes_ = static_cast<std::uint64_t>(about.st_size);
}

input_file::~input_file() { ::close(descriptor_); }

void input_file::read_at(std::uint64_t offset, void* out, std::size_t count) const {
  auto* to = static_cast<unsigned char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("cannot be read: " + reason(), offset);
    if (got == 0) refuse("the file ends early", offset);
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

std::int32_t input_file::int32_at(std::uint64_t offset) const {
  std::int32_t value = 0;
  read_at(offset, &value, sizeof value);
  return value;
}

void input_file::refuse(const std::string& what, std::uint64_t offset) const {
  throw input_error{path_ + ": " + what + " at offset " + std::to_string(offset)};
}

}  // namespace arcalloc::decode
