// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "decode/weights.hpp"

namespace arcalloc::decode {

/// A directory that lives as long as the object.
class temporary_directory {
 public:
  temporary_directory();
  ~temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Writes a file of these bytes and returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::vector<char>& bytes) const;

 private:
  std::string path_;
};

/// A model small enough for thousands of runs, with a tokenizer of 300 tokens.
[[nodiscard]] model_config small_config();

/// A llama2.c file of this configuration, its weights seeded.
[[nodiscard]] std::vector<char> model_bytes(const model_config& config);

/// The pieces of the small tokenizer: unknown, start, end, 256 bytes, then letters and merges.
[[nodiscard]] std::vector<std::string> small_pieces();

/// A llama2.c tokenizer file; merges score higher the earlier they stand.
[[nodiscard]] std::vector<char> tokenizer_bytes(const std::vector<std::string>& pieces);

/// Overwrites the int32 at `offset`.
void put_int32(std::vector<char>& bytes, std::size_t offset, std::int32_t value);

/// What `call` says when it refuses its input; empty when it does not.
[[nodiscard]] std::string refusal_of(const std::function<void()>& call);

/// A file of the shared data, which is not part of the repository: below $ARCALLOC_SHARED, or beside
/// the checkout. Nothing where it is absent.
[[nodiscard]] std::optional<std::string> shared_file(const std::string& name);

/// The whole file.
[[nodiscard]] std::string text_of(const std::string& path);

}  // namespace arcalloc::decode
