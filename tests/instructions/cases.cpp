// SPDX-License-Identifier: Apache-2.0
// Plays every case once, warmed up, between two marks, and writes its name and its pairs. Nothing misses between them.
#include <cstdio>
#include <memory>
#include <string_view>

#include "decode_sequence.hpp"
#include "marks.hpp"
#include "peers/peer_list.hpp"

namespace {

using namespace arcalloc::bench;

constexpr std::uint64_t steps_counted = 4;
constexpr std::uint64_t steps_before = 4;

struct door {
  std::string_view name;
  std::unique_ptr<subject> (*make)(fake_driver& driver, std::uint64_t bound_bytes);
};

constexpr door doors[] = {
    {"handle", make_arcalloc_by_handle},
    {"pointer", make_arcalloc_by_pointer},
    {"c_handle", make_arcalloc_c_by_handle},
    {"c_pointer", make_arcalloc_c_by_pointer},
};

/// One block, out and back, a hundred times.
decode_sequence one_block() {
  decode_sequence made;
  made.pairs = 100;
  for (std::size_t pair = 0; pair < made.pairs; ++pair) {
    made.operations.push_back({.bytes = 8192});
    made.operations.push_back({});
  }
  return made;
}

struct course {
  std::string_view name;
  decode_sequence sequence;
  std::uint64_t first_position = 1;
  std::vector<std::size_t> sizes_before{};
};

std::uint64_t play_case(const door& through, const course& over) {
  fake_driver driver(std::uint64_t{24} << 30);
  const std::unique_ptr<subject> under_test = through.make(driver, 0);
  under_test->populate(over.sizes_before, 1);
  const std::uint64_t stride = over.first_position == 1 ? 0 : 1;
  const std::uint64_t counted_first = over.first_position + steps_before * stride;
  std::uint64_t refused = under_test->play(over.sequence, {over.first_position, steps_before, stride}, 1);
  const std::uint64_t allocs_before = driver.read().allocs;
  begin_of_case();
  refused += under_test->play(over.sequence, {counted_first, steps_counted, stride}, 1);
  end_of_case();
  const std::uint64_t misses = driver.read().allocs - allocs_before;
  std::printf("%s_%s %zu\n", through.name.data(), over.name.data(), over.sequence.pairs * steps_counted);
  if (refused + misses != 0) std::fprintf(stderr, "instruction_cases: a call was refused, or missed\n");
  return refused + misses;
}

}  // namespace

int main() {
  // A block of the size stays out, so that its segment never rests; and from these positions on, every position that
  // is played has the same size classes.
  const course courses[] = {
      {.name = "one_block", .sequence = one_block(), .sizes_before = {8192, 8192}},
      {.name = "fixed", .sequence = make_decode_sequence(growing_tensors::left_out)},
      {.name = "growing_from_513", .sequence = make_decode_sequence(growing_tensors::included), .first_position = 513},
      {.name = "growing_from_1025",
       .sequence = make_decode_sequence(growing_tensors::included),
       .first_position = 1025},
      {.name = "populated",
       .sequence = make_decode_sequence(growing_tensors::left_out),
       .sizes_before = other_blocks()},
  };
  std::uint64_t wrong = 0;
  for (const course& over : courses) {
    for (const door& through : doors) {
      // The doors share all that a populated allocator makes longer, and it takes a second to populate.
      if (over.sizes_before.size() < 100 || through.name == "handle" || through.name == "pointer") {
        wrong += play_case(through, over);
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}
