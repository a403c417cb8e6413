// SPDX-License-Identifier: Apache-2.0
#include "result_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "aside_file.hpp"
#include "exit_status.hpp"

namespace arcalloc::cli {

void require_writable(const char* flag, const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
    // Looked at, not opened: a pipe whose reader is not there yet would be waited for.
    if (::access(path.c_str(), W_OK) == 0) return;
    throw command_failure{exit_status::bad_usage,
                          std::string(flag) + ": cannot write " + path + ": " + std::strerror(errno)};
  }
  const aside_file tried(flag, path);
}

void write_result_file(const char* flag, const std::string& path, const std::string& content) {
  aside_file file(flag, path);
  file.write(content);
  file.commit();
}

}  // namespace arcalloc::cli
