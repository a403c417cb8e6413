// SPDX-License-Identifier: Apache-2.0
#include "decode/serving_load.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "decode/values.hpp"

namespace arcalloc::decode {

namespace {

constexpr std::uint64_t right_of_ten = 7;  // guesses

bool fits(const served_request& asked, std::uint64_t positions, std::uint64_t draft) {
  return asked.prompt + asked.answer + draft <= positions;
}

/// The file and the mean time between two requests, so that rounds follow each other as requests do.
std::uint64_t span_of(const std::vector<served_request>& requests) {
  const std::uint64_t last = requests.back().arrival_ns;
  const std::uint64_t gap = requests.size() > 1 ? last / (requests.size() - 1) : 0;
  return last + std::max(gap, std::uint64_t{1});
}

}  // namespace

serving_load::serving_load(const charged_memory& memory, const model_shape& model, const model_share& share,
                           const serving_settings& how)
    : positions_(model.positions),
      model_(memory, model, share),
      how_(how),
      requests_(read_requests(how.requests_path)),
      span_ns_(span_of(requests_)) {}

void serving_load::begin(std::size_t) { model_.load_weights(); }

void serving_load::come(std::uint64_t now_ns) {
  while (has_more()) {
    if (next_ == requests_.size()) {
      next_ = 0;
      round_ns_ += span_ns_;
    }
    if (round_ns_ + requests_[next_].arrival_ns > now_ns) return;
    const served_request& asked = requests_[next_++];
    ++came_;
    if (fits(asked, positions_, how_.draft)) {
      waiting_.push_back(asked);
    } else {
      ++skipped_;
    }
  }
}

std::uint64_t serving_load::idle_ns(std::uint64_t now_ns) {
  come(now_ns);
  if (!running_.empty() || !waiting_.empty() || !has_more()) return 0;
  std::uint64_t until_ns = round_ns_ + requests_[next_].arrival_ns;
  if (how_.stop_after_s > 0) until_ns = std::min(until_ns, how_.stop_after_s * ns_in_a_second);
  return until_ns - now_ns;
}

bool serving_load::is_done(std::uint64_t now_ns) {
  if (how_.stop_after_s > 0) return now_ns >= how_.stop_after_s * ns_in_a_second;
  return next_ == requests_.size() && waiting_.empty() && running_.empty();
}

void serving_load::admit() {
  while (!waiting_.empty() && running_.size() < how_.batch) {
    const served_request asked = waiting_.front();
    waiting_.pop_front();
    running_.push_back({asked, model_.add_sequence(0, asked.prompt + asked.answer + how_.draft)});
  }
}

std::uint64_t serving_load::kept_rows() {
  std::uint64_t kept = 1;
  while (kept <= how_.draft && scramble(chance_ += 0x9e3779b97f4a7c15) % 10 < right_of_ten) ++kept;
  return kept;
}

void serving_load::take_parts(load_step& taken) {
  parts_.clear();
  std::uint64_t chunk = how_.chunk_rows;
  for (sequence& each : running_) {
    const bool decodes = each.absorbed == each.asked.prompt;
    const std::uint64_t rows = decodes ? 1 + how_.draft : std::min(chunk, each.asked.prompt - each.absorbed);
    if (rows == 0) continue;
    if (!decodes) {
      chunk -= rows;
      each.absorbed += rows;
      taken.prompt_tokens += rows;
    }
    parts_.push_back({&each.cache, rows});
  }
}

void serving_load::answer(load_step& taken) {
  auto part = parts_.begin();
  for (auto each = running_.begin(); each != running_.end();) {
    const bool took_part = part != parts_.end() && part->sequence == &each->cache;
    const std::uint64_t rows = took_part ? (part++)->rows : 0;
    // The pass that absorbs the last of a prompt makes the first token of the answer.
    if (rows > 0 && each->absorbed == each->asked.prompt) {
      const bool decoded = each->answered > 0;
      const std::uint64_t kept = decoded ? std::min(kept_rows(), each->asked.answer - each->answered) : 1;
      if (decoded) each->cache.positions -= rows - kept;
      each->answered += kept;
      taken.tokens += kept;
    }
    const bool is_over = each->answered == each->asked.answer;
    if (is_over) ++taken.requests_done;
    each = is_over ? running_.erase(each) : std::next(each);
  }
}

load_step serving_load::step(std::uint64_t now_ns) {
  come(now_ns);
  admit();
  load_step taken{.tokens = 0, .sequences = running_.size(), .waiting = waiting_.size()};
  take_parts(taken);
  if (!parts_.empty()) {
    model_.pass(parts_);
    answer(taken);
  }
  taken.sequences_after = running_.size();
  taken.requests_come = came_;
  taken.requests_skipped = skipped_;
  return taken;
}

std::uint64_t answer_tokens(const std::vector<served_request>& requests, std::uint64_t positions, std::uint64_t draft) {
  std::uint64_t sum = 0;
  for (const served_request& each : requests) sum += fits(each, positions, draft) ? each.answer : 0;
  return sum;
}

}  // namespace arcalloc::decode
