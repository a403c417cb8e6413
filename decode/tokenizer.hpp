// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arcalloc::decode {

/// Begins every sequence; sampled, it ends one.
inline constexpr std::int32_t token_of_start = 1;

/// A tokenizer file of llama2.c: int32 longest token, then for each token float32 score, int32 length
/// and its bytes. Encodes and prints as llama2.c does, whose golden texts are the reference.
///
/// Concurrency: const functions from any thread.
/// Cost: encode is quadratic in the length of the text.
class tokenizer {
 public:
  /// Reads the file, which must hold exactly `vocabulary` tokens. Throws input_error that names the
  /// file and the offset.
  tokenizer(const std::string& path, std::size_t vocabulary);

  /// Byte pair encoding, without the token of start. Text that is not empty gets a space in front.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;

  /// Appends what `token` prints after `previous`: <0xHH> is that byte, a leading space after the token
  /// of start is dropped, a lone byte that cannot be printed is left out.
  void append_piece(std::int32_t previous, std::int32_t token, std::string& out) const;

  [[nodiscard]] std::size_t longest_token() const noexcept { return longest_; }

 private:
  [[nodiscard]] std::int32_t find(std::string_view piece) const noexcept;
  [[nodiscard]] std::vector<std::int32_t> characters(std::string_view text) const;

  std::size_t longest_ = 0;
  std::vector<std::string> pieces_;
  std::vector<float> scores_;
  std::vector<std::int32_t> by_piece_;  ///< token ids in the order of their pieces, for find
};

}  // namespace arcalloc::decode
