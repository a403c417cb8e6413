// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "trace/peers/peer_policy.hpp"

namespace arcalloc::trace {

/// The rules of PyTorch's CUDA caching allocator with its default settings, as of 2.6:
/// c10/cuda/CUDACachingAllocator.cpp (the comment at its head, and the functions named here), and the notes on memory
/// management in its documentation.
///
/// - A request is rounded up to 512 bytes, the least being 512 (round_size, kMinBlockSize).
/// - Up to 1 MiB it is small, and lives in segments of 2 MiB; above, it is large: below 10 MiB in segments of 20 MiB,
///   from there on in one of its own size in steps of 2 MiB (get_allocation_size; kSmallSize, kSmallBuffer,
///   kMinLargeAlloc, kLargeBuffer, kRoundLarge). The two kinds never share a segment (get_pool).
/// - It gets the smallest idle block of its kind and stream that is large enough, of equal ones that at the lowest
///   address (get_free_block, BlockComparatorSize). No other stream's block will do.
/// - What the block has beyond the request is split off: of a small one from 512 bytes on, of a large one above 1 MiB;
///   else the whole block is handed out (should_split).
/// - A freed block merges with idle neighbours of its segment on both sides (free_block, try_merge_blocks). Whole
///   segments stay: there is no bound on what is cached.
/// - A block used on other streams waits for an event on each; these are looked at when something is requested
///   (recordStream, insert_events, process_events). Here they have always passed by then: a trace has no durations.
/// - Where the driver refuses, every wholly idle segment of every stream goes back, and it is asked once more
///   (release_cached_blocks). emptyCache does the same.
///
/// Not here: settings other than the defaults (max_split_size_mb, roundup_power2_divisions,
/// garbage_collection_threshold, expandable_segments), and the private pools of captured graphs.
class pytorch_policy final : public peer_policy {
 public:
  explicit pytorch_policy(model_device& device) : device_(device) {}

  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t stream) override;
  void note_use(std::uint64_t address, std::uint64_t stream) override;
  void deallocate(std::uint64_t address) override;
  void drain() override;

  [[nodiscard]] peer_bytes bytes() const noexcept override { return bytes_; }
  [[nodiscard]] std::uint64_t rounded(std::uint64_t bytes) const noexcept override;
  [[nodiscard]] std::uint64_t largest_idle_bytes() const override;
  [[nodiscard]] std::uint64_t blocks_idle() const override { return idle_[0].size() + idle_[1].size(); }
  [[nodiscard]] std::uint64_t events() const noexcept override { return events_; }

  /// What the driver is asked for on behalf of a rounded request.
  [[nodiscard]] static std::uint64_t segment_bytes(std::uint64_t rounded_bytes) noexcept;

 private:
  enum class block_state : std::uint8_t { idle, out, pending };
  struct placed_block {
    std::uint64_t bytes = 0;
    std::uint64_t segment = 0;  ///< its address
    std::uint64_t stream = 0;
    bool is_small = false;
    block_state state = block_state::idle;
    std::set<std::uint64_t> used_on;  ///< other streams
  };
  struct idle_block {
    std::uint64_t stream;
    std::uint64_t bytes;
    std::uint64_t address;
    friend auto operator<=>(const idle_block&, const idle_block&) = default;
  };
  using placed_blocks = std::map<std::uint64_t, placed_block>;  ///< by address
  using idle_blocks = std::set<idle_block>;

  [[nodiscard]] idle_blocks& idle_of(const placed_block& block) { return idle_[block.is_small ? 0 : 1]; }
  [[nodiscard]] placed_blocks::iterator best_fit(std::uint64_t bytes, std::uint64_t stream);
  [[nodiscard]] placed_blocks::iterator new_segment(std::uint64_t bytes, std::uint64_t stream);
  void split(placed_blocks::iterator block, std::uint64_t bytes);
  void make_idle(placed_blocks::iterator block);
  void list_idle(placed_blocks::iterator block);
  void unlist_idle(placed_blocks::iterator block);
  [[nodiscard]] bool is_whole_segment(placed_blocks::const_iterator block) const;
  void finish_pending();
  void free_idle_segments();

  model_device& device_;
  placed_blocks blocks_;
  std::array<idle_blocks, 2> idle_;  ///< small, large
  std::vector<std::uint64_t> pending_;
  peer_bytes bytes_;
  std::uint64_t events_ = 0;
};

}  // namespace arcalloc::trace
