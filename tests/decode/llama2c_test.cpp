// SPDX-License-Identifier: Apache-2.0
#include "decode/llama2c.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>

#include "decode/host_executor.hpp"
#include "devices.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

class llama2c_files : public testing::Test {
 protected:
  [[nodiscard]] std::string refusal(const std::vector<char>& bytes) const {
    const std::string path = directory_.write("model.bin", bytes);
    const std::string message = refusal_of([&] { const llama2c_model model(path); });
    if (message.empty()) return message;
    EXPECT_EQ(message.substr(0, path.size() + 2), path + ": ");
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(path.size() + 2);
  }

  [[nodiscard]] std::string refusal_with(std::size_t offset, std::int32_t value) const {
    std::vector<char> bytes = model_bytes(small_config());
    put_int32(bytes, offset, value);
    return refusal(bytes);
  }

  temporary_directory directory_;
};

TEST_F(llama2c_files, the_header_is_read) {
  for (const bool tied : {false, true}) {
    model_config config = small_config();
    config.tied = tied;
    const llama2c_model model(directory_.write("model.bin", model_bytes(config)));
    EXPECT_EQ(model.config(), config);
  }
}

TEST_F(llama2c_files, each_weight_is_found_at_its_place_in_the_file) {
  const model_config config = small_config();
  const std::vector<char> bytes = model_bytes(config);
  const llama2c_model model(directory_.write("model.bin", bytes));
  host_backend device(mebibyte);
  const allocator_ptr memory = make_allocator(device);
  tensor_source tensors{*memory, default_stream};
  host_executor compute;
  const operations ops{tensors, compute};

  const auto expect_at = [&](weight_name name, std::size_t floats_before) {
    const tensor found = model.make(ops, name);
    ASSERT_EQ(found.extents(), weight_shape(config, name.kind));
    EXPECT_EQ(std::memcmp(found.data(), bytes.data() + 28 + floats_before * sizeof(float), found.bytes()), 0)
        << "kind " << static_cast<int>(name.kind) << ", layer " << name.layer;
  };
  // dim 16, hidden 24, two layers, kv dim 8, vocabulary 300, sequence 64, head dim 4; in the file's order.
  expect_at({weight_kind::embedding}, 0);
  expect_at({weight_kind::attention_norm, 0}, 4800);
  expect_at({weight_kind::attention_norm, 1}, 4816);
  expect_at({weight_kind::query, 0}, 4832);
  expect_at({weight_kind::query, 1}, 5088);
  expect_at({weight_kind::key, 0}, 5344);
  expect_at({weight_kind::key, 1}, 5472);
  expect_at({weight_kind::value, 0}, 5600);
  expect_at({weight_kind::value, 1}, 5728);
  expect_at({weight_kind::attention_output, 0}, 5856);
  expect_at({weight_kind::attention_output, 1}, 6112);
  expect_at({weight_kind::feed_norm, 0}, 6368);
  expect_at({weight_kind::feed_norm, 1}, 6384);
  expect_at({weight_kind::gate, 0}, 6400);
  expect_at({weight_kind::gate, 1}, 6784);
  expect_at({weight_kind::down, 0}, 7168);
  expect_at({weight_kind::down, 1}, 7552);
  expect_at({weight_kind::up, 0}, 7936);
  expect_at({weight_kind::up, 1}, 8320);
  expect_at({weight_kind::final_norm}, 8704);
  expect_at({weight_kind::classifier}, 8720 + 2 * 64 * 2);
}

TEST_F(llama2c_files, a_file_cut_at_any_length_is_refused_with_the_offset) {
  const std::vector<char> whole = model_bytes(small_config());
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{27}}) {
    EXPECT_EQ(refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}),
              "a header of 28 bytes is expected, the file ends at offset " + std::to_string(length));
  }
  for (const std::size_t length : {std::size_t{28}, std::size_t{4096}, whole.size() - 4, whole.size() - 1}) {
    EXPECT_EQ(refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}),
              "the header asks for " + std::to_string(whole.size()) + " bytes, the file ends at offset " +
                  std::to_string(length));
  }
}

TEST_F(llama2c_files, trailing_bytes_are_refused) {
  std::vector<char> bytes = model_bytes(small_config());
  const std::size_t end = bytes.size();
  bytes.insert(bytes.end(), 3, 'x');
  EXPECT_EQ(refusal(bytes), "3 bytes too many after the weights, which end at offset " + std::to_string(end));
}

