// SPDX-License-Identifier: Apache-2.0
#include "decode/load.hpp"

#include <algorithm>

#include "decode/input_error.hpp"
#include "decode/origin_load.hpp"

namespace arcalloc::decode {

namespace {

void enter(allocator& memory, phase next) {
  const status outcome = memory.begin_phase(next);
  if (outcome != status::ok) throw memory_refused{outcome};
}

void check(const named_load& named, const session_settings& settings) {
  if (settings.tokens == 0) throw input_error{"tokens must be at least 1"};
  if (settings.context <= named.positions_most && settings.tokens <= named.positions_most - settings.context) return;
  throw input_error{"context " + std::to_string(settings.context) + " and tokens " + std::to_string(settings.tokens) +
                    " exceed the " + std::to_string(named.positions_most) + " positions of " + named.name};
}

void decode_tokens(allocator& memory, load& what, device_timeline& time, const session_settings& settings,
                   session_outcome& outcome, const std::function<void(std::size_t)>& after_token) {
  while (outcome.tokens_done < settings.tokens) {
    const std::uint64_t start = time.now_ns();
    what.step();
    // The sampled token: the host cannot go on without it.
    time.synchronise();
    memory.end_step();
    outcome.decode_seconds += static_cast<double>(time.now_ns() - start) / 1e9;
    ++outcome.tokens_done;
    if (outcome.tokens_done == settings.tokens / 2) memory.read_counters(outcome.at_half);
    after_token(outcome.tokens_done);
  }
}

}  // namespace

const std::vector<named_load>& named_loads() {
  static const std::vector<named_load> all{
      {"origin-v4", 2600, 1'000'000,
       [](const charged_memory& memory, const session_settings&) -> std::unique_ptr<load> {
         return std::make_unique<origin_load>(memory);
       }},
  };
  return all;
}

const named_load* find_load(const std::string& name) {
  const auto& all = named_loads();
  const auto found = std::find_if(all.begin(), all.end(), [&](const named_load& each) { return name == each.name; });
  return found == all.end() ? nullptr : &*found;
}

session_outcome run_load(allocator& memory, device_timeline& time, const session_settings& settings,
                         const std::function<void()>& before_decode,
                         const std::function<void(std::size_t)>& after_token) {
  const named_load& named = *find_load(settings.config_name);
  check(named, settings);
  session_outcome outcome;
  tensor_source tensors{memory, default_stream};
  {
    // Outside the try block, so that the last counters are read while the tensors are there.
    const std::unique_ptr<load> what = named.make(charged_memory{tensors, time}, settings);
    try {
      if (settings.context > 0) enter(memory, phase::prefill);
      what->begin(settings.context);
      if (before_decode) before_decode();
      enter(memory, phase::decode);
      memory.read_counters(outcome.at_decode_start);
      if (settings.tokens < 2) outcome.at_half = outcome.at_decode_start;
      after_token(0);
      decode_tokens(memory, *what, time, settings, outcome, after_token);
    } catch (const memory_refused& refusal) {
      outcome.outcome = refusal.outcome;
    }
    memory.read_counters(outcome.at_end);
  }
  if (outcome.at_half.size == 0) outcome.at_half = outcome.at_end;
  if (outcome.outcome == status::ok) outcome.outcome = tensors.first_refused_free();
  return outcome;
}

}  // namespace arcalloc::decode
