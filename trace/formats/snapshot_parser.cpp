// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/snapshot_parser.hpp"

#include <string>

namespace arcalloc::trace {

namespace {

constexpr const char* a_number = "expected a whole number from 0 to 2^64 - 1 in a snapshot's field";

}  // namespace

constexpr std::array<snapshot_parser::value, 256> snapshot_parser::in_memo = [] {
  std::array<value, 256> values{};
  for (unsigned byte = 0; byte < values.size(); ++byte) {
    if ((byte & word_in_memo) != 0) {
      values[byte] = {shape::word, role::none, static_cast<snapshot_word>(byte & ~word_in_memo), 0, 0};
    } else {
      values[byte] = {static_cast<shape>(byte & ~set_in_memo), role::none, snapshot_word::other, 0,
                      (byte & set_in_memo) != 0 ? 1U : 0U};
    }
  }
  return values;
}();

void snapshot_parser::parse() {
  for (pickle_op op = code_.next(); op != pickle_op::stop; op = code_.next()) {
    if (op == pickle_op::get_4 || op == pickle_op::get_1) {
      fetch(code_.number());
    } else {
      step(op);
    }
  }
  finish();
}

void snapshot_parser::step(pickle_op op) {
  switch (op) {
    case pickle_op::mark:
      if (marks_.size() == nesting_max) code_.refuse("nested more than " + std::to_string(nesting_max) + " deep");
      marks_.push_back(stack_.size());
      // What is appended to a list that says nothing need not be looked at.
      if (!stack_.empty() && stack_.back().is == shape::list && stack_.back().what == role::none) {
        code_.pass_over_gets(memo_.next());
      }
      return;
    case pickle_op::memoize:
      return put(memo_.next());
    case pickle_op::put_1:
    case pickle_op::put_4:
      return put(code_.number());
    case pickle_op::get_1:
    case pickle_op::get_4:
      return fetch(code_.number());
    case pickle_op::int_1:
    case pickle_op::int_2:
    case pickle_op::int_4:
    case pickle_op::long_1:
    case pickle_op::long_4:
      return push_number();
    case pickle_op::is_true:
    case pickle_op::is_false:
      return push({shape::flag, role::none, snapshot_word::other, 0, op == pickle_op::is_true ? 1U : 0U});
    case pickle_op::text_1:
    case pickle_op::text_4:
      return push({shape::word, role::none, snapshot_word_of(code_.text()), 0, 0});
    case pickle_op::none:
    case pickle_op::real:
    case pickle_op::empty_tuple:
      return push({});
    case pickle_op::tuple:
      return make_tuple(stack_.size() - pop_mark());
    case pickle_op::tuple_1:
      return make_tuple(1);
    case pickle_op::tuple_2:
      return make_tuple(2);
    case pickle_op::tuple_3:
      return make_tuple(3);
    case pickle_op::empty_list:
      return push_list();
    case pickle_op::empty_dict:
      return push_dict();
    case pickle_op::list:
    case pickle_op::dict: {
      // Made behind its content: the content's roles were given without it, so only an empty one can matter.
      std::vector<value> content(stack_.begin() + static_cast<std::ptrdiff_t>(pop_mark()), stack_.end());
      stack_.resize(stack_.size() - content.size());
      op == pickle_op::list ? push_list() : push_dict();
      const std::size_t first = stack_.size();
      stack_.insert(stack_.end(), content.begin(), content.end());
      return op == pickle_op::list ? append_from(first) : set_from(first);
    }
    case pickle_op::append:
      return append_from(stack_.size() - 1);
    case pickle_op::appends:
      return append_from(pop_mark());
    case pickle_op::set_item:
      return set_from(stack_.size() - 2);
    case pickle_op::set_items:
      return set_from(pop_mark());
    case pickle_op::stop:
    case pickle_op::protocol:
    case pickle_op::frame:
      return;
  }
}

void snapshot_parser::refuse_many() const {
  code_.refuse("more than " + std::to_string(stack_max) + " values before they are put together");
}

void snapshot_parser::push_number() {
  if (!code_.is_number()) return push({});
  push({shape::number, role::none, snapshot_word::other, 0, code_.number()});
}

void snapshot_parser::push_list() {
  value list{shape::list, role_of_list(), snapshot_word::other, 0, 0};
  if (list.what == role::trace) {
    if (traces_begun_ == devices_max) code_.refuse("traces of more than " + std::to_string(devices_max) + " devices");
    list.slot = traces_begun_++;
  } else if (list.what == role::block_list) {
    if (block_lists_free_.empty()) {
      refuse_many(block_lists_.size());
      block_lists_.emplace_back();
      block_lists_free_.push_back(static_cast<std::uint32_t>(block_lists_.size() - 1));
    }
    list.slot = block_lists_free_.back();
    block_lists_free_.pop_back();
  }
  push(list);
}

void snapshot_parser::push_dict() {
  value dict{shape::dict, role_of_dict(), snapshot_word::other, 0, 0};
  if (dict.what == role::entry || dict.what == role::segment || dict.what == role::block) dict.slot = new_record();
  push(dict);
}

const snapshot_parser::value* snapshot_parser::under_frame() const {
  const std::size_t begin = frame_begin();
  return begin == 0 ? nullptr : &stack_[begin - 1];
}

snapshot_parser::role snapshot_parser::role_of_list() const {
  if (stack_.empty()) return role::none;
  const value* const frame = under_frame();
  const std::size_t in_frame = stack_.size() - frame_begin();
  const value& top = stack_.back();
  if (in_frame > 0 && top.is == shape::word) {
    // The value of a key: of the dict under the frame, or of the one right below the key.
    const value* dict = frame != nullptr && frame->is == shape::dict && in_frame % 2 == 1 ? frame : nullptr;
    if (dict == nullptr && stack_.size() >= 2) dict = &stack_[stack_.size() - 2];
    if (dict == nullptr || dict->is != shape::dict) return role::none;
    if (dict->what == role::whole && top.word == snapshot_word::segments) return role::segment_list;
    if (dict->what == role::whole && top.word == snapshot_word::device_traces) return role::traces;
    if (dict->what == role::segment && top.word == snapshot_word::blocks) return role::block_list;
    return role::none;
  }
  const bool is_trace = (in_frame > 0 && top.what == role::traces) || (frame != nullptr && frame->what == role::traces);
  return is_trace ? role::trace : role::none;
}

snapshot_parser::role snapshot_parser::role_of_dict() const {
  if (stack_.empty()) return role::whole;
  const auto element_of = [](const value& list) {
    if (list.what == role::trace) return role::entry;
    if (list.what == role::segment_list) return role::segment;
    return list.what == role::block_list ? role::block : role::none;
  };
  if (stack_.size() > frame_begin()) {
    const role of_top = element_of(stack_.back());
    if (of_top != role::none) return of_top;
  }
  const value* const frame = under_frame();
  return frame == nullptr ? role::none : element_of(*frame);
}

void snapshot_parser::put(std::uint64_t index) {
  if (stack_.empty()) code_.refuse("nothing to put into the memo");
  const value& top = stack_.back();
  if (top.is == shape::number) return memo_.put_number(index, as_in_memo(top), top.number, code_);
  memo_.put(index, as_in_memo(top), code_);
}

snapshot_parser::value snapshot_parser::pop() {
  if (stack_.size() <= frame_begin()) code_.refuse("takes more from the stack than there is");
  const value top = stack_.back();
  stack_.pop_back();
  return top;
}

std::size_t snapshot_parser::pop_mark() {
  if (marks_.empty()) code_.refuse("ends what was not begun");
  const std::size_t begin = marks_.back();
  marks_.pop_back();
  return begin;
}

void snapshot_parser::make_tuple(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) pop();
  push({});
}

