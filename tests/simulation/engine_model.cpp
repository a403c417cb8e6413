// SPDX-License-Identifier: Apache-2.0
#include "engine_model.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace arcalloc::testing {

namespace {

// Freed blocks that a second free may name.
constexpr std::size_t spent_kept = 32;

std::size_t index_of(status value) { return static_cast<std::size_t>(value); }

/// The first pair that differs, in words.
class comparison {
 public:
  void equal(const char* what, std::uint64_t said, std::uint64_t known) {
    if (said != known) claim(what, said, " is said, and it is ", known);
  }
  void at_most(const char* what, std::uint64_t said, std::uint64_t most) {
    if (said > most) claim(what, said, " is above ", most);
  }
  std::string found;

 private:
  void claim(const char* what, std::uint64_t said, const char* verb, std::uint64_t known) {
    if (!found.empty()) return;
    found.append(what).append(": ").append(std::to_string(said)).append(verb).append(std::to_string(known));
  }
};

std::string of_block(std::uint32_t number, const char* what) {
  return std::string("block ").append(std::to_string(number)).append(what);
}

}  // namespace

engine_model::engine_model(const plan& of)
    : classes_(of.settings.classes),
      granule_(std::max<std::uint64_t>(of.device.granularity, block_alignment)),
      one_actor_(of.actors == 1),
      cache_in_prefill_(of.settings.cache_in_prefill),
      enabled_(of.settings.enabled),
      bound_(of.settings.cached_bytes_max),
      capacity_bytes_(of.settings.capacity_bytes) {}

const engine_block* engine_model::find_live(std::uint32_t number) const {
  const auto found = live_.find(number);
  return found == live_.end() ? nullptr : &found->second;
}

const engine_block* engine_model::find_spent(std::uint32_t number) const {
  const auto found = spent_.find(number);
  return found == spent_.end() || ranges_.count(found->second.begin) != 0 ? nullptr : &found->second;
}

/// A class above the request, and a tight block is filed one lower than the class it could serve; in whole granules.
std::uint64_t engine_model::true_bytes_max(std::uint64_t requested) const {
  const std::uint64_t per_doubling[] = {8, 1, 2, 4, 16};
  std::uint64_t step = block_alignment;
  if (classes_ != geometry::exact) {
    const std::uint64_t doubling = std::bit_ceil(requested);
    step = std::clamp<std::uint64_t>(doubling / per_doubling[static_cast<std::size_t>(classes_)], block_alignment,
                                     std::uint64_t{16} << 20);
  }
  return (requested + 2 * step + granule_ - 1) / granule_ * granule_;
}

/// Small and medium classes share segments of 2 MiB at least.
std::uint64_t engine_model::driver_bytes_max(std::uint64_t requested) const {
  constexpr std::uint64_t shared = std::uint64_t{2} << 20;
  const std::uint64_t least = std::max(true_bytes_max(requested), shared);
  return (least + shared + granule_ - 1) / granule_ * granule_;
}

std::string engine_model::allocated(std::uint32_t number, const engine_block& fresh) {
  ++requests_;
  if (!bypasses()) {
    ++served_;
  } else {
    ++(enabled_ ? bypassed_phase_ : bypassed_disabled_);
  }
  if (fresh.begin == 0) return of_block(number, " is null");
  if (fresh.begin % block_alignment != 0) return of_block(number, " is not aligned");
  if (fresh.true_bytes < fresh.requested_bytes) return of_block(number, " is smaller than requested");
  // In a window any block, elsewhere a large one, may be lent to a request of half its size.
  const bool large = classes_ != geometry::exact && fresh.requested_bytes > std::uint64_t{16} << 20;
  const std::uint64_t most = true_bytes_max(fresh.requested_bytes) * (fresh.in_window || large ? 2 : 1);
  if (fresh.true_bytes > most && !fresh.in_group) return of_block(number, " is larger than its class");
  const auto after = ranges_.lower_bound(fresh.begin);
  const bool over_next = after != ranges_.end() && after->first < fresh.begin + fresh.true_bytes;
  const bool over_last = after != ranges_.begin() && std::prev(after)->second > fresh.begin;
  if (over_next || over_last) return of_block(number, " overlaps a live block");
  ranges_[fresh.begin] = fresh.begin + fresh.true_bytes;
  live_[number] = fresh;
  requested_bytes_ += fresh.requested_bytes;
  allocated_bytes_ += fresh.true_bytes;
  return {};
}

