// SPDX-License-Identifier: Apache-2.0
#include "trace/scenario_words.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::size_t shown_bytes_max = 60;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

std::string byte_text(char c) {
  constexpr char digits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  std::string text("the byte 0x");
  text += digits[byte >> 4];
  text += digits[byte & 15];
  return text;
}

/// Reads the words of one line, left to right.
class line_reader {
 public:
  line_reader(const std::string& file, std::uint64_t number, std::string_view text)
      : file_(file), text_(text), line_{number, text.size() + 1, {}} {}

  scenario_line read() {
    while (skip_blanks()) line_.words.push_back(word());
    line_.end_column = line_.words.empty() ? 1 : at_ + 1;
    return std::move(line_);
  }

 private:
  [[noreturn]] void refuse(std::size_t at, const std::string& what) const {
    refuse_scenario(file_, {line_.number, at + 1}, what);
  }

  /// False at the end of the line or at its comment.
  bool skip_blanks() {
    std::size_t next = at_;
    while (next < text_.size() && is_blank(text_[next])) ++next;
    if (next == text_.size() || text_[next] == '#') return false;
    at_ = next;
    return true;
  }

  scenario_word word() {
    scenario_word read;
    read.column = at_ + 1;
    bool any_quote = false;
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '#') {
      const char c = text_[at_];
      if (c == '"') {
        if (!any_quote) read.bare = read.text.size();
        any_quote = true;
        quotation(read.text);
        continue;
      }
      if (is_control(c) || static_cast<unsigned char>(c) >= 0x80) {
        refuse(at_, "expected a printable character, found " + byte_text(c));
      }
      read.text += c;
      ++at_;
    }
    // A quoted nothing has a quote and no text: is() must not take it for a bare empty word.
    if (!any_quote) read.bare = read.text.size();
    return read;
  }

  void quotation(std::string& out) {
    const std::size_t opened = at_++;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return;
      }
      if (is_control(c) && c != '\t') refuse(at_, "expected text, found " + byte_text(c));
      out += c;
    }
    refuse(opened, "expected a closing quote, found the end of the line");
  }

  const std::string& file_;
  std::string_view text_;
  scenario_line line_;
  std::size_t at_ = 0;
};

}  // namespace

void refuse_scenario(const std::string& file, text_place at, const std::string& what) {
  throw scenario_error{file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column) + ": " + what};
}

std::vector<scenario_line> words_of(const std::string& file, std::string_view text) {
  std::vector<scenario_line> lines;
  std::uint64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    scenario_line read = line_reader(file, ++number, line).read();
    if (!read.words.empty()) lines.push_back(std::move(read));
  }
  return lines;
}

std::string word_text(std::string_view text) {
  std::string shown("\"");
  for (const char c : text.substr(0, shown_bytes_max)) shown += is_control(c) ? '.' : c;
  shown += text.size() > shown_bytes_max ? "...\"" : "\"";
  return shown;
}

}  // namespace arcalloc::trace