void snapshot_parser::append_from(std::size_t first) {
  if (first == 0 || first > stack_.size() || first <= frame_begin()) code_.refuse("appends to nothing");
  const value list = stack_[first - 1];
  if (list.is != shape::list) code_.refuse("appends to what is no list");
  if (list.what != role::none) {
    for (std::size_t i = first; i < stack_.size(); ++i) append(list, stack_[i]);
  }
  stack_.resize(first);
}

void snapshot_parser::append(const value& list, const value& element) {
  const auto is = [&](role what) { return element.is == shape::dict && element.what == what; };
  switch (list.what) {
    case role::traces:
      if (element.is != shape::list || element.what != role::trace)
        code_.refuse("expected a list of a device's events");
      break;
    case role::trace:
      if (!is(role::entry)) code_.refuse("expected an event in a device's trace");
      records_[element.slot].device = list.slot;
      visitor_.on_entry(records_[element.slot], code_);
      records_free_.push_back(element.slot);
      break;
    case role::segment_list: {
      if (!is(role::segment)) code_.refuse("expected a segment");
      static const std::vector<snapshot_record> no_blocks;
      const std::uint32_t blocks = blocks_of_[element.slot];
      visitor_.on_segment(records_[element.slot], blocks == 0 ? no_blocks : block_lists_[blocks - 1], code_);
      if (blocks != 0) {
        block_lists_[blocks - 1].clear();
        block_lists_free_.push_back(blocks - 1);
      }
      records_free_.push_back(element.slot);
      break;
    }
    case role::block_list:
      if (!is(role::block)) code_.refuse("expected a block of a segment");
      block_lists_[list.slot].push_back(records_[element.slot]);
      records_free_.push_back(element.slot);
      break;
    default:
      break;
  }
}

