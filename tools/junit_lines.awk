# SPDX-License-Identifier: Apache-2.0
# Turns ctest's JUnit file into one line per test: KIND<TAB>NAME<TAB>REASON, KIND being passed, failed
# or skipped. The reason of a skip is what GTEST_SKIP() or `skipped: ...` said. Whatever is neither
# clearly passed nor clearly skipped has failed.
function attribute(line, key,    rest) {
  if (match(line, " " key "=\"[^\"]*\"") == 0) return ""
  rest = substr(line, RSTART, RLENGTH)
  sub("^ " key "=\"", "", rest)
  sub("\"$", "", rest)
  return plain(rest)
}
function plain(text) {
  gsub("&lt;", "<", text)
  gsub("&gt;", ">", text)
  gsub("&quot;", "\"", text)
  gsub("&apos;", "'", text)
  gsub("&amp;", "\\&", text)
  return text
}
/<testcase / {
  name = attribute($0, "name")
  kind = attribute($0, "status") == "run" ? "passed" : "failed"
  reason = ""
  next_is_reason = 0
}
/<failure/ { kind = "failed" }
/<skipped message="SKIP_/ { kind = "skipped" }
next_is_reason && reason == "" { reason = plain($0); next_is_reason = 0 }
/: Skipped$/ { next_is_reason = 1 }
/skipped: / && reason == "" { reason = plain($0); sub(".*skipped: ", "", reason) }
/<\/testcase>/ {
  if (kind == "skipped" && reason == "") reason = "no reason was given"
  printf "%s\t%s\t%s\n", kind, name, reason
}
