// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/spool.hpp"

#include <cerrno>
#include <cstring>

#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

[[noreturn]] void fail(const char* what) {
  throw trace_error{std::string("cannot ") + what + " a temporary file: " + std::strerror(errno)};
}

}  // namespace

spool::spool() : file_(std::tmpfile()) {
  if (!file_) fail("open");
}

void spool::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail("write");
}

std::unique_ptr<byte_source> spool::read() {
  if (std::fflush(file_.get()) != 0) fail("write");
  return source_of("a temporary file", ::fileno(file_.get()));
}

}  // namespace arcalloc::trace