void snapshot_parser::set_from(std::size_t first) {
  if (first == 0 || first > stack_.size() || first <= frame_begin()) code_.refuse("sets an item of nothing");
  if ((stack_.size() - first) % 2 != 0) code_.refuse("a key without a value");
  const value dict = stack_[first - 1];
  if (dict.is != shape::dict) code_.refuse("sets an item of what is no dict");
  if (dict.what != role::none) {
    for (std::size_t i = first; i < stack_.size(); i += 2) set(dict, stack_[i], stack_[i + 1]);
  }
  stack_.resize(first);
}

void snapshot_parser::set(const value& dict, const value& key, const value& element) {
  if (key.is != shape::word) return;
  switch (dict.what) {
    case role::whole:
      if (key.word == snapshot_word::device_traces) {
        if (element.what != role::traces) code_.refuse("expected a list of lists as device_traces");
        found_traces_ = true;
      } else if (key.word == snapshot_word::segments && element.what != role::segment_list) {
        code_.refuse("expected a list as segments");
      }
      break;
    case role::segment:
      if (key.word == snapshot_word::blocks) return set_blocks(dict, element);
      return set_field(records_[dict.slot], key.word, element);
    case role::entry:
    case role::block:
      return set_field(records_[dict.slot], key.word, element);
    default:
      break;
  }
}

void snapshot_parser::set_blocks(const value& segment, const value& element) {
  if (element.what != role::block_list || blocks_of_[segment.slot] != 0) code_.refuse("expected a list as blocks");
  blocks_of_[segment.slot] = element.slot + 1;
}

void snapshot_parser::set_field(snapshot_record& record, snapshot_word key, const value& element) {
  const auto number = [&](std::uint64_t& field) {
    if (element.is != shape::number) code_.refuse(a_number);
    field = element.number;
  };
  switch (key) {
    case snapshot_word::addr:
    case snapshot_word::address:
      number(record.address);
      key = snapshot_word::address;
      break;
    case snapshot_word::size:
    case snapshot_word::total_size:
      number(record.bytes);
      key = snapshot_word::size;
      break;
    case snapshot_word::requested_size:
      number(record.requested_bytes);
      break;
    case snapshot_word::stream:
      number(record.stream);
      break;
    case snapshot_word::time_us:
      number(record.time_us);
      break;
    case snapshot_word::device:
      number(record.device);
      break;
    case snapshot_word::device_free:
      number(record.device_free);
      break;
    case snapshot_word::is_expandable:
      record.is_expandable = element.is == shape::flag && element.number == 1;
      break;
    case snapshot_word::action:
    case snapshot_word::state:
      if (element.is != shape::word) code_.refuse("expected a text as action or state");
      (key == snapshot_word::action ? record.action : record.state) = element.word;
      break;
    default:
      return;
  }
  record.has |= 1U << static_cast<unsigned>(key);
}

void snapshot_parser::finish() {
  if (stack_.size() != 1 || !marks_.empty() || stack_.back().what != role::whole || !found_traces_) {
    code_.refuse("not a memory snapshot: expected a dict with device_traces");
  }
}

std::uint32_t snapshot_parser::new_record() {
  if (records_free_.empty()) {
    refuse_many(records_.size());
    records_.emplace_back();
    blocks_of_.push_back(0);
    return static_cast<std::uint32_t>(records_.size() - 1);
  }
  const std::uint32_t slot = records_free_.back();
  records_free_.pop_back();
  records_[slot] = {};
  blocks_of_[slot] = 0;
  return slot;
}

}  // namespace arcalloc::trace
