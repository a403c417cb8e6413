// SPDX-License-Identifier: Apache-2.0
// The lines of a scenario that come before its operations.
#include "trace/scenario_parser.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::uint64_t microseconds_max = 1'000'000'000;

}  // namespace

void parser::read_device(word_cursor& words) {
  const bool running = !made_.operations.empty();
  do {
    const assignment one = words.key_and_value("a setting of the device, as in memory=24GiB");
    const auto size = size_from(one.value.text);
    const auto cost = count_from(one.value.text, microseconds_max);
    const auto refuse_value = [&](const std::string& expected) {
      words.refuse_at(one.value.column, "expected " + expected + ", found " + word_text(one.value.text));
    };
    if (one.key == "others") {
      if (!size) refuse_value(a_size);
      if (running) add(words, act::set_others{*size});
      made_.device.others_bytes = running ? made_.device.others_bytes : *size;
    } else if (running) {
      words.refuse_at(one.column, "expected others= after the first operation, found " + word_text(one.key));
    } else if (one.key == "memory") {
      if (!size || *size == 0) refuse_value(a_size);
      made_.device.memory_bytes = *size;
    } else if (one.key == "granularity") {
      if (!size || *size == 0 || (*size & (*size - 1)) != 0) refuse_value("a size that is a power of two");
      made_.device.granularity = *size;
    } else if (one.key == "alloc_us" || one.key == "free_us") {
      if (!cost) refuse_value("microseconds, at most " + std::to_string(microseconds_max));
      (one.key == "free_us" ? made_.device.free_ns : made_.device.allocate_ns) = *cost * 1000;
    } else {
      words.refuse_at(one.column,
                      "expected memory, others, granularity, alloc_us or free_us, found " + word_text(one.key));
    }
  } while (!words.at_end());
}

void parser::read_option(word_cursor& words) {
  option_choices& chosen = made_.options;
  do {
    const assignment one = words.key_and_value("an option, as in cached_bytes_max=256MiB");
    const std::string& value = one.value.text;
    const auto refuse_value = [&](const std::string& expected) {
      words.refuse_at(one.value.column, "expected " + expected + ", found " + word_text(value));
    };
    const auto size = size_from(value);
    if (one.key == "cached_bytes_max") {
      if (value == "unbounded") {
        chosen.cached_bytes_max = {bound_mode::unbounded, 0, false};
      } else if (size) {
        chosen.cached_bytes_max = {bound_mode::explicit_bytes, *size, false};
      } else {
        refuse_value("unbounded or " + std::string(a_size));
      }
    } else if (one.key == "capacity_bytes") {
      if (!size) refuse_value(a_size);
      chosen.capacity_bytes = *size;
    } else if (one.key == "geometry") {
      for (int i = 0; i <= static_cast<int>(geometry::exact); ++i) {
        if (value == geometry_name(static_cast<geometry>(i))) chosen.classes = static_cast<geometry>(i);
      }
      if (!chosen.classes || value != geometry_name(*chosen.classes)) refuse_value("1, 2, 4, 8, 16 or exact");
    } else if (one.key == "enabled" || one.key == "oom_retry") {
      if (value != "0" && value != "1") refuse_value("0 or 1");
      (one.key == "enabled" ? chosen.enabled : chosen.oom_retry) = value == "1";
    } else if (one.key == "capture_miss") {
      if (value != "grow" && value != "refuse") refuse_value("grow or refuse");
      chosen.capture_miss = value == "grow" ? capture_policy::grow : capture_policy::refuse;
    } else if (one.key == "reserve_bytes") {
      words.refuse_at(one.column, word_text(one.key) + " is not available in this version");
    } else {
      words.refuse_at(
          one.column,
          "expected cached_bytes_max, capacity_bytes, geometry, enabled, oom_retry or capture_miss, found " +
              word_text(one.key));
    }
  } while (!words.at_end());
}

void parser::read_environment(word_cursor& words) {
  assignment one = words.key_and_value("a variable, as in ARC_ALLOC_CACHE_MAX_MB=256");
  if (!is_name(one.key)) words.refuse_at(one.column, "expected the name of a variable, found " + word_text(one.key));
  made_.environment.push_back({words.line(), std::move(one.key), std::move(one.value.text), expected_});
}

}  // namespace arcalloc::trace
