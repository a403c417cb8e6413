// SPDX-License-Identifier: Apache-2.0
#include "reproduction.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "scenario_lines.hpp"
#include "shrinking.hpp"
#include "simulation.hpp"

namespace arcalloc::testing {

namespace {

/// All that is written into the pipe until its last writer is gone.
std::string read_all(int from) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t count = ::read(from, part, sizeof part);
    if (count <= 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

[[noreturn]] void say_and_exit(const std::function<std::string()>& job, int into) {
  ::dup2(into, STDERR_FILENO);
  const std::string said = job();
  const ssize_t written = ::write(into, said.data(), said.size());
  ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
}

/// Of a run that crashed nobody knows the answers, but those of all that came before its last operation.
simulation_result answers_of(const plan& of, const std::string& violation) {
  plan before = of;
  if (!before.operations.empty()) before.operations.pop_back();
  simulation_result known;
  if (judge_apart(before).empty()) known = run_plan(before);
  known.violation = violation;
  known.played = of.operations.size();
  known.answers.resize(known.played, status::ok);
  known.at_the_end = false;
  return known;
}

}  // namespace

std::string say_apart(const std::function<std::string()>& job) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe is to be had";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    say_and_exit(job, ends[1]);
  }
  ::close(ends[1]);
  std::string said = child < 0 ? "no process is to be had" : read_all(ends[0]);
  ::close(ends[0]);
  int how = 0;
  if (child > 0 && ::waitpid(child, &how, 0) != child) return "its process was lost";
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (WIFSIGNALED(how))
    return std::string("crashed, signal ").append(std::to_string(WTERMSIG(how))).append(": ") + said;
  if (said.empty() && how != 0) return "its process failed";
  return said;
}

std::string judge_apart(const plan& of) {
  return say_apart([&of] { return run_plan(of).violation; });
}

std::string write_reproduction(const plan& failing, const std::string& name) {
  const shrunk_plan shrunk = shrink(failing, judge_apart);
  if (shrunk.violation.empty()) return "it does not fail again, played by itself";
  const bool crashes = shrunk.violation.starts_with("crashed");
  const simulation_result came_to = crashes ? answers_of(shrunk.smallest, shrunk.violation) : run_plan(shrunk.smallest);
  const char* const directory = std::getenv("ARCALLOC_SIMULATION_OUT");
  const std::string path = std::string(directory == nullptr ? "." : directory).append("/").append(name).append(".ops");
  std::ofstream out(path);
  out << scenario_lines(shrunk.smallest, came_to);
  out.close();
  std::string told = "shrunk to ";
  told.append(std::to_string(shrunk.smallest.operations.size())).append(" operations in ");
  told.append(std::to_string(shrunk.replays)).append(" replays: ").append(shrunk.violation).append("\n");
  return told.append(out ? "written to " : "it could not be written to ").append(path);
}

}  // namespace arcalloc::testing