TEST_F(llama2c_files, a_field_out_of_range_is_named_with_its_offset) {
  for (const std::int32_t value : {0, -16, INT32_MIN, INT32_MAX, 0x616b3432}) {
    EXPECT_EQ(refusal_with(0, value), "dim is " + std::to_string(value) + ", outside 2..65536, at offset 0");
  }
  EXPECT_EQ(refusal_with(4, -1), "hidden is -1, outside 1..1048576, at offset 4");
  EXPECT_EQ(refusal_with(8, 0), "layers is 0, outside 1..1024, at offset 8");
  EXPECT_EQ(refusal_with(12, -4), "heads is -4, outside 1..65536, at offset 12");
  EXPECT_EQ(refusal_with(16, 0), "kv heads is 0, outside 1..65536, at offset 16");
  EXPECT_EQ(refusal_with(20, 0), "vocabulary is 0, outside 2..4194304, at offset 20");
  EXPECT_EQ(refusal_with(20, INT32_MIN), "vocabulary is -2147483648, outside 2..4194304, at offset 20");
  EXPECT_EQ(refusal_with(20, -INT32_MAX), "vocabulary is 2147483647, outside 2..4194304, at offset 20");
  EXPECT_EQ(refusal_with(24, -64), "sequence is -64, outside 1..16777216, at offset 24");
}

TEST_F(llama2c_files, heads_that_do_not_divide_are_refused) {
  EXPECT_EQ(refusal_with(12, 3), "dim 16 does not make even-sized heads, heads are 3 at offset 12");
  EXPECT_EQ(refusal_with(12, 16), "dim 16 does not make even-sized heads, heads are 16 at offset 12");
  EXPECT_EQ(refusal_with(16, 3), "kv heads 3 do not divide heads 4 at offset 16");
  EXPECT_EQ(refusal_with(16, 8), "kv heads 8 do not divide heads 4 at offset 16");
}

TEST_F(llama2c_files, the_greatest_header_there_is_asks_for_more_than_any_file_has) {
  std::vector<char> bytes = model_bytes(small_config());
  const std::int32_t greatest[] = {1 << 16, 1 << 20, 1 << 10, 1 << 15, 1 << 15, -(1 << 22), 1 << 24};
  for (std::size_t i = 0; i < 7; ++i) put_int32(bytes, 4 * i, greatest[i]);
  EXPECT_NE(refusal(bytes).find("the header asks for 916993368915996 bytes"), std::string::npos) << refusal(bytes);
}

TEST_F(llama2c_files, what_is_not_a_file_is_refused) {
  const std::string missing = directory_.path() + "/none.bin";
  EXPECT_EQ(refusal_of([&] { const llama2c_model model(missing); }),
            missing + ": cannot be opened: No such file or directory");
  EXPECT_EQ(refusal_of([&] { const llama2c_model model(directory_.path()); }),
            directory_.path() + ": cannot be read: not a regular file");
  const std::string pipe = directory_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal_of([&] { const llama2c_model model(pipe); }), pipe + ": cannot be read: not a regular file");
  EXPECT_EQ(refusal_of([] { const llama2c_model model("/dev/zero"); }),
            "/dev/zero: cannot be read: not a regular file");
}

TEST_F(llama2c_files, a_file_that_shrinks_while_it_is_read_is_refused) {
  const std::vector<char> bytes = model_bytes(small_config());
  const std::string path = directory_.write("model.bin", bytes);
  const llama2c_model model(path);
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  host_backend device(mebibyte);
  const allocator_ptr memory = make_allocator(device);
  tensor_source tensors{*memory, default_stream};
  host_executor compute;
  const operations ops{tensors, compute};
  EXPECT_EQ(refusal_of([&] { static_cast<void>(load_weights(ops, model)); }),
            path + ": the file ends early at offset 100");
  EXPECT_EQ(counters_of(*memory).blocks_live, 0U);
}

TEST(llama2c, the_shared_model_has_its_published_number_of_parameters) {
  const auto path = shared_file("model/stories260K.bin");
  if (!path) GTEST_SKIP() << "no shared data: model/stories260K.bin";
  const llama2c_model model(*path);
  EXPECT_EQ(parameters(model.config()), 260032U);
  EXPECT_EQ(model.config(), (model_config{.dim = 64,
                                          .hidden = 172,
                                          .layers = 5,
                                          .heads = 8,
                                          .kv_heads = 4,
                                          .vocabulary = 512,
                                          .sequence = 512,
                                          .tied = true}));
}

}  // namespace
}  // namespace arcalloc::decode