void engine_model::refused_request(status with) {
  ++requests_;
  ++failed_[index_of(with)];
}

void engine_model::freed(std::uint32_t number) {
  ++frees_;
  const auto found = live_.find(number);
  engine_block gone = found->second;
  gone.live = false;
  live_.erase(found);
  ranges_.erase(gone.begin);
  requested_bytes_ -= gone.requested_bytes;
  allocated_bytes_ -= gone.true_bytes;
  spent_[number] = gone;
  if (spent_.size() > spent_kept) spent_.erase(spent_.begin());
}

void engine_model::refused_free(status with) { ++refused_[index_of(with)]; }

void engine_model::reset_peaks() {
  requested_peak_ = allocated_peak_ = cached_peak_ = slack_peak_ = held_peak_ = pinned_peak_ = 0;
  walked_all_ = true;
}

/// Its blocks are on no stream that anybody could name.
void engine_model::ended(stream on) {
  for (auto& [number, known] : live_) known.stream_ended = known.stream_ended || known.on == on;
}

void engine_model::note_peaks() {
  requested_peak_ = std::max(requested_peak_, requested_bytes_);
  allocated_peak_ = std::max(allocated_peak_, allocated_bytes_);
}

void engine_model::note_walk(const audit_result& walk) {
  cached_peak_ = std::max(cached_peak_, walk.cached_bytes);
  slack_peak_ = std::max(slack_peak_, walk.slack_bytes);
  held_peak_ = std::max(held_peak_, walk.cached_bytes + walk.slack_bytes);
  pinned_peak_ = std::max(pinned_peak_, walk.pinned_bytes);
}

std::string engine_model::judge_blocks(const allocator& subject) const {
  for (const auto& [number, known] : live_) {
    const block_reading found = read_block(subject, known.piece.data());
    if (found.requested_bytes != known.requested_bytes) return of_block(number, " is not what was requested");
    if (found.block_bytes != known.true_bytes) return of_block(number, " changed its size");
    const bool is_on = found.on == static_cast<std::uint64_t>(known.on);
    if (is_on && known.stream_ended) return of_block(number, " is on a stream that ended");
    if (!is_on && !known.stream_ended && !known.in_window) return of_block(number, " changed its stream");
  }
  return {};
}

std::string engine_model::judge_counters(const counters& said) const {
  comparison check;
  check.equal("requests", said.requests, requests_);
  check.equal("hits + misses", said.hits + said.misses, served_);
  check.equal("bypassed", said.bypassed, bypassed_disabled_ + bypassed_phase_);
  check.equal("bypassed_disabled", said.bypassed_disabled, bypassed_disabled_);
  check.equal("bypassed_phase", said.bypassed_phase, bypassed_phase_);
  const auto failed = [&](status with) { return failed_[index_of(with)]; };
  check.equal("failed_request_too_large", said.failed_request_too_large, failed(status::request_too_large));
  check.equal("failed_capacity_exceeded", said.failed_capacity_exceeded, failed(status::capacity_exceeded));
  check.equal("failed_device_out_of_memory", said.failed_device_out_of_memory, failed(status::device_out_of_memory));
  check.equal("failed_capture_miss", said.failed_capture_miss, failed(status::capture_miss));
  check.equal("failed_backend_failed", said.failed_backend_failed, failed(status::backend_failed));
  std::uint64_t all = 0;
  for (const std::uint64_t of_one : failed_) all += of_one;
  check.equal("failed", said.failed, all);
  check.equal("frees", said.frees, frees_);
  const auto refused = [&](status with) { return refused_[index_of(with)]; };
  check.equal("refused_unknown_pointer", said.refused_unknown_pointer, refused(status::unknown_pointer));
  check.equal("refused_double_free", said.refused_double_free, refused(status::double_free));
  check.equal("refused_invalid_argument", said.refused_invalid_argument, refused(status::invalid_argument));
  check.equal("steps", said.steps, steps_);
  check.equal("graphs_pinned", said.graphs_pinned, graphs_);
  check.equal("capture_hits", said.capture_hits, capture_hits_);
  check.equal("capture_misses", said.capture_misses, capture_misses_);
  if (graphs_ == 0 && windows_ == 0) check.equal("pinned_bytes", said.pinned_bytes, 0);
  check.equal("blocks_live", said.blocks_live, live_.size());
  check.equal("requested_bytes", said.requested_bytes, requested_bytes_);
  check.equal("allocated_bytes", said.allocated_bytes, allocated_bytes_);
  return check.found.empty() ? judge_bounds(said) : check.found;
}

