// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/cuda_backend.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "decode/cuda_stream.hpp"
#include "trace/replay/device_work.hpp"

namespace arcalloc::cli {

/// The work of a trace on a card, as memory traffic: every block is filled when it is handed out, and by whoever uses
/// it, with a byte of its own; when it is given back, both its ends must still hold it.
///
/// A graph's work is not looked at: it is done at each launch. Each stream of the trace is one of the driver's.
/// Concurrency: one thread, in the device's context while this lives. Cost: a memset for each block, and two copies
/// that are waited for. Throws decode::device_error where the driver refuses.
class cuda_replay_work final : public trace::device_work {
 public:
  explicit cuda_replay_work(const cuda_backend& device) noexcept : device_(device) {}

  [[nodiscard]] stream open_stream(std::uint64_t number) override;
  void handed_out(stream on, void* address, std::uint64_t bytes) override;
  void use(stream on, void* address, std::uint64_t bytes) override;
  void handed_back(void* address) override;
  void begin_capture(stream on, std::uint64_t group) override;
  void join_capture(stream joining, stream capturing) override;
  [[nodiscard]] std::uint64_t end_capture(stream on) override;
  void abort_capture(stream on) override;
  void launch(std::uint64_t graph, stream on) override;
  void forget_graph(std::uint64_t graph) override { graphs_.erase(graph); }
  [[nodiscard]] std::vector<std::string> finish() override;

 private:
  struct filled {
    stream on = default_stream;
    std::uint64_t bytes = 0;
    unsigned char with = 0;
    bool is_of_graph = false;
  };
  struct captured {
    stream on = default_stream;
    std::function<void()> launch;
  };
  [[nodiscard]] decode::cuda_stream& at(stream on) { return *streams_.at(on); }

  const cuda_backend& device_;
  std::map<stream, std::unique_ptr<decode::cuda_stream>> streams_;
  std::map<stream, std::vector<stream>> captures_;  ///< those that are open, with who joined
  std::unordered_map<void*, filled> blocks_;
  std::map<std::uint64_t, captured> graphs_;
  std::uint64_t last_graph_ = 0;
  unsigned char last_fill_ = 0;
  std::vector<std::string> wrong_;
};

}  // namespace arcalloc::cli
