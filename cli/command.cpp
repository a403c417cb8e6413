// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <arcalloc/version.hpp>
#include <cstdio>
#include <memory>

#include "provenance.hpp"

namespace arcalloc::cli {

namespace {

/// Options without CLI11's own notes on types and needs: each description says these itself.
class plain_formatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string value = option->get_option_text();
    return value.empty() ? std::string() : " " + value;
  }
  std::string make_usage(const CLI::App* line, std::string /*name*/) const override {
    std::string text = "usage: " + line->get_name() + " [options]";
    for (const CLI::Option* option : line->get_options()) {
      if (option->get_positional()) text.append(" ").append(option->get_name(true));
    }
    return text.append("\n");
  }
};

}  // namespace

const std::vector<command>& commands() {
  static const std::vector<command> table{
      {"convert", "convert a trace of an allocator's life into another format", run_convert},
      {"decode", "run a decode workload, leg against leg, and report what each cost and held", run_decode},
      {"doctor", "show the device, its memory, the settings as understood, and the bounds that follow", run_doctor},
      {"replay", "run a scenario over a simulated device, and check what it expects", run_replay},
      {"report", "play a trace, and write a page of its memory, steps, misses and growth", run_report},
      {"tune", "play a trace under many settings, beside the fewest misses there could be", run_tune},
  };
  return table;
}

std::string version_text() {
  const build_identity build = built_as();
  return std::string("arcalloc ") + build.version + "\ncommit: " + build.commit + "\ntree: " + build.dirty +
         "\nbuild id: " + build_id() + "\ncompiler: " + build.compiler + "\nbuild type: " + build.build_type + "\n";
}

void set_layout(CLI::App& line) {
  const auto formatter = std::make_shared<plain_formatter>();
  formatter->column_width(25);
  formatter->label("OPTIONS", "options");
  line.formatter(formatter);
  line.set_help_flag("-h,--help", "print this");
}

bool parse_or_help(CLI::App& line, const std::vector<std::string>& words) {
  // CLI11 takes the words last first.
  std::vector<std::string> rest(words.rbegin(), words.rend() - 2);
  try {
    line.parse(rest);
  } catch (const CLI::CallForHelp&) {
    std::fputs(line.help().c_str(), stdout);
    return true;
  } catch (const CLI::ParseError& error) {
    throw command_failure{exit_status::bad_usage, std::string(error.what()) + "; see " + line.get_name() + " --help"};
  }
  return false;
}

}  // namespace arcalloc::cli
