// SPDX-License-Identifier: Apache-2.0
#include "result_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

[[noreturn]] void fail(const char* flag, const std::string& path, int error) {
  throw command_failure{exit_status::bad_usage,
                        std::string(flag) + ": cannot write " + path + ": " + std::strerror(error)};
}

/// Where `path` leads, so that a link is kept and its target replaced.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : path;
}

/// There, and to be written to directly.
bool is_written_directly(const char* flag, const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return false;
  if (S_ISDIR(found.st_mode)) fail(flag, path, EISDIR);
  return !S_ISREG(found.st_mode);
}

/// A file beside `target`, open and empty; its name goes to `name`.
int open_beside(const char* flag, const std::string& path, const std::string& target, std::string& name) {
  name = target + ".XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail(flag, path, errno);
  return file;
}

bool write_all(int file, const std::string& content) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t now = ::write(file, content.data() + done, content.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return false;
    done += static_cast<std::size_t>(now);
  }
  return true;
}

}  // namespace

void require_writable(const char* flag, const std::string& path) {
  if (is_written_directly(flag, path)) {
    if (::access(path.c_str(), W_OK) != 0) fail(flag, path, errno);
    return;
  }
  std::string name;
  ::close(open_beside(flag, path, target_of(path), name));
  ::unlink(name.c_str());
}

void write_result_file(const char* flag, const std::string& path, const std::string& content) {
  if (is_written_directly(flag, path)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) fail(flag, path, errno);
    const bool written = write_all(file, content);
    const int error = errno;
    if ((::close(file) != 0) || !written) fail(flag, path, written ? errno : error);
    return;
  }
  const std::string target = target_of(path);
  std::string name;
  const int file = open_beside(flag, path, target, name);
  // mkostemp makes it private; a result is as readable as any other new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  bool done = write_all(file, content) && ::fchmod(file, 0666 & ~mask) == 0;
  int error = errno;
  if (::close(file) != 0 && done) {
    done = false;
    error = errno;
  }
  if (done && ::rename(name.c_str(), target.c_str()) != 0) {
    done = false;
    error = errno;
  }
  if (done) return;
  ::unlink(name.c_str());
  fail(flag, path, error);
}

}  // namespace arcalloc::cli
