// SPDX-License-Identifier: Apache-2.0
// Measures one allocator in one mode, in a process of its own, and writes a line of JSON. compare.py runs many of these
// in turn and makes the table.
#include <arcalloc/version.hpp>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>

#include "measure.hpp"
#include "scale.hpp"

namespace {

using namespace arcalloc::bench;

constexpr const char* usage =
    "usage: arcalloc_bench --list\n"
    "       arcalloc_bench PEER scale PART\n"
    "       arcalloc_bench PEER MODE [--threads N] [--milliseconds N | --steps N] [--first N] [--bound-mib N]\n"
    "MODE is fixed, growing or populated. --steps plays just so many steps, from position --first on, and times "
    "nothing.\n"
    "PART is blocks, large_blocks, one_stream, streams, idle_streams or threads.\n"
    "--bound-mib sets the bound that the peer has: on what it has from the driver, or on what it keeps idle.\n";

std::string_view name_of(bound kind) {
  switch (kind) {
    case bound::none:
      return "none";
    case bound::capacity:
      return "capacity";
    case bound::cached:
      return "cached";
  }
  return "?";
}

void list() {
  const arcalloc::build_identity built = arcalloc::built_as();
  const decode_sequence sequence = make_decode_sequence(growing_tensors::included);
  std::printf(
      "{\"version\": \"%s\", \"commit\": \"%s\", \"dirty\": \"%s\", \"compiler\": \"%s\", \"build_type\": \"%s\",\n",
      built.version, built.commit, built.dirty, built.compiler, built.build_type);
  std::printf(" \"growing_live_bytes_peak\": %" PRIu64 ", \"peers\": [\n",
              peak_live_bytes(sequence, growing_positions));
  const char* between = "";
  for (const peer& one : peers()) {
    std::printf("%s  {\"name\": \"%s\", \"what\": \"%s\", \"asks_driver\": %s, \"bound\": \"%s\"}", between,
                one.name.data(), one.what.data(), one.asks_driver ? "true" : "false", name_of(one.takes).data());
    between = ",\n";
  }
  std::printf("]}\n");
}

bool read_number(const char* text, std::uint64_t most, std::uint64_t& out) {
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, out);
  return error == std::errc{} && stopped == end && out >= 1 && out <= most;
}

bool read_mode(std::string_view text, mode& out) {
  for (const auto& [name, value] :
       {std::pair{"fixed", mode::fixed}, {"growing", mode::growing}, {"populated", mode::populated}}) {
    if (text == name) {
      out = value;
      return true;
    }
  }
  return false;
}

bool read_flags(int count, char** words, request& out) {
  for (int index = 0; index < count; index += 2) {
    std::uint64_t number = 0;
    if (index + 1 == count || !read_number(words[index + 1], 1u << 20, number)) return false;
    const std::string_view flag = words[index];
    if (flag == "--threads" && number <= 64) {
      out.threads = static_cast<unsigned>(number);
    } else if (flag == "--milliseconds") {
      out.milliseconds = number;
    } else if (flag == "--steps") {
      out.steps = number;
    } else if (flag == "--first") {
      out.first_position = number;
    } else if (flag == "--bound-mib") {
      out.bound_bytes = number << 20;
    } else {
      return false;
    }
  }
  return true;
}

void write(const measurement& found) {
  std::printf(
      "{\"ns_per_pair\": %.4f, \"ns_per_pair_fastest\": %.4f, \"steps\": %" PRIu64 ", \"pairs\": %" PRIu64
      ", \"refused\": %" PRIu64 ", \"driver\": {\"allocs\": %" PRIu64 ", \"frees\": %" PRIu64 ", \"refusals\": %" PRIu64
      ", \"events\": %" PRIu64 ", \"held_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 "}}\n",
      found.ns_per_pair, found.ns_per_pair_fastest, found.steps, found.pairs, found.refused, found.driver.allocs,
      found.driver.frees, found.driver.refusals, found.driver.events, found.driver.held_bytes, found.driver.peak_bytes);
}

const peer* find_peer(std::string_view name) {
  for (const peer& one : peers()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

int refuse(const char* why) {
  std::fprintf(stderr, "arcalloc_bench: %s\n%s", why, usage);
  return 2;
}

int write_scale(const peer& which, std::string_view part) {
  for (const scale_part& one : scale_parts()) {
    if (one.name != part) continue;
    const scale_readings found = one.measure(which);
    std::printf("{\"ns_per_pair\": %.3f, \"host_bytes\": %.2f, \"device_bytes\": %.0f}\n", found.ns_per_pair,
                found.host_bytes, found.device_bytes);
    return 0;
  }
  return refuse("no such part");
}

int run(int count, char** words) {
  if (count == 2 && std::strcmp(words[1], "--list") == 0) {
    list();
    return 0;
  }
  if (count < 3) return refuse("cannot read the arguments");
  const peer* const which = find_peer(words[1]);
  if (which == nullptr) return refuse("no such peer");
  if (count == 4 && std::strcmp(words[2], "scale") == 0) return write_scale(*which, words[3]);
  request wanted{.milliseconds = 100};
  if (!read_mode(words[2], wanted.what) || !read_flags(count - 3, words + 3, wanted)) {
    return refuse("cannot read the arguments");
  }
  if (wanted.bound_bytes != 0 && which->takes == bound::none) return refuse("this peer takes no bound");
  write(measure(*which, wanted));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arcalloc_bench: %s\n", error.what());
    return 1;
  }
}
