// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "trace/formats/event.hpp"
#include "trace/peers/peer_policy.hpp"
#include "trace/replay/event_place.hpp"
#include "trace/replay/replay_result.hpp"

namespace arcalloc::trace {

/// What a peer has to live with.
struct peer_options {
  std::uint64_t memory_bytes = 0;                 ///< of the device
  std::uint64_t granule_bytes = 0;                ///< a power of two
  std::optional<std::uint64_t> capacity_bytes;    ///< bound on reserved, where the user sets one
  std::optional<std::uint64_t> cached_bytes_max;  ///< none: as the peer sets it
};

/// Plays the events of a trace to the rules of a peer, as trace_replay plays them to arcalloc, and comes to the same
/// kind of result: counters of the same names, the same virtual time for a driver call.
///
/// A peer has no phases and no trims: those events do nothing, and neither does the end of a stream. A drain is the
/// peer's own call for it. A free that is ordered on another stream than its block's is a use there. Captures are
/// refused, as the rules have nothing to say about them. Of the counters, those of arcalloc's ladder stay 0: every hit
/// is a pool_hit. Concurrency: one thread. Memory: for the blocks that are live or idle. Throws trace_error.
class peer_replay final : public trace_sink {
 public:
  /// `file` is for errors.
  peer_replay(std::string file, peer which, const peer_options& options);
  void take(const event& what) override;

  /// Says what came of it. Called once.
  [[nodiscard]] replay_result finish();

 private:
  struct live_block {
    std::optional<std::uint64_t> address;  ///< none: zero bytes
    std::uint64_t bytes = 0;
    std::uint64_t stream = 0;
  };

  [[nodiscard]] std::optional<std::uint64_t> request(const event& what);
  void allocate(const event& what);
  void give_back(const event& what);
  void use(const event& what);
  void ask_for_refused(const event& what);
  void end_step();
  [[nodiscard]] status refusal_outcome() const;
  [[nodiscard]] failure_record record_of(const event& what) const;
  [[nodiscard]] live_block& find(const event& what, const char* doing);
  void read_bytes();

  peer which_;
  event_place place_;
  peer_options options_;
  model_device device_;
  std::unique_ptr<peer_policy> policy_;
  std::unordered_map<std::uint64_t, live_block> live_;
  std::uint64_t calls_at_step_ = 0;
  replay_result result_;
};

}  // namespace arcalloc::trace
