// SPDX-License-Identifier: Apache-2.0
#include "shrinking.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "sizes_and_streams.hpp"

namespace arcalloc::testing {

namespace {

/// The sentence without its numbers: addresses and sizes change as a plan shrinks.
std::string kind_of(const std::string& violation) {
  std::string kind;
  bool in_number = false;
  for (const char c : violation) {
    const auto byte = static_cast<unsigned char>(c);
    in_number = std::isdigit(byte) != 0 || (in_number && std::isxdigit(byte) != 0) || (in_number && c == 'x');
    if (!in_number) kind += c;
  }
  return kind;
}

class shrinker {
 public:
  shrinker(const plan& failing, const judgement& judged, const shrinking_budget& budget)
      : judged_(judged), budget_(budget), until_(std::chrono::steady_clock::now() + budget.time) {
    found_.smallest = failing;
    found_.violation = judged_(failing);
    found_.replays = 1;
    kind_ = kind_of(found_.violation);
  }

  shrunk_plan shrink() {
    leave_out();
    make_plain();
    leave_out();
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool spent() const {
    return found_.replays >= budget_.replays || std::chrono::steady_clock::now() >= until_;
  }

  /// Takes `candidate` where it fails in the same way.
  bool take(const plan& candidate) {
    if (spent()) return false;
    ++found_.replays;
    const std::string violation = judged_(candidate);
    if (violation.empty() || kind_of(violation) != kind_) return false;
    found_.smallest = candidate;
    found_.violation = violation;
    return true;
  }

  bool take_without(std::size_t first, std::size_t count) {
    plan candidate = found_.smallest;
    const auto begin = candidate.operations.begin() + static_cast<std::ptrdiff_t>(first);
    candidate.operations.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    return take(candidate);
  }

  /// Parts of every size from half of it down to one; singles until none of them can be spared.
  void leave_out() {
    std::size_t part = std::max<std::size_t>(found_.smallest.operations.size() / 2, 1);
    for (;;) {
      bool any = false;
      // From the end: what comes after the fault goes at once.
      for (std::size_t end = found_.smallest.operations.size(); end > 0 && !spent();) {
        const std::size_t count = std::min(part, end);
        any = take_without(end - count, count) || any;
        end -= count;
      }
      if (spent() || (part == 1 && !any)) return;
      part = std::max<std::size_t>(part / 2, 1);
    }
  }

  /// One change at a time, each kept only where it still fails.
  template <class Change>
  bool try_change(Change change) {
    plan candidate = found_.smallest;
    change(candidate);
    return take(candidate);
  }

  void make_plain() {
    try_change([](plan& of) { of.read_every = 1; });
    try_change([](plan& of) { of.ends_with_blocks = false; });
    try_change([](plan& of) {
      of.actors = 1;
      for (operation& one : of.operations) one.actor = 0;
    });
    try_change([](plan& of) { of.device = {}; });
    try_change([](plan& of) { of.device.granularity = sim_options{}.granularity; });
    try_change([](plan& of) { of.settings = {}; });
    try_change([](plan& of) { of.settings.cached_bytes_max = {}; });
    try_change([](plan& of) { of.settings.capacity_bytes = 0; });
    try_change([](plan& of) { of.settings.classes = options{}.classes; });
    try_change([](plan& of) { of.settings.cache_in_prefill = false; });
    try_change([](plan& of) { of.settings.oom_retry = true; });
    for (std::size_t i = 0; i < found_.smallest.operations.size() && !spent(); ++i) make_plain(i);
  }

  void make_plain(std::size_t index) {
    const auto now = [&]() -> const operation& { return found_.smallest.operations[index]; };
    const auto try_one = [&](auto change) { return try_change([&](plan& of) { change(of.operations[index]); }); };
    if (now().actor != 0) try_one([](operation& one) { one.actor = 0; });
    // What the ways and phases are numbered from is the plainest of them.
    if (now().how != 0) try_one([](operation& one) { one.how = 0; });
    if (now().fault.nth > 1) try_one([](operation& one) { one.fault.nth = 1; });
    constexpr std::array round = {std::uint64_t{0}, kib,      64 * kib, mib,      2 * mib,  4 * mib,
                                  8 * mib,          16 * mib, 32 * mib, 64 * mib, 128 * mib};
    for (const std::uint64_t size : round) {
      const bool is_request_of_nothing = size == 0 && now().what == act::allocate;
      if (size >= now().bytes || is_request_of_nothing) continue;
      if (try_one([size](operation& one) { one.bytes = size; })) return;
    }
    // None is as good; then the next whole one above.
    for (const std::uint64_t unit : {mib, 64 * kib, kib}) {
      const std::uint64_t size = (now().bytes + unit - 1) / unit * unit;
      if (size == now().bytes || try_one([size](operation& one) { one.bytes = size; })) return;
    }
  }

  const judgement& judged_;
  const shrinking_budget budget_;
  const std::chrono::steady_clock::time_point until_;
  std::string kind_;
  shrunk_plan found_;
};

}  // namespace

shrunk_plan shrink(const plan& failing, const judgement& judged, const shrinking_budget& budget) {
  return shrinker(failing, judged, budget).shrink();
}

}  // namespace arcalloc::testing
