// SPDX-License-Identifier: Apache-2.0
#include "decode/tokenizer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "decode/input_file.hpp"

namespace arcalloc::decode {

namespace {

constexpr std::int32_t none = -1;
constexpr std::int32_t first_byte_token = 3;  // after unknown, start and end
constexpr std::int32_t longest_ever = 1 << 16;

const std::string& piece_of(const std::vector<std::string>& pieces, std::int32_t token) {
  return pieces[static_cast<std::size_t>(token)];
}

/// The byte that a piece of the form <0xHH> stands for.
std::optional<char> byte_of(std::string_view piece) noexcept {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>') return std::nullopt;
  int value = 0;
  for (const char digit : piece.substr(3, 2)) {
    if (digit >= '0' && digit <= '9') {
      value = value * 16 + (digit - '0');
    } else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f') {
      value = value * 16 + ((digit | 0x20) - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return static_cast<char>(static_cast<unsigned char>(value));
}

/// isprint or isspace of the C locale, whatever the locale of the program.
bool is_printed(char c) noexcept { return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r'); }

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

tokenizer::tokenizer(const std::string& path, std::size_t vocabulary) {
  const input_file file(path);
  const std::int32_t longest = file.int32_at(0);
  if (longest < 1 || longest > longest_ever) {
    file.refuse("the longest token is said to have " + std::to_string(longest) + " bytes", 0);
  }
  longest_ = static_cast<std::size_t>(longest);
  std::uint64_t offset = sizeof longest;
  while (pieces_.size() < vocabulary) {
    float score = 0;
    if (file.bytes() - offset < 8) {
      file.refuse("token " + std::to_string(pieces_.size()) + " of " + std::to_string(vocabulary) + " is cut off",
                  offset);
    }
    file.read_at(offset, &score, sizeof score);
    if (std::isnan(score))
      file.refuse("the score of token " + std::to_string(pieces_.size()) + " is no number", offset);
    const std::int32_t length = file.int32_at(offset + 4);
    if (length < 0 || length > longest) {
      file.refuse("token " + std::to_string(pieces_.size()) + " has length " + std::to_string(length) +
                      ", outside 0.." + std::to_string(longest) + ",",
                  offset + 4);
    }
    std::string piece(static_cast<std::size_t>(length), '\0');
    file.read_at(offset + 8, piece.data(), piece.size());
    pieces_.push_back(std::move(piece));
    scores_.push_back(score);
    offset += 8 + static_cast<std::uint64_t>(length);
  }
  if (offset != file.bytes()) {
    file.refuse(std::to_string(file.bytes() - offset) + " bytes too many after " + std::to_string(vocabulary) +
                    " tokens, which end",
                offset);
  }
  by_piece_.resize(vocabulary);
  std::iota(by_piece_.begin(), by_piece_.end(), 0);
  std::stable_sort(by_piece_.begin(), by_piece_.end(), [this](std::int32_t left, std::int32_t right) {
    return piece_of(pieces_, left) < piece_of(pieces_, right);
  });
}

std::int32_t tokenizer::find(std::string_view piece) const noexcept {
  const auto at = std::lower_bound(
      by_piece_.begin(), by_piece_.end(), piece,
      [this](std::int32_t token, std::string_view wanted) { return piece_of(pieces_, token) < wanted; });
  return at != by_piece_.end() && piece_of(pieces_, *at) == piece ? *at : none;
}

std::vector<std::int32_t> tokenizer::characters(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t size = 1;
    while (size < 4 && start + size < text.size() && continues_character(text[start + size])) ++size;
    const std::string_view character = text.substr(start, size);
    start += size;
    const std::int32_t token = find(character);
    if (token != none) {
      tokens.push_back(token);
      continue;
    }
    for (const char byte : character) {
      const std::int32_t byte_token = first_byte_token + static_cast<unsigned char>(byte);
      // A vocabulary without byte tokens has no way to spell this one: its unknown token stands in.
      tokens.push_back(static_cast<std::size_t>(byte_token) < pieces_.size() ? byte_token : 0);
    }
  }
  return tokens;
}

std::vector<std::int32_t> tokenizer::encode(std::string_view text) const {
  if (text.empty()) return {};
  std::vector<std::int32_t> tokens = characters(text);
  const std::int32_t space = find(" ");
  if (space != none) tokens.insert(tokens.begin(), space);

  // Merges the best-scored neighbours until no two make a token; of equals, the first.
  std::string joined;
  while (true) {
    float best_score = -1e10F;
    std::int32_t best = none;
    std::size_t best_at = 0;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      joined = piece_of(pieces_, tokens[i]);
      joined += piece_of(pieces_, tokens[i + 1]);
      const std::int32_t token = joined.size() > longest_ ? none : find(joined);
      if (token == none || scores_[static_cast<std::size_t>(token)] <= best_score) continue;
      best_score = scores_[static_cast<std::size_t>(token)];
      best = token;
      best_at = i;
    }
    if (best == none) return tokens;
    tokens[best_at] = best;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
  }
}

void tokenizer::append_piece(std::int32_t previous, std::int32_t token, std::string& out) const {
  std::string_view piece = piece_of(pieces_, token);
  if (previous == token_of_start && !piece.empty() && piece.front() == ' ') piece.remove_prefix(1);
  const std::optional<char> byte = byte_of(piece);
  if (byte) piece = std::string_view(&*byte, 1);
  if (piece.size() == 1 && !is_printed(piece.front())) return;
  out += piece;
}

}  // namespace arcalloc::decode
