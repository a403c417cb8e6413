// SPDX-License-Identifier: Apache-2.0
#include "trace/scenario_run.hpp"

#include <arcalloc/settings.hpp>
#include <utility>

#include "trace/scenario_runner.hpp"

namespace arcalloc::trace {

namespace {

/// The variables of the environment that a scenario makes, as settings_from reads them.
using variables = std::map<std::string, std::string>;

const char* look_up(void* context, const char* name) noexcept {
  const auto& set = *static_cast<const variables*>(context);
  const auto found = set.find(name);
  return found == set.end() ? nullptr : found->second.c_str();
}

settings_result read_settings(variables& set, options& out) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : set) entries.push_back(std::string(name).append("=").append(value));
  std::vector<const char*> names;
  for (const std::string& entry : entries) names.push_back(entry.c_str());
  names.push_back(nullptr);
  return settings_from({look_up, &set, names.data()}, out);
}

std::string value_text(const counter_field& field, std::uint64_t value) {
  if (field.value == &counters::cap_source) return cap_source_name(value);
  return value == ARCALLOC_NO_BOUND ? "unbounded" : std::to_string(value);
}

bool compares(std::uint64_t found, const std::string& comparison, std::uint64_t expected) {
  if (comparison == "==") return found == expected;
  if (comparison == "<=") return found <= expected;
  if (comparison == ">=") return found >= expected;
  return comparison == "<" ? found < expected : found > expected;
}

std::string address_text(const void* address) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (auto rest = reinterpret_cast<std::uintptr_t>(address); rest != 0; rest /= 16)
    text.insert(0, 1, digits[rest % 16]);
  return text.empty() ? "no block" : "address 0x" + text;
}

}  // namespace

scenario_result runner::run() {
  options settings = settle();
  const auto collect = [](void* reports, const char* line) noexcept {
    static_cast<std::vector<std::string>*>(reports)->emplace_back(line);
  };
  settings.sink = {collect, &result_.reports};
  if (settings.capacity_bytes != 0) device_.set_capacity_bytes(settings.capacity_bytes);

  for (const operation& one : what_.operations) {
    line_ = one.line;
    expected_ = one.expected;
    // Faults planned before anything else meet the allocator's creation, which asks for the free memory.
    if (memory_ == nullptr && !std::holds_alternative<act::plan_fault>(one.what) && !create(settings)) return result_;
    std::visit([this](const auto& asked) { carry_out(asked); }, one.what);
    check_device();
    if (memory_ != nullptr) check_identities();
  }
  if (memory_ == nullptr && !create(settings)) return result_;
  memory_->read_counters(result_.last);
  result_.cached_bytes_max_wanted = memory_->read_cap().cached_bytes_max_wanted;
  result_.device_ns = device_.now_ns();
  finish();
  return std::move(result_);
}

/// Judges the `env` lines one by one, each beside those that were taken; then reads all of them, the refused
/// ones too, as the library would.
options runner::settle() {
  variables taken;
  for (const environment_line& one : what_.environment) {
    line_ = one.line;
    expected_ = one.expected;
    variables with = taken;
    with.insert_or_assign(one.name, one.value);
    variables_.insert_or_assign(one.name, one.value);
    options ignored;
    const settings_result found = read_settings(with, ignored);
    answer(found.outcome, found.refused > 0 ? found.errors[0].text : "");
    if (found.outcome == status::ok) taken = std::move(with);
  }
  options settings;
  const settings_result found = read_settings(variables_, settings);
  for (std::size_t i = 0; i < found.warned; ++i) result_.warnings.emplace_back(found.warnings[i].text);

  const option_choices& chosen = what_.options;
  settings.cached_bytes_max = chosen.cached_bytes_max.value_or(settings.cached_bytes_max);
  settings.capacity_bytes = chosen.capacity_bytes.value_or(settings.capacity_bytes);
  settings.classes = chosen.classes.value_or(settings.classes);
  settings.enabled = chosen.enabled.value_or(settings.enabled);
  settings.oom_retry = chosen.oom_retry.value_or(settings.oom_retry);
  settings.capture_miss = chosen.capture_miss.value_or(settings.capture_miss);
  settings.trace_path = nullptr;  // a scenario is read: it writes no file
  return settings;
}

