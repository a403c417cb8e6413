// SPDX-License-Identifier: Apache-2.0
#include "sim_leg.hpp"

#include <algorithm>

#include "decode/load.hpp"
#include "decode/sim_executor.hpp"
#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::uint64_t sample_every_ns = 500'000'000;

}  // namespace

sim_leg::sim_leg(const sim_choice& chosen, std::size_t ranks) : chosen_(chosen) {
  const decode::device_model& card = *decode::find_device_model(chosen.model);
  const sim_options settings = decode::options_of(card, chosen.calls, chosen.granule_bytes);
  for (std::size_t i = 0; i < ranks; ++i) cards_.push_back(std::make_unique<rank_card>(card, settings));
}

std::uint64_t sim_leg::used_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& card : cards_) sum += card->device.lent_bytes();
  return sum;
}

void sim_leg::leave_free() {
  if (!chosen_.free_bytes) return;
  for (const auto& card : cards_) {
    memory_info now;
    const status asked = card->device.query_memory(now);
    if (asked != status::ok || now.free_bytes < *chosen_.free_bytes) {
      throw decode::input_error{"--free: when decoding begins there are " + mib_text(now.free_bytes) +
                                " MiB free, less than the " + mib_text(*chosen_.free_bytes) +
                                " MiB that are asked for"};
    }
    card->device.set_others_bytes(now.free_bytes - *chosen_.free_bytes);
  }
}

decode::session_outcome sim_leg::run(allocator& memory, const options& how, const decode::session_settings& session,
                                     const std::function<void(std::size_t)>& after_token) {
  const auto before_decode = [this] {
    cards_.front()->time.synchronise();
    leave_free();
  };
  if (decode::find_load(session.config_name) == nullptr) {
    decode::sim_executor charges(cards_.front()->time);
    const decode::session_device there{.work = charges, .before_decode = before_decode};
    return decode::run_session(memory, session, after_token, &there);
  }
  // One file is recorded into and one rank reports its steps: the first.
  options others_how = how;
  others_how.trace_path = nullptr;
  others_how.stats_every_steps = 0;
  std::vector<allocator_ptr> others;
  std::vector<decode::load_rank> ranks{{&memory, &cards_.front()->time, &cards_.front()->device}};
  for (std::size_t i = 1; i < cards_.size(); ++i) {
    allocator* made = nullptr;
    const status outcome = allocator::create(cards_[i]->device, others_how, made);
    if (outcome != status::ok) {
      decode::session_outcome none;
      none.outcome = outcome;
      return none;
    }
    others.emplace_back(made);
    ranks.push_back({made, &cards_[i]->time, &cards_[i]->device});
  }
  return decode::run_load(ranks, session, before_decode, after_token);
}

void sim_leg::look(std::size_t tokens) {
  const std::uint64_t now = cards_.front()->time.now_ns();
  const std::uint64_t used = used_bytes();
  if (tokens == 0) start_ns_ = next_sample_ns_ = now;
  used_bytes_peak_ = std::max(used_bytes_peak_, used);
  if (now < next_sample_ns_) return;
  samples_.push_back({static_cast<double>(now - start_ns_) / 1e9, tokens, used});
  // A step longer than the interval is one sample, as there was one token.
  while (next_sample_ns_ <= now) next_sample_ns_ += sample_every_ns;
}

void sim_leg::report_to(leg_report& report) {
  report.device.emplace();
  report.device->samples = std::move(samples_);
  report.device->used_bytes_peak = used_bytes_peak_;
  for (const auto& card : cards_) {
    card->device.convict_leaks();
    const auto convictions = card->device.convictions();
    if (!convictions.empty() && report.device->conviction.empty()) report.device->conviction = convictions.front();
  }
}

}  // namespace arcalloc::cli
