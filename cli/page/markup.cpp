// SPDX-License-Identifier: Apache-2.0
#include "markup.hpp"

#include <cstdio>

namespace arcalloc::cli::page {

namespace {

std::string cell_text(const cell& one, const char* tag) {
  std::string text = std::string("<") + tag + (one.is_number ? " class=\"n\">" : ">");
  if (!one.leg.empty()) text += "<i class=\"key k-" + escaped(one.leg) + "\"></i>";
  text += escaped(one.text);
  if (!one.note.empty()) text += "<small>" + escaped(one.note) + "</small>";
  return text + "</" + tag + ">";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
          out += "&#xFFFD;";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string table(const std::vector<cell>& headings, const std::vector<std::vector<cell>>& rows) {
  std::string out = "<div class=\"frame\"><table>\n<thead><tr>";
  for (const cell& heading : headings) out += cell_text(heading, "th");
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const cell& one : row) out += cell_text(one, "td");
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string section(const std::string& heading, const std::string& content) {
  return "<section>\n<h2>" + escaped(heading) + "</h2>\n" + content + "</section>\n";
}

}  // namespace arcalloc::cli::page