bool runner::create(const options& settings) {
  allocator* made = nullptr;
  const status created = allocator::create(device_, settings, made);
  memory_.reset(made);
  if (created != status::ok) fail("an allocator", status_name(created));
  return created == status::ok;
}

void runner::answer(status found, const std::string& detail) {
  ++result_.expectations_checked;
  if (found == expected_) return;
  std::string text(status_name(found));
  if (!detail.empty()) text.append(": ").append(detail);
  fail(status_name(expected_), std::move(text));
}

/// True, and recorded, where the line needs a block that is not there: the parser saw to it that one is, unless an
/// earlier line was not answered as expected.
bool runner::is_missed(const held_block* known) {
  if (expected_ != status::ok || (known != nullptr && known->live)) return false;
  fail("a live block", "none: an earlier line was not answered as expected");
  return true;
}

void runner::carry_out(const act::allocate& asked) {
  held_block fresh{{}, asked.on, true};
  const status found = memory_->allocate(asked.bytes, asked.on, fresh.piece);
  char detail[512] = "";
  if (found == status::capacity_exceeded || found == status::device_out_of_memory || found == status::capture_miss) {
    format_failure(memory_->last_failure(), detail, sizeof detail);
  }
  answer(found, detail);
  if (found != status::ok) return;
  if (fresh.piece) {
    device_.handed_out(asked.on, fresh.piece.data(), asked.bytes);
    device_.use(asked.on, fresh.piece.data(), asked.bytes);
  }
  fresh.bytes = asked.bytes;
  held_block& slot = blocks_[asked.id];
  if (slot.live) strays_.push_back(slot.piece);
  slot = fresh;
}

void runner::carry_out(const act::use& asked) {
  const held_block* const known = find(asked.id);
  if (is_missed(known)) return;
  if (known == nullptr) return answer(memory_->note_use(&foreign_, asked.on.value_or(default_stream)));
  const stream on = asked.on.value_or(known->own);
  if (known->live && known->piece) device_.use(on, known->piece.data(), known->bytes);
  // In a capture its own work counts, too: the graph keeps the block.
  const bool is_known_to_it = known->live && on == known->own && !memory_->is_capturing(on);
  answer(is_known_to_it ? status::ok : memory_->note_use(known->piece, on));
}

void runner::carry_out(const act::deallocate& asked) {
  held_block* const known = find(asked.id);
  if (is_missed(known)) return;
  void* const address = known == nullptr ? &foreign_ : known->piece.data();
  // A wrong size is refused, and the block stays out.
  const bool comes_back = known != nullptr && known->live && asked.bytes.value_or(known->bytes) == known->bytes;
  const bool tells_device = comes_back && known->piece;
  // On another stream than its own a free implies a use there.
  if (tells_device && asked.on && *asked.on != known->own) device_.use(*asked.on, address, known->bytes);
  if (tells_device) device_.handed_back(address);
  status found = status::ok;
  if (asked.bytes) {
    found = memory_->deallocate(address, static_cast<std::size_t>(*asked.bytes));
  } else if (known == nullptr) {
    found = asked.on ? memory_->deallocate(address, *asked.on) : memory_->deallocate(address);
  } else {
    found = asked.on ? memory_->deallocate(known->piece, *asked.on) : memory_->deallocate(known->piece);
  }
  answer(found);
  if (tells_device && found != status::ok) device_.still_out(address);
  if (known != nullptr && found == status::ok) known->live = false;
}

