// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/formats/pickle_code.hpp"
#include "trace/formats/pickle_memo.hpp"
#include "trace/formats/snapshot_words.hpp"

namespace arcalloc::trace {

/// The fields of an entry of a device's trace, of a segment, or of a block of a segment; which of them is what the file
/// says by where it stands. `has` tells which fields were there.
struct snapshot_record {
  std::uint64_t address = 0;  ///< keys addr and address
  std::uint64_t bytes = 0;    ///< keys size and total_size
  std::uint64_t requested_bytes = 0;
  std::uint64_t stream = 0;
  std::uint64_t time_us = 0;
  std::uint64_t device = 0;  ///< of an entry: which list of device_traces it is in
  std::uint64_t device_free = 0;
  snapshot_word action = snapshot_word::other;
  snapshot_word state = snapshot_word::other;
  bool is_expandable = false;
  std::uint32_t has = 0;  ///< bits by snapshot_word

  [[nodiscard]] bool says(snapshot_word key) const { return ((has >> static_cast<unsigned>(key)) & 1U) != 0; }
};

/// Who is told what a snapshot holds, as it is read.
class snapshot_visitor {
 public:
  snapshot_visitor() = default;
  snapshot_visitor(const snapshot_visitor&) = delete;
  snapshot_visitor& operator=(const snapshot_visitor&) = delete;
  virtual ~snapshot_visitor() = default;
  /// `code` has just read what ends it, and is who refuses it.
  virtual void on_entry(const snapshot_record& entry, const pickle_code& code) = 0;
  virtual void on_segment(const snapshot_record& segment, const std::vector<snapshot_record>& blocks,
                          const pickle_code& code) = 0;
};

/// Reads PyTorch's memory snapshots: {"segments": [{..., "blocks": [{...}]}], "device_traces": [[{...}]], ...}.
///
/// An interpreter of pickle_code that keeps only what it can use. A container gets its role where it is made, from what
/// lies beneath it on the stack; entries, segments and blocks are records, the rest is one value that says nothing.
/// An entry goes to the visitor when it is appended to its list, and is forgotten. Concurrency: one thread. Cost: one
/// pass over the file; memory for a byte of each value in the memo, and for what a pickler puts down before it appends
/// it, which is a thousand entries with Python's.
///
/// Refused, by the byte: what pickle_code refuses; a stack or a nesting beyond all snapshots; a text in the place of
/// a number, a list in that of an entry.
class snapshot_parser {
 public:
  snapshot_parser(byte_source& from, snapshot_visitor& visitor) : code_(from), visitor_(visitor) {}
  void parse();

 private:
  static constexpr std::size_t stack_max = std::size_t{1} << 22;
  static constexpr std::size_t nesting_max = 64;
  static constexpr std::uint64_t devices_max = 1024;

  enum class shape : std::uint8_t { nothing, number, flag, word, list, dict };
  /// What a container is for.
  enum class role : std::uint8_t { none, whole, segment_list, traces, trace, block_list, entry, segment, block };

  struct value {
    shape is = shape::nothing;
    role what = role::none;
    snapshot_word word = snapshot_word::other;
    std::uint32_t slot = 0;  ///< of a record, a list of blocks; the device of a trace
    std::uint64_t number = 0;
  };

  /// A value as the memo has it: the word of a word, else the shape and whether a flag is set. What has a role is in
  /// one place; fetched again it says nothing.
  static constexpr unsigned word_in_memo = 0x80;
  static constexpr unsigned set_in_memo = 0x40;
  [[nodiscard]] static constexpr std::uint8_t as_in_memo(const value& what) {
    if (what.is == shape::word) return static_cast<std::uint8_t>(word_in_memo | static_cast<unsigned>(what.word));
    if (what.what != role::none) return 0;
    const unsigned set = what.is == shape::flag && what.number != 0 ? set_in_memo : 0;
    return static_cast<std::uint8_t>(static_cast<unsigned>(what.is) | set);
  }
  /// By what the memo has: the value, but for a number.
  static const std::array<value, 256> in_memo;

  void step(pickle_op op);
  void refuse_many(std::size_t values) const {
    if (values >= stack_max) refuse_many();
  }
  [[noreturn]] void refuse_many() const;
  void push(const value& what) {
    refuse_many(stack_.size());
    stack_.push_back(what);
  }
  void push_number();
  void push_list();
  void push_dict();
  [[nodiscard]] role role_of_list() const;
  [[nodiscard]] role role_of_dict() const;
  [[nodiscard]] const value* under_frame() const;
  [[nodiscard]] std::size_t frame_begin() const { return marks_.empty() ? 0 : marks_.back(); }

  void put(std::uint64_t index);
  void fetch(std::uint64_t index) { push(from_memo(index)); }
  [[nodiscard]] value from_memo(std::uint64_t index) const {
    value found = in_memo[memo_.fetch(index, code_)];
    if (found.is == shape::number) found.number = memo_.number(index);
    return found;
  }
  value pop();
  std::size_t pop_mark();
  void make_tuple(std::size_t count);
  void append_from(std::size_t first);
  void append(const value& list, const value& element);
  void set_from(std::size_t first);
  void set(const value& dict, const value& key, const value& element);
  void set_field(snapshot_record& record, snapshot_word key, const value& element);
  void set_blocks(const value& segment, const value& element);
  void finish();

  std::uint32_t new_record();

  pickle_code code_;
  pickle_memo memo_;
  snapshot_visitor& visitor_;
  std::vector<value> stack_;
  std::vector<std::size_t> marks_;

  std::vector<snapshot_record> records_;
  std::vector<std::uint32_t> records_free_;
  std::vector<std::vector<snapshot_record>> block_lists_;
  std::vector<std::uint32_t> block_lists_free_;
  std::vector<std::uint32_t> blocks_of_;  ///< by record: its list of blocks + 1
  std::uint32_t traces_begun_ = 0;
  bool found_traces_ = false;
};

}  // namespace arcalloc::trace
