// SPDX-License-Identifier: Apache-2.0
#include "json_oracle.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "one_input.hpp"
#include "trace/formats/json_scanner.hpp"
#include "trace/formats/trace_error.hpp"

namespace arcalloc::testing {

namespace {

constexpr const char* no_tokens = "refused";

/// A text that is shown piece by piece, so that tokens are cut anywhere.
class piecewise final : public trace::byte_source {
 public:
  piecewise(std::string_view bytes, std::size_t shown) : byte_source("t"), bytes_(bytes), shown_(shown) {}

 private:
  std::size_t read(char* out, std::size_t capacity) override {
    const std::size_t now = std::min({shown_, capacity, bytes_.size() - next_});
    std::copy_n(bytes_.data() + next_, now, out);
    next_ += now;
    return now;
  }
  void restart() override { next_ = 0; }

  std::string_view bytes_;
  std::size_t shown_;
  std::size_t next_ = 0;
};

std::string of_text(const char* kind, std::string_view text) {
  const bool is_kept = text.size() <= trace::json_scanner::text_bytes_max;
  return std::string(kind) + ' ' + std::string(is_kept ? text : std::string_view()) + '\n';
}

/// Writes down what the library finds.
class library_tokens {
 public:
  using json = nlohmann::json;

  bool null() { return add("literal\n"); }
  bool boolean(bool /*value*/) { return add("literal\n"); }
  bool number_integer(json::number_integer_t value) { return add("number " + std::to_string(value) + '\n'); }
  bool number_unsigned(json::number_unsigned_t value) { return add("number " + std::to_string(value) + '\n'); }
  bool number_float(json::number_float_t /*value*/, const std::string& text) { return add("number " + text + '\n'); }
  bool string(const std::string& value) { return add(of_text("text", value)); }
  bool binary(const json::binary_t& /*value*/) { return false; }
  bool key(const std::string& text) { return add(of_text("key", text)); }
  bool start_object(std::size_t /*elements*/) { return ++depth_ <= trace::json_scanner::depth_max && add("{\n"); }
  bool start_array(std::size_t /*elements*/) { return ++depth_ <= trace::json_scanner::depth_max && add("[\n"); }
  bool end_object() { return --depth_, add("}\n"); }
  bool end_array() { return --depth_, add("]\n"); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const json::exception& /*error*/) { return false; }

  [[nodiscard]] const std::string& tokens() const { return tokens_; }

 private:
  bool add(const std::string& line) {
    tokens_ += line;
    return true;
  }

  std::string tokens_;
  std::size_t depth_ = 0;
};

std::string line_of(const trace::json_scanner& json, trace::json_token token) {
  switch (token) {
    case trace::json_token::object_begin:
      return "{\n";
    case trace::json_token::object_end:
      return "}\n";
    case trace::json_token::array_begin:
      return "[\n";
    case trace::json_token::array_end:
      return "]\n";
    case trace::json_token::key:
      return of_text("key", json.text());
    case trace::json_token::text:
      return of_text("text", json.text());
    case trace::json_token::number:
      // A whole number reaches the library's caller as such, without its sign where it is zero.
      return std::string("number ") + std::string(json.number() == "-0" ? "0" : json.number()) + '\n';
    case trace::json_token::literal:
      return "literal\n";
    case trace::json_token::end:
      break;
  }
  return "";
}

}  // namespace

std::string scanned(std::string_view bytes, std::size_t shown) {
  std::string tokens;
  try {
    piecewise from(bytes, shown);
    trace::json_scanner json(from);
    for (trace::json_token token = json.next(); token != trace::json_token::end; token = json.next()) {
      tokens += line_of(json, token);
    }
    return tokens;
  } catch (const trace::trace_error& error) {
    require(error.message.find("t at byte ") == 0, "a refusal names its byte");
    return no_tokens;
  }
}

std::string scanned_by_library(std::string_view bytes) {
  library_tokens found;
  return nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &found) ? found.tokens() : no_tokens;
}

void judge_json(std::string_view bytes) {
  const std::string tokens = scanned(bytes);
  for (const std::size_t shown : {1U, 3U, 7U})
    require(scanned(bytes, shown) == tokens, "tokens do not end with a piece");
  if (bytes.find('\0') != std::string_view::npos) {
    require(tokens == no_tokens, "a zero byte is refused");
  } else {
    require(tokens == scanned_by_library(bytes), "the scanner and the library find the same");
  }
}

}  // namespace arcalloc::testing
