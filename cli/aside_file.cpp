// SPDX-License-Identifier: Apache-2.0
#include "aside_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

/// Where `path` leads, so that a link is kept and its target replaced.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

aside_file::aside_file(std::string what, std::string path)
    : what_(std::move(what)), path_(std::move(path)), target_(target_of(path_)) {
  struct stat found {};
  if (::stat(path_.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    if (S_ISDIR(found.st_mode)) fail(EISDIR);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // Without a name until it is whole, where the file system can: nothing is left then however the process ends.
    file_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    is_nameless_ = file_ >= 0;
    if (!is_nameless_) {
      temporary_ = target_ + ".XXXXXX";
      file_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    }
  }
  if (file_ < 0) fail(errno);
}

aside_file::~aside_file() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void aside_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t now = ::write(file_, bytes.data(), bytes.size());
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) fail(errno);
    bytes.remove_prefix(static_cast<std::size_t>(now));
  }
}

void aside_file::commit() {
  if (is_nameless_ || !temporary_.empty()) {
    // It was made private.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file_, 0666 & ~mask) != 0) fail(errno);
  }
  if (is_nameless_) give_name();
  if (::close(std::exchange(file_, -1)) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void aside_file::give_name() {
  const std::string opened = "/proc/self/fd/" + std::to_string(file_);
  for (int i = 0; temporary_.empty(); ++i) {
    const std::string name = target_ + '.' + std::to_string(::getpid()) + '.' + std::to_string(i);
    if (::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
    } else if (errno != EEXIST) {
      fail(errno);
    }
  }
}

void aside_file::fail(int error) const {
  throw command_failure{exit_status::bad_usage, what_ + ": cannot write " + path_ + ": " + std::strerror(error)};
}

}  // namespace arcalloc::cli
