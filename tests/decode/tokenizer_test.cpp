// SPDX-License-Identifier: Apache-2.0
#include "decode/tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "files.hpp"

namespace arcalloc::decode {
namespace {

class small_tokenizer : public testing::Test {
 protected:
  /// The id of a piece.
  [[nodiscard]] std::int32_t id(const std::string& piece) const {
    const auto at = std::find(pieces_.begin(), pieces_.end(), piece);
    EXPECT_NE(at, pieces_.end()) << piece;
    return static_cast<std::int32_t>(at - pieces_.begin());
  }

  [[nodiscard]] static std::string printed(const tokenizer& reader, const std::vector<std::int32_t>& tokens) {
    std::string text;
    std::int32_t previous = token_of_start;
    for (const std::int32_t token : tokens) {
      reader.append_piece(previous, token, text);
      previous = token;
    }
    return text;
  }

  [[nodiscard]] std::string refusal(const std::vector<char>& bytes, std::size_t vocabulary = 300) const {
    const std::string path = directory_.write("tokenizer.bin", bytes);
    const std::string message = refusal_of([&] { const tokenizer reader(path, vocabulary); });
    if (message.empty()) return message;
    EXPECT_EQ(message.substr(0, path.size() + 2), path + ": ");
    return message.substr(path.size() + 2);
  }

