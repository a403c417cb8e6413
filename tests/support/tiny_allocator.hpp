// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <iterator>
#include <map>
#include <vector>

namespace arcalloc::testing {

/// The smallest allocator that does everything right: exact sizes, a capacity, reuse across streams,
/// captures. Each step is a function that a broken one overrides, to be convicted for it.
///
/// One thread. A piece that was put records an event on each stream that used it; whoever comes next is on that stream,
/// or finds the event passed. In a capture nothing is queried, waited for or freed.
class tiny_allocator {
 public:
  tiny_allocator(backend& device, std::uint64_t capacity_bytes) : device_(device), capacity_bytes_(capacity_bytes) {}
  virtual ~tiny_allocator() = default;

  /// Null where it has to refuse.
  void* get(std::uint64_t bytes, stream on) {
    const std::uint64_t size = rounded(bytes);
    for (auto candidate = idle_.begin(); candidate != idle_.end(); ++candidate) {
      if (candidate->bytes != size || !may_reuse(*candidate, on)) continue;
      piece found = take_idle(candidate);
      drop_events(found);
      return hand_out(found.address, size, bytes, on);
    }
    if (captures(on) || !fits_device(size) || !make_room(size)) return nullptr;
    void* address = nullptr;
    if (device_.allocate(size, on, address) != status::ok) return nullptr;
    lent_bytes_ += size;
    return hand_out(address, size, bytes, on);
  }

  // What is not out is refused: a broken one may have handed out an address twice.
  void note_use(void* address, stream on) {
    const auto found = out_.find(address);
    if (found != out_.end()) found->second.users.push_back(on);
  }

  virtual void put(void* address) {
    const auto found = out_.find(address);
    if (found == out_.end()) return;
    piece back = found->second;
    out_.erase(found);
    for (const stream user : back.users) {
      event point{};
      if (device_.record_event(user, point) == status::ok) back.events.push_back({point, user});
    }
    back.users.clear();
    idle_.push_back(back);
  }

  virtual void drain() {
    if (in_capture()) return;
    while (!idle_.empty()) evict_one();
  }

  void begin_capture(stream on) { captured_.push_back(on); }
  void end_capture() { captured_.clear(); }

 protected:
  struct recorded {
    event point;
    stream on;
  };
  struct piece {
    void* address = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t requested_bytes = 0;
    std::vector<stream> users;
    std::vector<recorded> events;
  };
  using place = std::vector<piece>::iterator;

  virtual std::uint64_t rounded(std::uint64_t bytes) const {
    const std::uint64_t granule = device_.granularity();
    return (bytes + granule - 1) / granule * granule;
  }

  virtual bool may_reuse(const piece& candidate, stream on) {
    for (const recorded& use : candidate.events) {
      if (use.on == on) continue;
      bool finished = false;
      if (in_capture() || device_.query_event(use.point, finished) != status::ok || !finished) return false;
    }
    return true;
  }

  virtual piece take_idle(place candidate) {
    piece taken = *candidate;
    idle_.erase(candidate);
    return taken;
  }

  virtual bool captures(stream on) const {
    for (const stream captured : captured_) {
      if (captured == on) return true;
    }
    return false;
  }

  /// What a capture cannot ask, it tries.
  virtual bool fits_device(std::uint64_t bytes) const {
    if (in_capture()) return true;
    memory_info said;
    return device_.query_memory(said) == status::ok && bytes <= said.total_bytes;
  }

  virtual bool make_room(std::uint64_t bytes) {
    while (lent_bytes_ + bytes > capacity_bytes_ && !idle_.empty() && !in_capture()) evict_one();
    return lent_bytes_ + bytes <= capacity_bytes_;
  }

  void evict_one() {
    piece leaving = take_idle(idle_.begin());
    wait_for(leaving);
    drop_events(leaving);
    give_back(leaving);
  }

  virtual void wait_for(const piece& leaving) {
    for (const recorded& use : leaving.events) {
      if (device_.wait_event(use.point) != status::ok) return;
    }
  }

  virtual void drop_events(piece& idle) {
    for (const recorded& use : idle.events) device_.drop_event(use.point);
    idle.events.clear();
  }

  virtual void give_back(const piece& leaving) { free_to_device(leaving.address, leaving.bytes); }

  void free_to_device(void* address, std::uint64_t bytes) {
    if (device_.free(address, bytes) == status::ok) lent_bytes_ -= bytes;
  }

  [[nodiscard]] bool in_capture() const { return !captured_.empty(); }

  backend& device_;
  std::uint64_t capacity_bytes_;
  std::uint64_t lent_bytes_ = 0;
  std::map<void*, piece> out_;
  std::vector<piece> idle_;
  std::vector<stream> captured_;

 private:
  void* hand_out(void* address, std::uint64_t bytes, std::uint64_t requested_bytes, stream on) {
    out_[address] = {address, bytes, requested_bytes, {on}, {}};
    return address;
  }
};

}  // namespace arcalloc::testing
