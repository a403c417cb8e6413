// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace arcalloc::cli::test {

/// A folder of its own for one test, removed at its end.
class temporary_folder {
 public:
  temporary_folder();
  ~temporary_folder();
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// What a run of a program came to.
struct ended {
  int exit_status = -1;  ///< -1 when a signal ended it
  int signal_number = 0;
  std::string out;
  std::string err;
};

/// The variables added to the environment of a program. Those named ARC_* of this process are not
/// passed on: a test says itself what is set.
using environment = std::map<std::string, std::string>;

/// The built program as a user runs it, with a device lock of its own unless `set` has XDG_RUNTIME_DIR.
ended arcalloc(const std::vector<std::string>& words, const environment& set = {});

/// The same, not waited for.
class running_program {
 public:
  /// Its stderr goes to the file `err`, such as a terminal, when one is named.
  running_program(const std::vector<std::string>& words, const environment& set, const std::string& err = {});
  ~running_program();
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  [[nodiscard]] pid_t id() const { return id_; }
  /// Waits until the program has a process below it that runs a leg.
  [[nodiscard]] std::optional<pid_t> wait_for_leg() const;
  ended wait();

 private:
  temporary_folder folder_;
  pid_t id_ = -1;
};

std::string content_of(const std::string& path);
void write_file(const std::string& path, const std::string& content);

/// The folder with the model files, or nothing where there is none: $ARCALLOC_SHARED, or beside the checkout.
std::optional<std::string> shared_folder();

/// The number of lines in `text`.
std::size_t lines_in(const std::string& text);

/// Bad usage is one line on stderr, nothing on stdout, and exit status 2; the line has `named` in it.
void expect_refused(const std::vector<std::string>& words, const std::string& named);

}  // namespace arcalloc::cli::test
