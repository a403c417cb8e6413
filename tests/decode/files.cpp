// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "decode/input_error.hpp"
#include "decode/values.hpp"

namespace arcalloc::decode {

namespace {

template <typename Value>
void append(std::vector<char>& bytes, const Value& value) {
  const std::size_t end = bytes.size();
  bytes.resize(end + sizeof value);
  std::memcpy(bytes.data() + end, &value, sizeof value);
}

}  // namespace

temporary_directory::temporary_directory() {
  std::string pattern = testing::TempDir() + "/arcalloc-decode-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr) << pattern;
  path_ = pattern;
}

temporary_directory::~temporary_directory() { std::filesystem::remove_all(path_); }

std::string temporary_directory::write(const std::string& name, const std::vector<char>& bytes) const {
  const std::string path = path_ + "/" + name;
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.good()) << path;
  return path;
}

model_config small_config() {
  return {.dim = 16,
          .hidden = 24,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .vocabulary = 300,
          .sequence = 64,
          .tied = false};
}

std::vector<char> model_bytes(const model_config& config) {
  const auto vocabulary = static_cast<std::int32_t>(config.vocabulary);
  std::vector<char> bytes;
  for (const std::size_t value : {config.dim, config.hidden, config.layers, config.heads, config.kv_heads}) {
    append(bytes, static_cast<std::int32_t>(value));
  }
  append(bytes, config.tied ? vocabulary : -vocabulary);
  append(bytes, static_cast<std::int32_t>(config.sequence));
  // Two rotary tables stand between the weights and the classifier; nobody reads their values.
  const std::size_t count = parameters(config) + config.sequence * config.head_dim();
  std::vector<float> weights(count);
  seeded_values{7, 0.5F}.write(weights.data(), count);
  for (const float weight : weights) append(bytes, weight);
  return bytes;
}

std::vector<std::string> small_pieces() {
  std::vector<std::string> pieces{"<unk>", "\n<s>\n", "\n</s>\n"};
  const std::string digits = "0123456789ABCDEF";
  for (std::size_t byte = 0; byte < 256; ++byte) {
    pieces.push_back(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">");
  }
  for (const char* merge : {"he", " t", " the", "re", "er", "\u00e4h"}) pieces.emplace_back(merge);
  for (char letter = 'a'; letter <= 'z'; ++letter) pieces.emplace_back(1, letter);
  for (const char* piece : {" ", "\n", "aa", "\u00e4", "\u20ac", ".", ",", "!", "?"}) pieces.emplace_back(piece);
  return pieces;
}

std::vector<char> tokenizer_bytes(const std::vector<std::string>& pieces) {
  std::size_t longest = 1;
  for (const std::string& piece : pieces) longest = std::max(longest, piece.size());
  std::vector<char> bytes;
  append(bytes, static_cast<std::int32_t>(longest));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    append(bytes, -static_cast<float>(i));
    append(bytes, static_cast<std::int32_t>(pieces[i].size()));
    bytes.insert(bytes.end(), pieces[i].begin(), pieces[i].end());
  }
  return bytes;
}

void put_int32(std::vector<char>& bytes, std::size_t offset, std::int32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const input_error& error) {
    return error.message;
  }
  return {};
}

std::optional<std::string> shared_file(const std::string& name) {
  const char* const given = std::getenv("ARCALLOC_SHARED");
  const std::filesystem::path root = given != nullptr ? given : ARCALLOC_SOURCE_DIRECTORY "/../shared";
  const std::filesystem::path path = root / "data" / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace arcalloc::decode
