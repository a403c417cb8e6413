// SPDX-License-Identifier: Apache-2.0
// How many events a second each writer and each reader takes, of the time of a processor: `trace_throughput` of a
// million events, `trace_throughput EVENTS` of as many, `trace_throughput FILE...` of traces of any format. The events
// are a decode step's: blocks of a few sizes, freed a few requests later. What is printed is for people: the median
// of five rounds, and the least and the most. Nothing is judged.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

#include "trace/formats/csv_writer.hpp"
#include "trace/formats/own_writer.hpp"
#include "trace/formats/read_trace.hpp"
#include "trace/formats/snapshot_writer.hpp"
#include "trace/formats/trace_summary.hpp"
#include "trace/size_text.hpp"

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

/// What a call took of a processor, of five; seconds.
class five_rounds {
 public:
  template <class Call>
  explicit five_rounds(Call call) {
    for (double& one : seconds_) {
      const std::clock_t begin = std::clock();
      call();
      one = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    std::sort(seconds_.begin(), seconds_.end());
  }
  void print(const char* what, std::uint64_t events, std::uint64_t bytes) const {
    const auto rate = [&](std::size_t round) { return static_cast<double>(events) / seconds_[round] / 1e6; };
    std::printf("%-20s %8.2f M events/s (%.2f to %.2f) %8.0f MB/s %10.1f ms\n", what, rate(2), rate(4), rate(0),
                static_cast<double>(bytes) / seconds_[2] / 1e6, seconds_[2] * 1e3);
  }

 private:
  std::array<double, 5> seconds_{};
};

template <class Writer>
std::string write(const char* what, std::uint64_t events) {
  std::string bytes;
  const five_rounds taken([&] {
    arcalloc::trace::string_sink out;
    Writer writer(out);
    decode_events(events, [&](const event& one) { writer.take(one); });
    writer.finish();
    bytes = out.bytes();
  });
  taken.print(what, events, bytes.size());
  return bytes;
}

template <class Open>
void read(const char* what, Open open) {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  const five_rounds taken([&] {
    arcalloc::trace::trace_summary summary;
    const auto from = open();
    read_trace(*from, {}, summary);
    events = summary.events();
    bytes = from->offset();
  });
  taken.print(what, events, bytes);
}

void read(const char* what, const std::string& bytes) {
  read(what, [&] { return arcalloc::trace::source_of(what, bytes); });
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
  std::uint64_t events = 1'000'000;
  if (count > 1) {
    const auto given = arcalloc::trace::count_from(arguments[1], 1'000'000'000);
    if (!given) {
      for (int i = 1; i < count; ++i) read(arguments[i], [&] { return arcalloc::trace::open_source(arguments[i]); });
      return 0;
    }
    events = *given;
  }
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
