// SPDX-License-Identifier: Apache-2.0
#include "decode/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "devices.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

session_outcome run(const session_settings& settings, const options& policy = {},
                    std::uint64_t device_bytes = 256 * mebibyte) {
  host_backend device(device_bytes);
  const allocator_ptr memory = make_allocator(device, policy);
  session_outcome outcome = run_session(*memory, settings, [](std::size_t) {});
  EXPECT_EQ(counters_of(*memory).blocks_live, 0U);
  return outcome;
}

class small_model : public testing::Test {
 protected:
  [[nodiscard]] session_settings settings(std::size_t tokens) const {
    return {.model_path = model_, .tokenizer_path = tokenizer_, .tokens = tokens};
  }

  temporary_directory directory_;
  std::string model_ = directory_.write("model.bin", model_bytes(small_config()));
  std::string tokenizer_ = directory_.write("tokenizer.bin", tokenizer_bytes(small_pieces()));
};

TEST(golden, the_shared_model_writes_the_text_of_llama2c_to_the_letter) {
  const auto model = shared_file("model/stories260K.bin");
  const auto tokenizer = shared_file("model/tok512.bin");
  const auto golden = shared_file("model/greedy256.txt");
  if (!model || !tokenizer || !golden) GTEST_SKIP() << "no shared data: model/";
  for (const options& policy : {options{}, options_off(), options_unbounded()}) {
    for (const kv_mode kv : {kv_mode::concat, kv_mode::preallocated}) {
      const session_outcome outcome =
          run({.model_path = *model, .tokenizer_path = *tokenizer, .tokens = 256, .kv = kv}, policy);
      EXPECT_EQ(outcome.outcome, status::ok);
      EXPECT_EQ(outcome.tokens_done, 256U);
      EXPECT_EQ(outcome.text + "\n", text_of(*golden));
    }
  }
}

TEST(golden, a_prompt_is_printed_and_continued_as_the_model_itself_would) {
  const auto model = shared_file("model/stories260K.bin");
  const auto tokenizer = shared_file("model/tok512.bin");
  const auto golden = shared_file("model/greedy256.txt");
  if (!model || !tokenizer || !golden) GTEST_SKIP() << "no shared data: model/";
  // The model begins with these words by itself: given as a prompt, they lead to the same text.
  const std::string text = text_of(*golden);
  const std::string prompt = text.substr(0, text.find(',') + 1);
  const session_outcome outcome =
      run({.model_path = *model, .tokenizer_path = *tokenizer, .prompt = prompt, .tokens = 100});
  EXPECT_EQ(outcome.tokens_done, 100U);
  EXPECT_GT(outcome.text.size(), prompt.size() + 100);
  EXPECT_EQ(outcome.text, text.substr(0, outcome.text.size()));
}

TEST(seeded_session, its_tokens_vary_and_are_printed_as_numbers) {
  const session_outcome outcome = run({.config_name = "demo-3m", .tokens = 64});
  ASSERT_EQ(outcome.tokens.size(), 64U);
  const std::set<std::int32_t> distinct(outcome.tokens.begin(), outcome.tokens.end());
  EXPECT_GT(distinct.size(), 32U);
  std::string expected;
  for (const std::int32_t token : outcome.tokens) {
    EXPECT_GE(token, 0);
    EXPECT_LT(token, 2048);
    if (!expected.empty()) expected += ' ';
    expected += std::to_string(token);
  }
  EXPECT_EQ(outcome.text, expected);
}

TEST(seeded_session, its_tokens_do_not_depend_on_the_cache_the_policy_or_the_run) {
  for (const std::size_t context : {std::size_t{0}, std::size_t{33}}) {
    const session_settings settings{.config_name = "demo-3m", .tokens = 40, .context = context};
    session_settings preallocated = settings;
    preallocated.kv = kv_mode::preallocated;
    const std::vector<std::int32_t> expected = run(settings).tokens;
    EXPECT_EQ(run(settings).tokens, expected);
    EXPECT_EQ(run(preallocated).tokens, expected);
    EXPECT_EQ(run(settings, options_off()).tokens, expected);
    EXPECT_EQ(run(settings, options_unbounded()).tokens, expected);
  }
}

TEST(seeded_session, a_context_changes_what_follows) {
  EXPECT_NE(run({.config_name = "demo-3m", .tokens = 20}).tokens,
            run({.config_name = "demo-3m", .tokens = 20, .context = 5}).tokens);
}