  std::vector<std::string> pieces_ = small_pieces();
  std::vector<char> bytes_ = tokenizer_bytes(pieces_);
  temporary_directory directory_;
  tokenizer reader_{directory_.write("small.bin", bytes_), 300};
};

using tokens = std::vector<std::int32_t>;

TEST_F(small_tokenizer, nothing_encodes_to_nothing) { EXPECT_EQ(reader_.encode(""), tokens{}); }

TEST_F(small_tokenizer, a_space_goes_in_front_and_the_best_scored_neighbours_merge_first) {
  // " ", t, h, e: he scores better than " t", and " the" joins both.
  EXPECT_EQ(reader_.encode("the"), tokens{id(" the")});
  // h, e, r, e: he first, then re; er, which overlaps both, comes too late.
  EXPECT_EQ(reader_.encode("here"), (tokens{id(" "), id("he"), id("re")}));
  EXPECT_EQ(reader_.encode("ere"), (tokens{id(" "), id("e"), id("re")}));
  EXPECT_EQ(reader_.encode(" a"), (tokens{id(" "), id(" "), id("a")}));
}

TEST_F(small_tokenizer, of_equal_merges_the_first_is_made) {
  EXPECT_EQ(reader_.encode("rere"), (tokens{id(" "), id("re"), id("re")}));
  EXPECT_EQ(reader_.encode("aaa"), (tokens{id(" "), id("aa"), id("a")}));
}

TEST_F(small_tokenizer, characters_of_several_bytes_are_one_token_and_may_merge) {
  EXPECT_EQ(reader_.encode("\u20ac"), (tokens{id(" "), id("\u20ac")}));
  EXPECT_EQ(reader_.encode("\u00e4h"), (tokens{id(" "), id("\u00e4h")}));
}

TEST_F(small_tokenizer, an_unknown_character_falls_back_to_its_bytes) {
  EXPECT_EQ(reader_.encode("X"), (tokens{id(" "), id("<0x58>")}));
  EXPECT_EQ(reader_.encode("\u00dc"), (tokens{id(" "), id("<0xC3>"), id("<0x9C>")}));
  EXPECT_EQ(reader_.encode("\U0001F600"), (tokens{id(" "), id("<0xF0>"), id("<0x9F>"), id("<0x98>"), id("<0x80>")}));
  // Bytes that continue no character, and more of them than a character can have.
  EXPECT_EQ(reader_.encode("\x80\x81\x82\x83\x84"),
            (tokens{id(" "), id("<0x80>"), id("<0x81>"), id("<0x82>"), id("<0x83>"), id("<0x84>")}));
}

TEST_F(small_tokenizer, text_goes_round) {
  for (const char* text : {"the", "there", "T", " the", "a b  c", "line\nline\ttab", "here, there.", "\u00e4h\u20ac!",
                           "UPPER lower 0123456789", "the the the"}) {
    EXPECT_EQ(printed(reader_, reader_.encode(text)), text);
  }
}

TEST_F(small_tokenizer, a_leading_space_is_dropped_after_the_token_of_start_only) {
  std::string text;
  reader_.append_piece(token_of_start, id(" the"), text);
  reader_.append_piece(id(" the"), id(" the"), text);
  EXPECT_EQ(text, "the the");
}

TEST_F(small_tokenizer, a_byte_token_prints_its_byte_if_that_alone_is_printable) {
  std::string text;
  for (const char* piece : {"<0x41>", "<0x7e>", "<0x0A>", "<0x09>", "<0x20>"}) {
    const std::string upper = piece == std::string("<0x7e>") ? "<0x7E>" : piece;
    reader_.append_piece(2, id(upper), text);
  }
  EXPECT_EQ(text, "A~\n\t ");
  for (const char* piece : {"<0x00>", "<0x07>", "<0x1F>", "<0x7F>", "<0x80>", "<0xFF>"}) {
    reader_.append_piece(2, id(piece), text);
  }
  EXPECT_EQ(text, "A~\n\t ");
}

TEST_F(small_tokenizer, what_only_looks_like_a_byte_token_prints_as_it_is) {
  std::vector<std::string> pieces = pieces_;
  const std::vector<std::string> lookalikes{"<0xG1>", "<0x1>", "<0x123>", "<1x12>", "<0x12)", "<0xaf>"};
  std::copy(lookalikes.begin(), lookalikes.end(), pieces.begin() + 270);
  const tokenizer reader(directory_.write("lookalikes.bin", tokenizer_bytes(pieces)), 300);
  std::string text;
  for (std::int32_t token = 270; token < 275; ++token) reader.append_piece(2, token, text);
  EXPECT_EQ(text, "<0xG1><0x1><0x123><1x12><0x12)");
  reader.append_piece(2, 275, text);
  EXPECT_EQ(text, "<0xG1><0x1><0x123><1x12><0x12)");  // the byte AF, unprintable
}

TEST_F(small_tokenizer, a_vocabulary_without_byte_tokens_spells_the_unknown_as_unknown) {
  const tokenizer reader(directory_.write("bare.bin", tokenizer_bytes({"<unk>", "<s>", "</s>", "a"})), 4);
  EXPECT_EQ(reader.encode("aXa"), (tokens{3, 0, 3}));
}

TEST_F(small_tokenizer, an_empty_piece_prints_nothing) {
  const tokenizer reader(directory_.write("empty.bin", tokenizer_bytes({"<unk>", "<s>", "", " a"})), 4);
  EXPECT_EQ(printed(reader, {2, 3}), " a");
}

TEST_F(small_tokenizer, a_file_cut_short_is_refused_with_the_offset) {
  EXPECT_EQ(refusal({}), "the file ends early at offset 0");
  EXPECT_EQ(refusal({bytes_.begin(), bytes_.begin() + 3}), "the file ends early at offset 3");
  EXPECT_EQ(refusal({bytes_.begin(), bytes_.begin() + 4}), "token 0 of 300 is cut off at offset 4");
  EXPECT_EQ(refusal({bytes_.begin(), bytes_.begin() + 14}), "the file ends early at offset 14");
  EXPECT_EQ(refusal({bytes_.begin(), bytes_.end() - 1}),
            "the file ends early at offset " + std::to_string(bytes_.size() - 1));
  for (std::size_t length = 0; length < bytes_.size(); length += 13) {
    ASSERT_NE(refusal({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(length)}), "") << length;
  }
}

TEST_F(small_tokenizer, a_vocabulary_of_another_size_is_refused) {
  EXPECT_EQ(refusal(bytes_, 301), "token 300 of 301 is cut off at offset " + std::to_string(bytes_.size()));
  EXPECT_EQ(refusal(bytes_, 299),
            "9 bytes too many after 299 tokens, which end at offset " + std::to_string(bytes_.size() - 9));
}

TEST_F(small_tokenizer, lengths_and_scores_that_cannot_be_are_refused) {
  for (const std::int32_t longest : {0, -1, INT32_MIN, INT32_MAX}) {
    std::vector<char> bytes = bytes_;
    put_int32(bytes, 0, longest);
    EXPECT_EQ(refusal(bytes), "the longest token is said to have " + std::to_string(longest) + " bytes at offset 0");
  }
  for (const std::int32_t length : {-1, 7, INT32_MIN, INT32_MAX}) {
    std::vector<char> bytes = bytes_;
    put_int32(bytes, 8, length);
    EXPECT_EQ(refusal(bytes), "token 0 has length " + std::to_string(length) + ", outside 0..6, at offset 8");
  }
  std::vector<char> bytes = bytes_;
  put_int32(bytes, 4, 0x7fc00000);
  EXPECT_EQ(refusal(bytes), "the score of token 0 is no number at offset 4");
}

TEST_F(small_tokenizer, a_missing_file_is_refused) {
  EXPECT_EQ(refusal_of([] { const tokenizer reader("/nowhere/tok.bin", 300); }),
            "/nowhere/tok.bin: cannot be opened: No such file or directory");
}

TEST(shared_tokenizer, takes_english_in_pieces_and_puts_it_together_again) {
  const auto path = shared_file("model/tok512.bin");
  if (!path) GTEST_SKIP() << "no shared data: model/tok512.bin";
  const tokenizer reader(*path, 512);
  const std::string text = "Once upon a time, there was a little girl named Lily. She said, \"Hello!\"\n";
  const tokens encoded = reader.encode(text);
  EXPECT_LT(encoded.size(), text.size() * 2 / 3);
  std::string again;
  std::int32_t previous = token_of_start;
  for (const std::int32_t token : encoded) {
    reader.append_piece(previous, token, again);
    previous = token;
  }
  EXPECT_EQ(again, text);
}

}  // namespace
}  // namespace arcalloc::decode
