// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/spool.hpp"

#include <cerrno>
#include <cstring>

#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;

[[noreturn]] void fail(const char* what) {
  throw trace_error{std::string("cannot ") + what + " a temporary file: " + std::strerror(errno)};
}

}  // namespace

void spool::write(std::string_view bytes) {
  if (!file_ && kept_.size() + bytes.size() <= kept_bytes_max) {
    kept_.append(bytes);
    return;
  }
  if (!file_) {
    file_.reset(std::tmpfile());
    if (!file_) fail("open");
    write_out(kept_);
    std::string().swap(kept_);
  }
  write_out(bytes);
}

void spool::write_out(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail("write");
}

std::unique_ptr<byte_source> spool::read() {
  if (!file_) return source_of("what was put aside", kept_);
  if (std::fflush(file_.get()) != 0) fail("write");
  return source_of("a temporary file", ::fileno(file_.get()));
}

}  // namespace arcalloc::trace
