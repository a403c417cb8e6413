// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "reading.hpp"
#include "trace/formats/spool.hpp"

namespace arcalloc::trace {
namespace {

std::string all_of(byte_source& from) {
  std::string bytes;
  for (std::string_view ahead = from.ahead(); !ahead.empty(); ahead = from.ahead()) {
    bytes += ahead;
    from.skip(ahead.size());
  }
  return bytes;
}

std::string numbers(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::to_string(i) + '\n';
  return text;
}

/// A file of these bytes that lives as long as the object.
class temporary_file {
 public:
  explicit temporary_file(std::string_view bytes)
      : path_(::testing::TempDir() + "/arcalloc-trace-" + std::to_string(::getpid())) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(byte_source, a_file_is_read_front_to_back_and_again) {
  const std::string text = numbers(200000);
  const temporary_file file(text);
  const auto from = open_source(file.path());
  EXPECT_EQ(all_of(*from), text);
  EXPECT_EQ(from->offset(), text.size());
  from->rewind();
  EXPECT_EQ(from->offset(), 0U);
  EXPECT_EQ(all_of(*from), text);
}

TEST(byte_source, what_is_asked_for_together_is_shown_together) {
  const std::string text = numbers(200000);
  const temporary_file file(text);
  const auto from = open_source(file.path());
  std::uint64_t at = 0;
  while (at < text.size()) {
    const std::string_view ahead = from->ahead_of(60000);
    ASSERT_GE(ahead.size(), std::min<std::size_t>(60000, text.size() - at));
    ASSERT_EQ(ahead.substr(0, 100), std::string_view(text).substr(at, std::min<std::size_t>(ahead.size(), 100)));
    const std::size_t step = std::min<std::size_t>(ahead.size(), 7001);
    from->skip(step);
    at += step;
    ASSERT_EQ(from->offset(), at);
  }
  EXPECT_TRUE(from->ahead_of(1).empty());
}

TEST(byte_source, bytes_can_be_passed_over_unseen) {
  const std::string text = numbers(200000);
  const temporary_file file(text);
  const auto from = open_source(file.path());
  EXPECT_TRUE(from->skip_unseen(1000000));
  EXPECT_EQ(from->ahead().substr(0, 20), std::string_view(text).substr(1000000, 20));
  EXPECT_FALSE(from->skip_unseen(text.size()));
}

TEST(byte_source, a_file_that_cannot_be_read_is_named) {
  for (const std::string& path : {std::string("/nowhere/t.csv"), ::testing::TempDir()}) {
    try {
      static_cast<void>(open_source(path));
      ADD_FAILURE() << path << " was opened";
    } catch (const trace_error& error) {
      EXPECT_EQ(error.message.rfind("cannot read " + path + ": ", 0), 0U) << error.message;
    }
  }
}

TEST(byte_source, gzip_is_unpacked_whatever_the_name) {
  const std::string text = numbers(200000);
  const std::string packed = gzipped(text);
  const auto from = source_of("t", packed);
  EXPECT_EQ(all_of(*from), text);
  from->rewind();
  EXPECT_EQ(all_of(*from), text);
  // Several members are one text.
  const std::string twice = packed + packed;
  EXPECT_EQ(all_of(*source_of("t", twice)), text + text);
  const temporary_file file(packed);
  EXPECT_EQ(all_of(*open_source(file.path())), text);
}

std::string refusal_of_all(std::string_view bytes) {
  try {
    all_of(*source_of("t", bytes));
  } catch (const trace_error& error) {
    return error.message;
  }
  return {};
}

TEST(byte_source, gzip_that_is_cut_or_damaged_is_refused) {
  const std::string packed = gzipped(numbers(5000));
  for (std::size_t size = 2; size < packed.size(); size += 101) {
    EXPECT_EQ(refusal_of_all(std::string_view(packed).substr(0, size)),
              "t at byte " + std::to_string(size) + ": the gzip data ends early");
  }
  std::string damaged = packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_NE(refusal_of_all(damaged).find("damaged gzip data"), std::string::npos);
  EXPECT_NE(refusal_of_all(packed + "x").find("gzip data"), std::string::npos);
}

TEST(byte_source, what_unpacks_to_far_more_than_it_is_is_refused) {
  const std::string bomb = gzipped(std::string(std::size_t{70} << 20, '0'));
  ASSERT_LT(bomb.size(), std::size_t{1} << 18);
  EXPECT_NE(refusal_of_all(bomb).find("unpacks to more than 400 times its size"), std::string::npos);
}

TEST(spool, gives_back_what_was_put_aside) {
  spool aside;
  const std::string text = numbers(100000);
  aside.write(std::string_view(text).substr(0, 77));
  aside.write(std::string_view(text).substr(77));
  EXPECT_EQ(all_of(*aside.read()), text);
}

TEST(spool, gives_back_more_than_it_keeps_in_memory) {
  spool aside;
  const std::string text = numbers(400000);
  ASSERT_GT(text.size(), std::size_t{2} << 20);
  for (std::size_t at = 0; at < text.size(); at += 1000) aside.write(std::string_view(text).substr(at, 1000));
  EXPECT_EQ(all_of(*aside.read()), text);
}

}  // namespace
}  // namespace arcalloc::trace
