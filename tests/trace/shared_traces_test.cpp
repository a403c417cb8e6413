// SPDX-License-Identifier: Apache-2.0
// Real traces, which are not part of the repository: their counts, their peaks where others have said them, and the way
// through every format and back.
#include <gtest/gtest.h>

#include "reading.hpp"
#include "trace/formats/csv_writer.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/snapshot_writer.hpp"
#include "trace/formats/trace_summary.hpp"

namespace arcalloc::trace {
namespace {

struct expected {
  const char* file;
  trace_format format;
  std::uint64_t allocates;           ///< in the recording
  std::uint64_t frees;               ///< of blocks allocated in it
  std::uint64_t frees_of_before;     ///< of blocks never seen allocated
  std::uint64_t requested_peak_mib;  ///< with what was there before; 0: nobody says
  std::uint64_t reserved_peak_mib;
  std::uint64_t unit_bytes = 1;
};

class shared_trace : public ::testing::TestWithParam<expected> {
 protected:
  void SetUp() override {
    const auto found = shared_file(GetParam().file);
    if (!found) GTEST_SKIP() << "no shared data: " << GetParam().file;
    path_ = *found;
    options_.unit_bytes = GetParam().unit_bytes;
  }

  void expect_what_is_known();
  void expect_what_is_known_from_empty();
  void expect_the_same_life_in_every_format();

  template <class Writer>
  std::string written_to(const std::string& path, trace_summary*& summary) {
    string_sink out;
    Writer writer(out);
    summaries_.push_back(std::make_unique<trace_summary>(&writer));
    summary = summaries_.back().get();
    read_trace(path, options_, *summary);
    writer.finish();
    return out.bytes();
  }

  std::string path_;
  read_options options_;
  std::vector<std::unique_ptr<trace_summary>> summaries_;
};

std::uint64_t mebibytes(std::uint64_t bytes) { return (bytes + (1U << 19)) >> 20; }

TEST_P(shared_trace, holds_what_is_known_of_it_and_is_the_same_life_in_every_format) {
  expect_what_is_known();
  expect_what_is_known_from_empty();
  expect_the_same_life_in_every_format();
}

void shared_trace::expect_what_is_known() {
  const expected& known = GetParam();
  trace_summary summary;
  const trace_facts facts = read_trace(path_, options_, summary);
  EXPECT_EQ(facts.format, known.format);
  EXPECT_EQ(summary.count(event_kind::allocate) - facts.blocks_before, known.allocates);
  EXPECT_EQ(summary.count(event_kind::free), known.frees + known.frees_of_before);
  EXPECT_EQ(facts.frees_made_up, 0U);
  EXPECT_EQ(facts.frees_skipped, 0U);
  EXPECT_EQ(facts.unknown_skipped, 0U);
  if (known.requested_peak_mib != 0) {
    EXPECT_EQ(mebibytes(summary.requested_bytes_peak()), known.requested_peak_mib);
  }
  if (known.reserved_peak_mib != 0) {
    EXPECT_EQ(mebibytes(summary.reserved_bytes_peak()), known.reserved_peak_mib);
  }
}

void shared_trace::expect_what_is_known_from_empty() {
  const expected& known = GetParam();
  read_options from_empty = options_;
  from_empty.from_empty = true;
  trace_summary summary;
  const trace_facts facts = read_trace(path_, from_empty, summary);
  EXPECT_EQ(summary.count(event_kind::allocate), known.allocates);
  EXPECT_EQ(summary.count(event_kind::free), known.frees);
  EXPECT_EQ(facts.frees_skipped, known.frees_of_before);
  EXPECT_EQ(facts.blocks_before, 0U);
}

void shared_trace::expect_the_same_life_in_every_format() {
  trace_summary* original = nullptr;
  const std::string own = written_to<own_writer>(path_, original);
  const auto life_of = [](const std::string& bytes) {
    trace_summary summary;
    read_trace(*source_of("t", bytes), {}, summary);
    return summary.blocks_hash();
  };
  ASSERT_EQ(life_of(own), original->blocks_hash());
  trace_summary* through = nullptr;
  EXPECT_EQ(life_of(written_to<csv_writer>(path_, through)), original->blocks_hash());
  EXPECT_EQ(life_of(written_to<snapshot_writer>(path_, through)), original->blocks_hash());
}

constexpr auto snapshots = trace_format::snapshot;
constexpr auto lifetimes = trace_format::lifetimes;

INSTANTIATE_TEST_SUITE_P(
    of, shared_trace,
    ::testing::Values(expected{"snapshots/inference_512.pickle", snapshots, 1666, 1666, 0, 1859, 1890},
                      expected{"snapshots/inference_1024.pickle", snapshots, 1280, 1280, 0, 2744, 3056},
                      expected{"snapshots/training_512.pickle", snapshots, 7591, 6932, 438, 11851, 12074},
                      expected{"snapshots/training_large.pickle", snapshots, 1721, 1719, 2, 13279, 13524},
                      expected{"snapshots/compiled.pickle", snapshots, 2162, 1940, 222, 3671, 4042},
                      expected{"snapshots/attention_small.pickle", snapshots, 36, 26, 0, 3099, 3606},
                      expected{"snapshots/opt125m_cold.pickle", snapshots, 7946, 7549, 0, 1701, 1810},
                      expected{"traces/ddp_training_v100.json.gz", trace_format::profiler, 13385, 13385, 0, 6322,
                               12190},
                      expected{"traces/stories260K_decode_libtorch.csv", trace_format::csv, 52224, 52214, 0, 0, 0},
                      expected{"lifetimes/A.1048576.csv", lifetimes, 154, 154, 0, 1024, 0, 1024},
                      expected{"lifetimes/B.1048576.csv", lifetimes, 170, 170, 0, 1024, 0, 1024},
                      expected{"lifetimes/C.1048576.csv", lifetimes, 203, 203, 0, 1015, 0, 1024},
                      expected{"lifetimes/D.1048576.csv", lifetimes, 213, 213, 0, 963, 0, 1024},
                      expected{"lifetimes/E.1048576.csv", lifetimes, 215, 215, 0, 1024, 0, 1024},
                      expected{"lifetimes/F.1048576.csv", lifetimes, 296, 296, 0, 1024, 0, 1024},
                      expected{"lifetimes/G.1048576.csv", lifetimes, 308, 308, 0, 1024, 0, 1024},
                      expected{"lifetimes/H.1048576.csv", lifetimes, 316, 316, 0, 1024, 0, 1024},
                      expected{"lifetimes/I.1048576.csv", lifetimes, 374, 374, 0, 1024, 0, 1024},
                      expected{"lifetimes/J.1048576.csv", lifetimes, 409, 409, 0, 966, 0, 1024},
                      expected{"lifetimes/K.1048576.csv", lifetimes, 454, 454, 0, 1024, 0, 1024},
                      expected{"lifetimes/pangu_2.6B.csv", lifetimes, 18692, 18692, 0, 5274, 0}),
    [](const auto& one) {
      std::string name = one.param.file;
      for (char& c : name) c = c == '/' || c == '.' ? '_' : c;
      return name;
    });

TEST(shared_traces, most_ever_live_of_a_language_model_to_the_byte) {
  const auto found = shared_file("lifetimes/pangu_2.6B.csv");
  if (!found) GTEST_SKIP() << "no shared data: lifetimes/pangu_2.6B.csv";
  trace_summary summary;
  read_trace(*found, {}, summary);
  EXPECT_EQ(summary.requested_bytes_peak(), 5'530'099'775U);
}

}  // namespace
}  // namespace arcalloc::trace
