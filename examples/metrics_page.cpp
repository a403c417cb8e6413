// SPDX-License-Identifier: Apache-2.0
// One rank of an engine that serves its counters to Prometheus: a decode loop, and a page on a port of this machine.
//
//   metrics_page PORT RANK steady|thrash SECONDS
//
// `thrash` gives the cache a bound below what a step frees and asks for again, which is what the alert of that name is
// about. Exit status 2 when an argument is wrong or the port is taken, 1 when the allocator refuses.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>
#include <arcalloc/metrics.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

[[noreturn]] void fail(const std::string& what, int exit_status) {
  std::fprintf(stderr, "metrics_page: %s\n", what.c_str());
  std::exit(exit_status);
}

long number_of(const char* text, const char* name) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 0 || value > 65535) fail(std::string(name) + ": '" + text + "'", 2);
  return value;
}

int listening_on(long port) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(static_cast<std::uint16_t>(port));
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (listening < 0 || bind(listening, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      listen(listening, 8) != 0) {
    fail("port " + std::to_string(port) + ": " + std::strerror(errno), 2);
  }
  return listening;
}

std::string page_of(const arcalloc::allocator& memory, const std::string& labels) {
  arcalloc::metrics_source source;
  memory.read_counters(source.values);
  source.labels = labels.c_str();
  std::size_t length = 0;
  std::vector<char> text(std::size_t{1} << 15);
  if (arcalloc::format_metrics(&source, 1, text.data(), text.size(), length) != arcalloc::status::ok ||
      length >= text.size()) {
    fail("the page does not fit", 1);
  }
  return {text.data(), length};
}

/// Answers every request on the port with the page, until the process ends.
void serve(int listening, const arcalloc::allocator& memory, const std::string& labels) {
  for (;;) {
    const int caller = accept(listening, nullptr, nullptr);
    if (caller < 0) continue;
    char asked[2048];
    const std::string page = page_of(memory, labels);
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\nContent-Length: " +
        std::to_string(page.size()) + "\r\n\r\n" + page;
    if (recv(caller, asked, sizeof asked, 0) > 0) {
      for (std::size_t sent = 0; sent < answer.size();) {
        const ssize_t more = send(caller, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (more <= 0) break;
        sent += static_cast<std::size_t>(more);
      }
    }
    close(caller);
  }
}

void use(arcalloc::allocator& memory, std::size_t bytes) {
  arcalloc::block piece;
  if (memory.allocate(bytes, arcalloc::default_stream, piece) != arcalloc::status::ok ||
      memory.deallocate(piece) != arcalloc::status::ok) {
    fail("the allocator refuses", 1);
  }
}

/// Small tensors; and in two steps of a hundred two large ones, each of which, idle, is a segment.
void step(arcalloc::allocator& memory, std::uint64_t number) {
  for (std::size_t i = 1; i <= 16; ++i) use(memory, i * 1024);
  if (number % 100 < 2) {
    use(memory, 40 * mib);
    use(memory, 60 * mib);
  }
  memory.end_step();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("needs PORT RANK steady|thrash SECONDS", 2);
  const long port = number_of(argv[1], "PORT"), seconds = number_of(argv[4], "SECONDS");
  const std::string labels = "rank=\"" + std::to_string(number_of(argv[2], "RANK")) + "\"", how = argv[3];
  if (how != "steady" && how != "thrash") fail("'" + how + "' is neither steady nor thrash", 2);

  arcalloc::options settings;
  settings.cached_bytes_max = {arcalloc::bound_mode::explicit_bytes, (how == "thrash" ? 70 : 200) * mib};
  static arcalloc::host_backend device{std::uint64_t{1} << 30};
  arcalloc::allocator* memory = nullptr;
  if (arcalloc::allocator::create(device, settings, memory) != arcalloc::status::ok) fail("no allocator", 1);
  const int listening = listening_on(port);
  std::thread([&, listening] { serve(listening, *memory, labels); }).detach();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (std::uint64_t number = 0; std::chrono::steady_clock::now() < end; ++number) {
    step(*memory, number);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::_Exit(0);  // the page may be on its way to somebody
}
