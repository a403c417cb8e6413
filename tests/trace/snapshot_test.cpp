// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "pickles.hpp"
#include "reading.hpp"
#include "trace/formats/pickle_memo.hpp"

namespace arcalloc::trace {
namespace {

TEST(snapshot, a_free_is_where_it_was_asked_for) {
  const reading read = read_text(snapshot({}, {{entry("alloc", 4096, 300, 10), entry("free_requested", 4096, 300, 12),
                                                entry("alloc", 8192, 8, 13), entry("free_completed", 4096, 300, 14)}}));
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(read.facts.format, trace_format::snapshot);
  EXPECT_EQ(
      lines_of(read.events),
      "allocate 4096: 300 bytes @5 t=10000\nfree 4096: 300 bytes @5 t=12000\nallocate 8192: 8 bytes @5 t=13000\n");
}

TEST(snapshot, segments_refusals_and_snapshots_are_kept) {
  const std::string oom = dict({{"action", text("oom")},
                                {"device_free", integer(77)},
                                {"size", integer(1000)},
                                {"stream", std::string("K\0", 2)}});
  const std::string older = dict(
      {{"action", text("oom")}, {"addr", integer(66)}, {"size", integer(1000)}, {"stream", std::string("K\0", 2)}});
  const reading read = read_text(snapshot(
      {}, {{entry("segment_alloc", 1 << 20, 4096), entry("segment_map", 2 << 20, 4096), oom, older,
            entry("snapshot", 9, 9), entry("segment_unmap", 2 << 20, 4096), entry("segment_free", 1 << 20, 4096)}}));
  EXPECT_EQ(lines_of(read.events),
            "segment_allocate 1048576: 4096 bytes @5 t=1000\nsegment_map 2097152: 4096 bytes @5 t=1000\n"
            "refusal 0: 1000 bytes @0 device_out_of_memory\nrefusal 0: 1000 bytes @0 device_out_of_memory\n"
            "snapshot 0: 0 bytes @5 t=1000\nsegment_unmap 2097152: 4096 bytes @5 t=1000\n"
            "segment_free 1048576: 4096 bytes @5 t=1000\n");
  EXPECT_EQ(read.events[2].other, 77U);
  EXPECT_EQ(read.events[3].other, 66U);
}

TEST(snapshot, what_was_there_before_comes_from_segments_and_frees) {
  // 4096 and 8192 were there before: one is freed, the other is still there. 12288 is new. 16384 was pending.
  const std::string bytes = snapshot(
      {segment(4096, 16384,
               {block(4096, 4096, 0, "inactive"), block(8192, 4096, 4000, "active_allocated"),
                block(12288, 4096, 100, "active_allocated"), block(16384, 4096, 9, "active_pending_free")}),
       segment(1 << 20, 4096, {block(1 << 20, 4096, 0, "inactive")})},
      {{entry("free_requested", 4096, 3000), entry("free_completed", 4096, 3000), entry("segment_alloc", 1 << 20, 4096),
        entry("alloc", 12288, 100), entry("segment_free", 3 << 20, 512)}});
  const reading read = read_text(bytes);
  EXPECT_EQ(read.refusal, "");
  EXPECT_EQ(lines_of(read.events),
            "segment_allocate before 4096: 16384 bytes @0\nsegment_allocate before 3145728: 512 bytes @5\n"
            "allocate before 4096: 3000 bytes @5\nallocate before 8192: 4000 bytes @0\n"
            "free 4096: 3000 bytes @5 t=1000\nsegment_allocate 1048576: 4096 bytes @5 t=1000\n"
            "allocate 12288: 100 bytes @5 t=1000\nsegment_free 3145728: 512 bytes @5 t=1000\n");
  EXPECT_EQ(read.facts.blocks_before, 2U);
  EXPECT_EQ(read.facts.bytes_before, 7000U);
  EXPECT_EQ(read.facts.reserved_before, 16896U);

  read_options from_empty;
  from_empty.from_empty = true;
  const reading skipped = read_text(bytes, from_empty);
  EXPECT_EQ(skipped.events.size(), 3U);
  EXPECT_EQ(skipped.facts.frees_skipped, 1U);
}

TEST(snapshot, a_block_freed_before_the_recording_and_pending_at_its_end_is_not_live) {
  const reading read = read_text(snapshot({segment(4096, 512, {block(4096, 512, 9, "active_pending_free")})},
                                          {{entry("alloc", 4096, 9), entry("free_requested", 4096, 9)}}));
  EXPECT_EQ(
      lines_of(read.events),
      "segment_allocate before 4096: 512 bytes @0\nallocate 4096: 9 bytes @5 t=1000\nfree 4096: 9 bytes @5 t=1000\n");
}

TEST(snapshot, a_free_that_was_asked_for_before_the_recording_is_where_it_was_completed) {
  const reading read = read_text(snapshot({}, {{entry("free_completed", 4096, 9)}}));
  EXPECT_EQ(lines_of(read.events), "allocate before 4096: 9 bytes @5\nfree 4096: 9 bytes @5 t=1000\n");
}

TEST(snapshot, the_parts_of_an_expandable_segment_are_told_apart) {
  // 0..4096 is there at the end; 1024..2048 was mapped meanwhile, 4096..5120 unmapped.
  const reading read =
      read_text(snapshot({segment(65536, 4096, {block(65536, 4096, 0, "inactive")}, true)},
                         {{entry("segment_map", 65536 + 1024, 1024), entry("segment_unmap", 65536 + 4096, 1024)}}));
  EXPECT_EQ(lines_of(read.events),
            "segment_map before 65536: 1024 bytes @0\nsegment_map before 67584: 2048 bytes @0\n"
            "segment_map before 69632: 1024 bytes @5\nsegment_map 66560: 1024 bytes @5 t=1000\n"
            "segment_unmap 69632: 1024 bytes @5 t=1000\n");
}

TEST(snapshot, each_device_has_its_own_list) {
  const std::string bytes = snapshot({segment(4096, 512, {block(4096, 512, 512, "active_allocated")}, false, 2)},
                                     {{entry("alloc", 4096, 8)}, {}, {entry("alloc", 8192, 16)}});
  EXPECT_EQ(lines_of(read_text(bytes).events),
            "segment_allocate before 4096: 512 bytes @0 d2\nallocate before 4096: 512 bytes @0 d2\n"
            "allocate 4096: 8 bytes @5 t=1000\nallocate 8192: 16 bytes @5 d2 t=1000\n");
  read_options options;
  options.device = 0;
  EXPECT_EQ(lines_of(read_text(bytes, options).events), "allocate 4096: 8 bytes @5 t=1000\n");
}

TEST(snapshot, older_files_lack_times_and_addresses_of_blocks) {
  const std::string alloc = dict(
      {{"action", text("alloc")}, {"addr", integer(4096)}, {"size", integer(8)}, {"stream", std::string("K\0", 2)}});
  const std::string blocks = list({dict({{"size", integer(512)}, {"state", text("inactive")}}),
                                   dict({{"size", integer(1024)}, {"state", text("active_allocated")}})});
  const std::string old = dict({{"device", std::string("K\0", 2)},
                                {"address", integer(65536)},
                                {"total_size", integer(1536)},
                                {"stream", std::string("K\0", 2)},
                                {"blocks", blocks}});
  EXPECT_EQ(lines_of(read_text(snapshot({old}, {{alloc}})).events),
            "segment_allocate before 65536: 1536 bytes @0\nallocate before 66048: 1024 bytes @0\n"
            "allocate 4096: 8 bytes @0\n");
}

TEST(snapshot, an_unknown_action_is_skipped_and_counted) {
  const reading read = read_text(snapshot({}, {{entry("user_defined", 1, 1), entry("alloc", 4096, 8)}}));
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.facts.unknown_skipped, 1U);
}

TEST(snapshot, an_address_handed_out_again_was_freed) {
  const reading read = read_text(snapshot({}, {{entry("alloc", 4096, 8), entry("alloc", 4096, 16)}}));
  EXPECT_EQ(read.events.size(), 3U);
  EXPECT_EQ(read.facts.frees_made_up, 1U);
}

TEST(snapshot, other_ways_to_write_the_same_are_read_the_same) {
  const std::string expected = "allocate 4096: 8 bytes @0 t=3000\nfree 4096: 8 bytes @0 t=3000\n";
  // As protocol 0 would put it together: empty dicts and lists, items and elements one by one; a text with a long
  // length; a shared text fetched from the memo by all three ways to put and both ways to get.
  std::string traces = "(l(l(d" + text("action") + "\x94" + text("alloc") + "s" + text("addr") + "q\x01J" +
                       little(4096, 4) + "s" + text("size") + "r" + little(2, 4) + "K\x08s" + text("stream") +
                       std::string("\x94K\0s", 4) + text("time_us") + "\x94K\x03sa}" + std::string("h\0", 2);
  traces += text("free_requested") + "s" + "h\x01M" + little(4096, 2) + "s" + "j" + little(2, 4) + "K\x08s" + "h\x03" +
            std::string("K\0s", 3) + "h\x04K\x03saa";
  const std::string whole =
      "}"
      "X" +
      little(13, 4) + "device_traces" + traces + "s";
  EXPECT_EQ(lines_of(read_text(pickle(whole)).events), expected) << read_text(pickle(whole)).refusal;
  for (const char protocol : {'\x02', '\x03', '\x04'}) {
    EXPECT_EQ(lines_of(read_text(std::string("\x80") + protocol + whole + ".").events), expected);
  }
}

TEST(snapshot, values_that_do_not_matter_may_be_anything_plain) {
  const std::string odd =
      list({"N", "\x88", "\x89", ")", "G" + std::string(8, '\x40'), "K\x01\x85", "K\x01K\x02\x86",
            "K\x01K\x02K\x03\x87", "(K\x01K\x02t", "\x8b" + little(20, 4) + std::string(20, '\x7f'),
            std::string("\x8a\0", 2), "J\xff\xff\xff\xff", "X" + little(300, 4) + std::string(300, 'x'), "(K\x01l",
            "(K\x01K\x02"
            "d",
            "}K\x01K\x02s"});
  const std::string bytes =
      pickle(dict({{"odd", odd}, {"device_traces", list({list({entry("alloc", 1, 1)})})}, {"more", odd}}));
  EXPECT_EQ(read_text(bytes).refusal, "");
  EXPECT_EQ(read_text(bytes).events.size(), 1U);
}

TEST(snapshot, what_could_run_code_is_refused_by_name) {
  const std::vector<std::pair<std::string, std::string>> all{{"cos\nsystem\n", "GLOBAL"},
                                                             {"N)R", "REDUCE"},
                                                             {"N}b", "BUILD"},
                                                             {"(ios\nsystem\n", "INST"},
                                                             {"(No", "OBJ"},
                                                             {"P1\n", "PERSID"},
                                                             {"NQ", "BINPERSID"},
                                                             {"N)\x81", "NEWOBJ"},
                                                             {"\x82\x01", "EXT1"},
                                                             {"\x83\x01\x01", "EXT2"},
                                                             {"\x84\x01\x01\x01\x01", "EXT4"},
                                                             {"N)}\x92", "NEWOBJ_EX"},
                                                             {text("os") + text("system") + "\x93", "STACK_GLOBAL"}};
  for (const auto& [ops, name] : all) {
    const std::string bytes = pickle(dict({{"segments", ops}, {"device_traces", "]"}}));
    EXPECT_NE(refusal_of(bytes).find("the opcode " + name + " could run code: refused"), std::string::npos)
        << refusal_of(bytes);
    // Where nothing that matters is either.
    EXPECT_NE(refusal_of(pickle(dict({{"device_traces", "]"}, {"x", list({ops})}}))).find(name), std::string::npos);
  }
  EXPECT_EQ(refusal_of(pickle("I1\n")), "t at byte 2: the opcode 0x49 makes nothing that a snapshot holds");
}

TEST(snapshot, a_file_that_is_cut_is_refused_at_every_length) {
  const std::string bytes = snapshot({segment(4096, 512, {block(4096, 512, 9, "active_allocated")})},
                                     {{entry("alloc", 4096, 9), entry("free_requested", 4096, 9)}});
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const reading read = read_text(std::string_view(bytes).substr(0, size));
    EXPECT_NE(read.refusal.find("the file ends early"), std::string::npos) << size << ": " << read.refusal;
    EXPECT_EQ(read.events.size(), 0U) << "refused before anything was told";
  }
  EXPECT_NE(refusal_of(bytes + "x").find("the file goes on after its end"), std::string::npos);
}

