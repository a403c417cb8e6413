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

sim_leg::sim_leg(const sim_choice& chosen)
    : chosen_(chosen),
      card_(*decode::find_device_model(chosen.model)),
      device_(decode::options_of(card_, chosen.calls, chosen.granule_bytes)),
      time_(device_, card_) {}

void sim_leg::leave_free() {
  if (!chosen_.free_bytes) return;
  memory_info now;
  const status asked = device_.query_memory(now);
  if (asked != status::ok || now.free_bytes < *chosen_.free_bytes) {
    throw decode::input_error{"--free: when decoding begins there are " + mib_text(now.free_bytes) +
                              " MiB free, less than the " + mib_text(*chosen_.free_bytes) + " MiB that are asked for"};
  }
  device_.set_others_bytes(now.free_bytes - *chosen_.free_bytes);
}

decode::session_outcome sim_leg::run(allocator& memory, const decode::session_settings& session,
                                     const std::function<void(std::size_t)>& after_token) {
  const auto before_decode = [this] { leave_free(); };
  if (decode::find_load(session.config_name) != nullptr) {
    return decode::run_load(memory, time_, session, before_decode, after_token);
  }
  decode::sim_executor charges(time_);
  const decode::session_device there{.work = charges, .before_decode = before_decode};
  return decode::run_session(memory, session, after_token, &there);
}

void sim_leg::look(std::size_t tokens) {
  const std::uint64_t now = time_.now_ns();
  const std::uint64_t used = device_.lent_bytes();
  if (tokens == 0) start_ns_ = next_sample_ns_ = now;
  used_bytes_peak_ = std::max(used_bytes_peak_, used);
  if (now < next_sample_ns_) return;
  samples_.push_back({static_cast<double>(now - start_ns_) / 1e9, tokens, used});
  // A step longer than the interval is one sample, as there was one token.
  while (next_sample_ns_ <= now) next_sample_ns_ += sample_every_ns;
}

void sim_leg::report_to(leg_report& report) {
  device_.convict_leaks();
  const auto convictions = device_.convictions();
  report.device.emplace();
  report.device->samples = std::move(samples_);
  report.device->used_bytes_peak = used_bytes_peak_;
  if (!convictions.empty()) report.device->conviction = convictions.front();
}

}  // namespace arcalloc::cli