void runner::carry_out(const act::expect& claim) {
  ++result_.expectations_checked;
  counters now{};
  claim.in_step ? memory_->read_step_counters(now) : memory_->read_counters(now);
  const std::uint64_t found = now.*claim.field->value;
  if (!compares(found, claim.comparison, claim.value)) fail(claim.claim, value_text(*claim.field, found));
}

void runner::carry_out(const act::compare& claim) {
  const held_block* const first = find(claim.first);
  const held_block* const second = find(claim.second);
  ++result_.expectations_checked;
  const void* const one = first == nullptr ? nullptr : first->piece.data();
  const void* const other = second == nullptr ? nullptr : second->piece.data();
  const bool is_judgeable = one != nullptr && other != nullptr;
  if (is_judgeable && (one == other) == claim.same) return;
  std::string expected(claim.same ? "same " : "differ ");
  expected.append(claim.first).append(" ").append(claim.second);
  fail(std::move(expected), address_text(one).append(" and ").append(address_text(other)));
}

void runner::check_device() {
  const std::vector<std::string> all = device_.convictions();
  for (; convictions_seen_ < all.size(); ++convictions_seen_)
    fail("no conviction by the device", all[convictions_seen_]);
}

/// Each identity is reported once, at the line that broke it.
void runner::check_identities() {
  counters now{};
  memory_->read_counters(now);
  const auto check = [&](const char* identity, std::uint64_t left, std::uint64_t right, bool holds) {
    if (holds || !broken_.insert(identity).second) return;
    fail(identity, std::to_string(left).append(" and ").append(std::to_string(right)));
  };
  const auto check_equal = [&](const char* identity, std::uint64_t left, std::uint64_t right) {
    check(identity, left, right, left == right);
  };
  check_equal("reserved = allocated + pending + cached + slack + pinned + stuck", now.reserved_bytes,
              now.allocated_bytes + now.pending_bytes + now.cached_bytes + now.slack_bytes + now.pinned_bytes +
                  now.stuck_bytes);
  check_equal("reserved = what the device has lent", now.reserved_bytes, device_.lent_bytes());
  check_equal("requests = hits + misses + bypassed + failed", now.requests,
              now.hits + now.misses + now.bypassed + now.failed);
  check_equal("driver_allocs - driver_frees = segments_reserved", now.driver_allocs - now.driver_frees,
              now.segments_reserved);
  // In a capture nothing can go back.
  check("cached_bytes <= cached_bytes_max", now.cached_bytes, now.cached_bytes_max,
        now.cached_bytes <= now.cached_bytes_max || !captures_.empty());
  check("reserved_bytes <= capacity_bytes", now.reserved_bytes, now.capacity_bytes,
        now.reserved_bytes <= now.capacity_bytes);
}

void runner::expect_ok(const char* call, status found) {
  if (found != status::ok) fail(std::string(call).append(" at the end: ok"), status_name(found));
}

void runner::finish() {
  line_ = 0;
  expected_ = status::ok;
  // What is planned is for the scenario's lines: from now on every call answers for itself.
  for (const sim_call call : {sim_call::allocate, sim_call::free, sim_call::record_event, sim_call::query_event,
                              sim_call::wait_event, sim_call::query_memory}) {
    device_.plan_fault(call, 1, true, status::ok);
  }
  finish_captures();
  for (const auto& [id, known] : blocks_) {
    if (known.live) strays_.push_back(known.piece);
  }
  for (const block& piece : strays_) {
    if (piece) device_.handed_back(piece.data());
    expect_ok("free", memory_->deallocate(piece));
  }
  expect_ok("drain", memory_->drain());
  check_device();
  check_identities();
  counters now{};
  memory_->read_counters(now);
  if (now.reserved_bytes != 0)
    fail("reserved_bytes == 0 once all is freed and drained", std::to_string(now.reserved_bytes));
  memory_.reset();
  device_.convict_leaks();
  check_device();
}

scenario_result run_scenario(const scenario& what) { return runner(what).run(); }

}  // namespace arcalloc::trace