TEST(snapshot, what_is_no_snapshot_is_refused) {
  const std::vector<std::pair<std::string, std::string>> all{
      {pickle("N"), "not a memory snapshot"},
      {pickle("]"), "not a memory snapshot"},
      {pickle("}"), "not a memory snapshot"},
      {pickle(dict({{"segments", "]"}})), "not a memory snapshot"},
      {pickle(dict({{"device_traces", "N"}})), "expected a list of lists as device_traces"},
      {pickle(dict({{"device_traces", list({"N"})}})), "expected a list of a device's events"},
      {pickle(dict({{"device_traces", list({list({"N"})})}})), "expected an event in a device's trace"},
      {pickle(dict({{"segments", "N"}, {"device_traces", "]"}})), "expected a list as segments"},
      {pickle(dict({{"segments", list({"N"})}, {"device_traces", "]"}})), "expected a segment"},
      {snapshot({dict({{"blocks", "N"}})}, {}), "expected a list as blocks"},
      {snapshot({dict({{"blocks", list({"N"})}})}, {}), "expected a block of a segment"},
      {snapshot({}, {{dict({{"size", "N"}})}}), "expected a whole number from 0 to 2^64 - 1"},
      {snapshot({}, {{dict({{"size", "J\xff\xff\xff\xff"}})}}), "expected a whole number from 0 to 2^64 - 1"},
      {snapshot({}, {{dict({{"size", std::string("\x8a\x09\0\0\0\0\0\0\0\0\x01", 11)}})}}), "expected a whole number"},
      {snapshot({}, {{dict({{"action", "K\x01"}})}}), "expected a text as action or state"},
      {snapshot({}, {{dict({{"size", "K\x01"}})}}), "has no action"},
      {snapshot({}, {{dict({{"action", text("alloc")}})}}), "has no addr or no size"},
      {snapshot({}, {{entry("alloc", 1, 1, 18'000'000'000'000'001U)}}), "a time out of range"},
      {std::string("\x80\x05N."), "pickle protocol 5; 2 to 4 are read"},
      {std::string("\x80\x01N."), "pickle protocol 1; 2 to 4 are read"},
  };
  for (const auto& [bytes, message] : all) {
    EXPECT_NE(refusal_of(bytes).find(message), std::string::npos) << message << ": " << refusal_of(bytes);
  }
}

TEST(snapshot, a_broken_stack_or_memo_is_refused) {
  for (const std::string& ops : {std::string("a"),
                                 std::string("e"),
                                 std::string("s"),
                                 std::string("u"),
                                 std::string("t"),
                                 std::string("\x86"),
                                 std::string("Na"),
                                 std::string("N(Ne"),
                                 std::string("NNNs"),
                                 std::string("}(Nu"),
                                 std::string("](K\x01\x86"),
                                 std::string("l"),
                                 std::string("d"),
                                 std::string("h\x01"),
                                 std::string("Nq\x02"),
                                 std::string("q\x01"),
                                 std::string("\x94"),
                                 "Nr" + little(UINT32_MAX, 4),
                                 "Nq" + std::string(1, '\0') + "j" + little(1, 4),
                                 std::string("("),
                                 std::string("}(")}) {
    EXPECT_NE(refusal_of(pickle(ops)), "") << ops;
  }
}

TEST(snapshot, counts_and_nesting_beyond_all_snapshots_are_refused) {
  EXPECT_NE(refusal_of(pickle(std::string(100, '('))).find("nested more than 64 deep"), std::string::npos);
  EXPECT_NE(refusal_of(pickle(std::string((std::size_t{1} << 22) + 1, 'N'))).find("more than 4194304 values"),
            std::string::npos);
  std::string traces = "](";
  for (int i = 0; i < 1025; ++i) traces += "]";
  EXPECT_NE(refusal_of(pickle(dict({{"device_traces", traces + "e"}}))).find("traces of more than 1024 devices"),
            std::string::npos);
  // A length that the file does not have asks for no memory.
  EXPECT_NE(refusal_of("\x80\x04X" + little(UINT32_MAX, 4) + "x").find("the file ends early"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x04\x8b" + little(0x7fffffff, 4) + "x").find("the file ends early"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x04\x8b" + little(0x80000000U, 4) + "x").find("a number of negative length"),
            std::string::npos);
}

TEST(snapshot, stacks_of_shared_frames_are_passed_over_however_they_are_put_together) {
  // The second of these is not what picklers write, and has to come to the same.
  for (const std::string& frames : {std::string("](h\0j\0\0\0\0e", 10), std::string("](h\0K\x01h\0eK\x02"
                                                                                    "a",
                                                                                    12)}) {
    const std::string entry_with_frames = dict({{"action", text("alloc") + "\x94"},
                                                {"addr", integer(4096)},
                                                {"size", integer(8)},
                                                {"stream", std::string("K\0", 2)},
                                                {"frames", frames}});
    EXPECT_EQ(lines_of(read_text(snapshot({}, {{entry_with_frames, entry("alloc", 8192, 16)}})).events),
              "allocate 4096: 8 bytes @0\nallocate 8192: 16 bytes @5 t=1000\n");
  }
  const std::string unknown = snapshot({}, {{dict({{"action", text("alloc") + "\x94"},
                                                   {"frames", std::string("](h\0h\x09"
                                                                          "e",
                                                                          7)}})}});
  EXPECT_EQ(refusal_of(unknown),
            "t at byte " + std::to_string(unknown.find("h\x09")) + ": fetches from the memo what was not put there");
}

TEST(snapshot, a_memo_beyond_all_snapshots_is_refused) {
  std::string numbers = "](";
  for (std::size_t i = 0; i <= pickle_memo::numbers_max; ++i) numbers += "K\x01\x94";
  EXPECT_NE(refusal_of(pickle(numbers + "e")).find("more than 65536 numbers in the memo"), std::string::npos);
  EXPECT_NE(refusal_of("\x80\x04N" + std::string(pickle_memo::puts_max + 1, '\x94'))
                .find("more than 134217728 values in the memo"),
            std::string::npos);
}

TEST(snapshot, packed_it_is_the_same_and_refused_the_same) {
  const std::string bytes = snapshot({}, {{entry("alloc", 4096, 8)}});
  EXPECT_EQ(read_text(gzipped(bytes)).events.size(), 1U);
  const std::string packed = gzipped(bytes);
  EXPECT_NE(refusal_of(std::string_view(packed).substr(0, packed.size() / 2)).find("the gzip data ends early"),
            std::string::npos);
  EXPECT_EQ(refusal_of(gzipped(pickle("cos\nsystem\n"))),
            "t at unpacked byte 2: the opcode GLOBAL could run code: refused");
  // 128 MiB that pack to a thousandth.
  EXPECT_NE(refusal_of(gzipped("\x80\x04N" + std::string(std::size_t{128} << 20, '\x94')))
                .find("unpacks to more than 400 times"),
            std::string::npos);
}

TEST(snapshot, nothing_is_told_of_a_file_that_is_refused_at_its_end) {
  const std::string bytes = snapshot({}, {{entry("alloc", 4096, 8)}});
  read_options from_empty;
  from_empty.from_empty = true;
  const reading cut = read_text(std::string_view(bytes).substr(0, bytes.size() - 1), from_empty);
  EXPECT_NE(cut.refusal, "");
  EXPECT_EQ(cut.events.size(), 0U);
}

TEST(snapshot, a_shared_entry_says_nothing_twice) {
  // The same dict twice in one trace, by the memo: no pickler of a snapshot writes that.
  const std::string twice = "](" + entry("alloc", 1, 1) + "\x94" + std::string("h\0", 2) + "e";
  EXPECT_NE(refusal_of(pickle(dict({{"device_traces", list({twice})}}))).find("expected an event"), std::string::npos);
}

}  // namespace
}  // namespace arcalloc::trace
