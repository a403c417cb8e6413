// SPDX-License-Identifier: Apache-2.0
// Writes a trace as long as wanted: decode steps with blocks of fixed sizes, growing ones, and now and then one that
// lives for many steps; some are used on a second stream. Numbers are drawn from a fixed seed.
//
//     write_long_trace FILE EVENTS
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "trace/formats/own_writer.hpp"

namespace {

using namespace arcalloc::trace;

class file_bytes final : public byte_sink {
 public:
  explicit file_bytes(const char* path) : file_(std::fopen(path, "wb")) {}
  ~file_bytes() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  void write(std::string_view bytes) override {
    if (file_ == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
      std::perror("write_long_trace");
      std::exit(1);
    }
  }

 private:
  std::FILE* file_;
};

class long_life {
 public:
  long_life(own_writer& to, std::uint64_t events) : to_(to), wanted_(events) {}

  void write() {
    std::mt19937_64 random(1);
    for (std::uint64_t step = 1; to_.events() < wanted_; ++step) {
      std::deque<std::uint64_t> of_step;
      for (std::uint64_t i = 0; i < 140; ++i) {
        const bool grows = i % 20 == 0;
        const std::uint64_t bytes = grows ? 4096 + step % 4096 * 64 : 256 * (1 + i % 37);
        const std::uint64_t id = allocate(bytes, 0);
        if (i % 50 == 0) say(event_kind::use, id, 1);
        if (random() % 1000 == 0 && kept_.size() < 2000) {
          kept_.push_back(id);
        } else {
          of_step.push_back(id);
        }
        if (of_step.size() > 12) free_front(of_step);
      }
      while (!of_step.empty()) free_front(of_step);
      if (kept_.size() > 1000) free_front(kept_);
      say(event_kind::step, 0, 0);
    }
  }

 private:
  void say(event_kind kind, std::uint64_t id, std::uint64_t stream, std::uint64_t bytes = 0) {
    event what;
    what.kind = kind;
    what.id = id;
    what.bytes = bytes;
    what.stream = stream;
    what.time_ns = time_ns_ += 700;
    to_.take(what);
  }
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t stream) {
    say(event_kind::allocate, ++last_id_, stream, bytes);
    return last_id_;
  }
  void free_front(std::deque<std::uint64_t>& from) {
    say(event_kind::free, from.front(), 0);
    from.pop_front();
  }

  own_writer& to_;
  std::uint64_t wanted_;
  std::uint64_t last_id_ = 0;
  std::uint64_t time_ns_ = 0;
  std::deque<std::uint64_t> kept_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "write_long_trace FILE EVENTS\n");
    return 2;
  }
  file_bytes file(argv[1]);
  own_writer writer(file);
  long_life(writer, std::strtoull(argv[2], nullptr, 10)).write();
  writer.finish();
  return 0;
}