std::string engine_model::judge_bounds(const counters& said) const {
  comparison check;
  check.equal("capacity_bytes", said.capacity_bytes, capacity_bytes_ == 0 ? ARCALLOC_NO_BOUND : capacity_bytes_);
  switch (bound_.mode) {
    case bound_mode::explicit_bytes:
      check.equal("cached_bytes_max", said.cached_bytes_max, bound_.bytes);
      check.equal("cap_source", said.cap_source, ARCALLOC_CAP_EXPLICIT);
      break;
    case bound_mode::unbounded:
      check.equal("cached_bytes_max", said.cached_bytes_max, ARCALLOC_NO_BOUND);
      check.equal("cap_source", said.cap_source, ARCALLOC_CAP_UNBOUNDED);
      break;
    case bound_mode::derived:
      if (windows_ != 0) break;  // the device is asked when the last window closes
      check.at_most("the derived cached_bytes_max", said.cached_bytes_max, std::uint64_t{1} << 30);
      if (said.cap_source != ARCALLOC_CAP_FALLBACK) check.equal("cap_source", said.cap_source, ARCALLOC_CAP_DERIVED);
      break;
  }
  // In a window nothing can go back: the bound holds again when the last one closes.
  if (windows_ == 0) check.at_most("cached_bytes", said.cached_bytes, said.cached_bytes_max);
  return check.found;
}

std::string engine_model::judge_cap(const cap_arithmetic& said) const {
  if (said.cap_source != ARCALLOC_CAP_DERIVED) return {};  // judge_bounds knows what it should be
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  comparison check;
  check.equal("what is free", said.free_bytes, said.driver_free_bytes + said.own_cached_bytes);
  check.equal("the reserve", said.reserve_bytes, std::min(256 * mebibyte, said.free_bytes / 4));
  check.equal("the derived bound", said.cached_bytes_max,
              std::min(1024 * mebibyte, (said.free_bytes - said.reserve_bytes) / 2));
  return check.found;
}

std::string engine_model::judge_peaks(const counters& said) const {
  comparison check;
  // With several threads a peak between two readings may be missed, and none is made up.
  check.at_most("requested_bytes_peak", said.requested_bytes_peak, requested_peak_);
  check.at_most("allocated_bytes_peak", said.allocated_bytes_peak, allocated_peak_);
  if (!one_actor_) return check.found;
  check.equal("requested_bytes_peak", said.requested_bytes_peak, requested_peak_);
  check.equal("allocated_bytes_peak", said.allocated_bytes_peak, allocated_peak_);
  if (!walked_all_) return check.found;
  check.equal("cached_bytes_peak", said.cached_bytes_peak, cached_peak_);
  check.equal("slack_bytes_peak", said.slack_bytes_peak, slack_peak_);
  check.equal("held_bytes_peak", said.held_bytes_peak, held_peak_);
  check.equal("pinned_bytes_peak", said.pinned_bytes_peak, pinned_peak_);
  return check.found;
}

}  // namespace arcalloc::testing
