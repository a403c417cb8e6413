// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace arcalloc::cli::test {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> environment_with(const environment& set) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (name.rfind("ARC_", 0) != 0 && set.count(name) == 0) all.push_back(text);
  }
  for (const auto& [name, value] : set) all.push_back(std::string(name).append("=").append(value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

pid_t start(std::vector<std::string> words, const environment& set, const std::string& folder, const std::string& err) {
  words.insert(words.begin(), "arcalloc");
  environment given = set;
  given.emplace("XDG_RUNTIME_DIR", folder);
  std::vector<std::string> variables = environment_with(given);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const std::string out = folder + "/out";
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600);
  pid_t id = -1;
  const int error =
      ::posix_spawn(&id, ARCALLOC_PROGRAM, &files, nullptr, pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error(std::string(ARCALLOC_PROGRAM) + ": " + std::strerror(error));
  return id;
}

/// The parent of a process, from /proc; nothing when it is gone.
std::optional<pid_t> parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name in brackets may hold anything, also spaces.
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string state;
  pid_t parent = 0;
  if (!(rest >> state >> parent)) return std::nullopt;
  return parent;
}

/// Whether the process is past exec: before, it still has the command line of its parent.
bool is_leg(pid_t process) {
  const std::string line = content_of("/proc/" + std::to_string(process) + "/cmdline");
  return line.find("decode-leg") != std::string::npos;
}

}  // namespace

temporary_folder::temporary_folder() {
  std::string name = (fs::temp_directory_path() / "arcalloc-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp: " + name);
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

ended arcalloc(const std::vector<std::string>& words, const environment& set) {
  return running_program(words, set).wait();
}

running_program::running_program(const std::vector<std::string>& words, const environment& set, const std::string& err)
    : id_(start(words, set, folder_.path(), err.empty() ? folder_.file("err") : err)) {}

running_program::~running_program() {
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

std::optional<pid_t> running_program::wait_for_leg() const {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0) {
      return std::nullopt;
    }
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const auto process = static_cast<pid_t>(std::stol(name));
      if (parent_of(process) == id_ && is_leg(process)) return process;
    }
    ::sched_yield();
  }
}

ended running_program::wait() {
  int how = 0;
  while (::waitpid(id_, &how, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  ended result;
  if (WIFEXITED(how)) result.exit_status = WEXITSTATUS(how);
  if (WIFSIGNALED(how)) result.signal_number = WTERMSIG(how);
  result.out = content_of(folder_.file("out"));
  result.err = content_of(folder_.file("err"));
  return result;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::optional<std::string> shared_folder() {
  const char* given = std::getenv("ARCALLOC_SHARED");
  const std::string folder = given != nullptr ? given : std::string(ARCALLOC_SOURCE_DIRECTORY) + "/../shared";
  if (!fs::exists(folder + "/data/model/stories260K.bin")) return std::nullopt;
  return folder;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void expect_refused(const std::vector<std::string>& words, const std::string& named) {
  const ended run = arcalloc(words);
  EXPECT_EQ(run.exit_status, 2) << named;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_in(run.err), 1U) << run.err;
  EXPECT_EQ(run.err.rfind("arcalloc: ", 0), 0U) << run.err;
  EXPECT_NE(run.err.find(named), std::string::npos) << run.err;
}

}  // namespace arcalloc::cli::test
