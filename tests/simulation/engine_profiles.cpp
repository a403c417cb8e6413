// SPDX-License-Identifier: Apache-2.0
#include "engine_profiles.hpp"

#include <algorithm>

namespace arcalloc::testing {

void engine_profiles::begin(std::uint32_t number) {
  recording_ = number;
  changes_.clear();
  blurred_ = false;
}

void engine_profiles::note_out(std::uint32_t block, stream on, std::uint64_t bytes) {
  if (!recording_) return;
  changes_.push_back({on, bytes, 1});
  recorded_out_[block] = {on, bytes};
}

void engine_profiles::note_back(std::uint32_t block) {
  const auto found = recorded_out_.find(block);
  if (found == recorded_out_.end()) return;
  changes_.push_back({found->second.first, found->second.second, -1});
  recorded_out_.erase(found);
}

const profile_entry* engine_profiles::entry_of(const profile& in, stream on, std::uint64_t bytes) {
  const profile_entry* least = nullptr;
  for (const profile_entry& one : in.entries()) {
    if (one.on != on || one.bytes < bytes) continue;
    if (least == nullptr || one.bytes < least->bytes) least = &one;
  }
  return least;
}

std::string engine_profiles::end(profile& said) {
  std::map<const profile_entry*, std::int64_t> out;
  std::map<const profile_entry*, std::int64_t> most;
  recorded_profile fresh;
  for (const change& one : changes_) {
    const profile_entry* const entry = entry_of(said, one.on, one.bytes);
    if (entry == nullptr) return "a profile says nothing of a request that it was to record";
    out[entry] += one.by;
    most[entry] = std::max(most[entry], out[entry]);
    fresh.asked.insert({one.on, one.bytes});
  }
  for (const profile_entry& one : said.entries()) {
    const bool as_counted = static_cast<std::int64_t>(one.blocks) == most[&one];
    if (!as_counted && !blurred_) return "a profile says another number of blocks than were out at once";
  }
  if (blurred_) fresh.asked.clear();
  fresh.said = std::move(said);
  profiles_.insert_or_assign(*recording_, std::move(fresh));
  recording_.reset();
  changes_.clear();
  recorded_out_.clear();
  return {};
}

const profile* engine_profiles::find(std::uint32_t number) const {
  const auto found = profiles_.find(number);
  return found == profiles_.end() ? nullptr : &found->second.said;
}

void engine_profiles::verified(std::uint32_t number) {
  promised_ = number;
  window_.reset();
  reached_ = nullptr;
  out_.clear();
  out_as_.clear();
}

void engine_profiles::opened(stream on) {
  if (!promised_) return;
  if (window_) return void_promise();
  window_ = on;
}

bool engine_profiles::must_hit(std::uint32_t block, stream on, std::uint64_t bytes) {
  if (!promised_) return false;
  const recorded_profile& of = profiles_.at(*promised_);
  const profile_entry* const entry =
      window_ == on && of.asked.contains({on, bytes}) ? entry_of(of.said, on, bytes) : nullptr;
  // In the order of the entries, which lie in one array.
  if (entry == nullptr || entry < reached_ || out_[{on, entry->bytes}] == entry->blocks) {
    void_promise();
    return false;
  }
  reached_ = entry;
  ++out_[{on, entry->bytes}];
  out_as_[block] = {on, entry->bytes};
  return true;
}

void engine_profiles::freed(std::uint32_t block) {
  if (!promised_) return;
  const auto found = out_as_.find(block);
  const bool one_class = profiles_.at(*promised_).said.entries().size() == 1;
  if (found == out_as_.end() || !one_class) return void_promise();
  --out_[found->second];
  out_as_.erase(found);
}

}  // namespace arcalloc::testing
