// SPDX-License-Identifier: Apache-2.0
// How many events a second each writer and each reader takes: `trace_throughput [EVENTS]`, one million unless given.
// The events are a decode step's: blocks of a few sizes, freed a few requests later. What is printed is for people;
// nothing is judged. Figures of one run are good for ratios.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trace/formats/csv_writer.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/snapshot_writer.hpp"
#include "trace/formats/trace_summary.hpp"

namespace {

using arcalloc::trace::event;
using arcalloc::trace::event_kind;

constexpr std::uint64_t base = std::uint64_t{0x7f00} << 32;
constexpr std::uint64_t lives = 64;  ///< blocks live at once

/// Allocates and frees by turns, `events` in all, inside one segment.
template <class Take>
void decode_events(std::uint64_t events, Take take) {
  for (std::uint64_t i = 0; i < events / 2; ++i) {
    event one;
    one.id = one.address = base + i % lives * 65536;
    one.time_ns = i * 2000;
    one.bytes = 512 + i % 7 * 4096;
    if (i >= lives) {
      event free = one;
      free.kind = event_kind::free;
      free.bytes = 512 + (i - lives) % 7 * 4096;
      take(free);
    }
    take(one);
  }
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print(const char* what, std::uint64_t events, std::size_t bytes, double seconds) {
  std::printf("%-20s %8.2f M events/s %8.0f MB/s\n", what, static_cast<double>(events) / seconds / 1e6,
              static_cast<double>(bytes) / seconds / 1e6);
}

template <class Writer>
std::string write(const char* what, std::uint64_t events) {
  arcalloc::trace::string_sink out;
  const auto begin = std::chrono::steady_clock::now();
  Writer writer(out);
  decode_events(events, [&](const event& one) { writer.take(one); });
  writer.finish();
  print(what, events, out.bytes().size(), seconds_since(begin));
  return out.bytes();
}

void read(const char* what, const std::string& bytes) {
  const auto begin = std::chrono::steady_clock::now();
  arcalloc::trace::trace_summary summary;
  const auto from = arcalloc::trace::source_of(what, bytes);
  read_trace(*from, {}, summary);
  print(what, summary.events(), bytes.size(), seconds_since(begin));
}

std::string rmm_text(std::uint64_t events) {
  std::string text = "Thread,Time,Action,Pointer,Size,Stream\n";
  decode_events(events, [&](const event& one) {
    char row[160];
    std::snprintf(row, sizeof row, "2342727,15:47:02.841961,%s,0x%llx,%llu,0x0\n",
                  one.kind == event_kind::free ? "free" : "allocate", static_cast<unsigned long long>(one.address),
                  static_cast<unsigned long long>(one.bytes));
    text += row;
  });
  return text;
}

std::string profiler_text(std::uint64_t events) {
  std::string text = "{\"traceEvents\":[";
  decode_events(events, [&](const event& one) {
    char row[400];
    std::snprintf(row, sizeof row,
                  "%s{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,"
                  "\"ts\":%llu,\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":%llu,\"Bytes\":%s%llu}}",
                  text.size() > 16 ? "," : "", static_cast<unsigned long long>(one.time_ns / 1000),
                  static_cast<unsigned long long>(one.address), one.kind == event_kind::free ? "-" : "",
                  static_cast<unsigned long long>(one.bytes));
    text += row;
  });
  return text + "]}";
}

std::string lifetimes_text(std::uint64_t events) {
  std::string text = "id,lower,upper,size\n";
  for (std::uint64_t i = 0; i < events / 2; ++i) {
    text += std::to_string(i) + ',' + std::to_string(i) + ',' + std::to_string(i + lives) + ',' +
            std::to_string(512 + i % 7 * 4096) + '\n';
  }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t events = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
  const std::string own = write<arcalloc::trace::own_writer>("own, written", events);
  read("own, read", own);
  const std::string csv = write<arcalloc::trace::csv_writer>("csv, written", events);
  read("csv, read", csv);
  const std::string snapshot = write<arcalloc::trace::snapshot_writer>("snapshot, written", events);
  read("snapshot, read", snapshot);
  read("rmm, read", rmm_text(events));
  read("lifetimes, read", lifetimes_text(events));
  read("profiler, read", profiler_text(events));
  return 0;
}