TEST_F(small_model, the_callback_is_called_with_every_count_in_turn_in_the_decode_phase) {
  host_backend device(16 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  std::vector<std::size_t> calls;
  std::vector<std::uint64_t> steps;
  const session_outcome outcome = run_session(*memory, settings(7), [&](std::size_t done) {
    calls.push_back(done);
    steps.push_back(counters_of(*memory).steps);
    EXPECT_EQ(memory->current_phase(), phase::decode);
  });
  EXPECT_EQ(calls, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(outcome.at_decode_start.steps, 0U);
  EXPECT_EQ(outcome.at_half.steps, 3U);
  EXPECT_EQ(outcome.at_end.steps, 7U);
  EXPECT_GT(outcome.decode_seconds, 0.0);
}

TEST_F(small_model, a_prefill_is_a_phase_of_its_own_only_where_there_is_one) {
  const auto prefill_requests = [](const session_settings& given) { return run(given).at_decode_start.bypassed_phase; };
  EXPECT_EQ(prefill_requests(settings(2)), 0U);
  session_settings with_context = settings(2);
  with_context.context = 9;
  EXPECT_EQ(prefill_requests(with_context), 4U);  // keys and values of two layers
  session_settings with_prompt = settings(2);
  with_prompt.prompt = "the a";  // start, " the", " ", a: the last of them is the first step's
  EXPECT_EQ(prefill_requests(with_prompt), 3U * (1 + 2 * 28));
}

TEST_F(small_model, the_sequence_can_be_filled_to_its_end_and_not_beyond) {
  EXPECT_EQ(run(settings(64)).tokens_done, 64U);
  session_settings full = settings(10);
  full.prompt = "the a";
  full.context = 51;  // 51 + 3 absorbed + 10
  EXPECT_EQ(run(full).tokens_done, 10U);
  full.context = 52;
  EXPECT_EQ(refusal_of([&] { run(full); }),
            "context 52, prompt 4 and tokens 10 exceed the model's sequence of 64 positions");
  EXPECT_EQ(refusal_of([&] { run(settings(65)); }),
            "context 0, prompt 1 and tokens 65 exceed the model's sequence of 64 positions");
  session_settings vast = settings(SIZE_MAX);
  vast.context = SIZE_MAX;
  EXPECT_NE(refusal_of([&] { run(vast); }), "");
}

TEST_F(small_model, a_prompt_far_too_long_is_refused_without_encoding_it) {
  session_settings vast = settings(1);
  vast.prompt.assign(std::size_t{1} << 24, 'x');
  EXPECT_NE(refusal_of([&] { run(vast); }).find("exceed the model's sequence of 64 positions"), std::string::npos);
}

TEST_F(small_model, contradictory_settings_are_refused_by_name) {
  EXPECT_EQ(refusal_of([&] { run(settings(0)); }), "tokens must be at least 1");
  EXPECT_EQ(refusal_of([&] { run({.model_path = model_, .tokens = 1}); }), model_ + ": a model file needs a tokenizer");
  EXPECT_EQ(refusal_of([&] { run({.tokenizer_path = tokenizer_, .config_name = "demo-3m", .tokens = 1}); }),
            tokenizer_ + ": a tokenizer is of use only with a model file");
  EXPECT_EQ(refusal_of([&] { run({.config_name = "demo-3m", .prompt = "the", .tokens = 1}); }),
            "a prompt needs a tokenizer, and configuration demo-3m has none");
  session_settings both = settings(1);
  both.config_name = "demo-3m";
  EXPECT_EQ(refusal_of([&] { run(both); }),
            "a model file (" + model_ + ") and a configuration (demo-3m) exclude each other");
  EXPECT_NE(refusal_of([&] { run({.config_name = "none", .tokens = 1}); }), "");
}

/// A model without layers' effect, in which the start makes the letter a, and that makes the start.
std::vector<char> stopping_model() {
  const model_config config = small_config();
  std::vector<char> bytes = model_bytes(config);
  std::fill(bytes.begin() + 28, bytes.end(), '\0');
  const auto put = [&](std::size_t element, float value) {
    std::memcpy(bytes.data() + 28 + element * sizeof value, &value, sizeof value);
  };
  const std::size_t a = 265;
  const std::size_t classifier =
      parameters(config) - config.vocabulary * config.dim + config.sequence * config.head_dim();
  for (std::size_t i = 0; i < config.dim; ++i) {
    put(parameters(config) - config.vocabulary * config.dim - config.dim + i, 1);  // final norm
  }
  put(1 * config.dim + 3, 1);
  put(classifier + a * config.dim + 3, 1);
  put(a * config.dim + 5, 1);
  put(classifier + 1 * config.dim + 5, 1);
  return bytes;
}

TEST_F(small_model, a_sampled_start_ends_the_text_and_the_run_is_complete) {
  session_settings stopping = settings(20);
  stopping.model_path = directory_.write("stopping.bin", stopping_model());
  const session_outcome outcome = run(stopping);
  EXPECT_EQ(outcome.outcome, status::ok);
  EXPECT_EQ(outcome.tokens, (std::vector<std::int32_t>{265}));
  EXPECT_EQ(outcome.tokens_done, 1U);
  EXPECT_EQ(outcome.text, "a");
  EXPECT_EQ(outcome.at_end.steps, 2U);
  EXPECT_EQ(outcome.at_half.steps, outcome.at_end.steps);
}

}  // namespace
}  // namespace arcalloc::decode
