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
/// or finds the event passed. In a capture nothing is queried, waited for or freed, and nothing recorded on its
/// streams: that is done when it ends. It refuses what it does not have; graph_allocator does more.
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
      return hand_out(found.address, size, bytes, on, found.windows);
    }
    void* address = nullptr;
    if (!fits_device(size) || !make_room(size) || grow(size, on, address) != status::ok) return nullptr;
    lent_bytes_ += size;
    return hand_out(address, size, bytes, on, {});
  }

  // What is not out is refused: a broken one may have handed out an address twice.
  void note_use(void* address, stream on) {
    const auto found = out_.find(address);
    if (found == out_.end()) return;
    found->second.users.push_back(on);
    touch(found->second, on);
  }

  virtual void put(void* address) {
    const auto found = out_.find(address);
    if (found == out_.end()) return;
    piece back = found->second;
    out_.erase(found);
    record(back);
    idle_.push_back(back);
  }

  virtual void drain() {
    if (in_capture()) return;
    while (evict_one()) continue;
  }

  void begin_capture(stream on) { captured_.push_back(on); }
  void end_capture() {
    captured_.clear();
    for (piece& idle : idle_) record(idle);
  }

 protected:
  struct recorded {
    event point;
    stream on;
  };
  struct piece {
    void* address = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t requested_bytes = 0;
    std::vector<stream> users;  ///< of a piece that is idle: those in a capture, which have no event yet
    std::vector<recorded> events;
    std::vector<std::uint64_t> windows;  ///< of graph_allocator
  };
  using place = std::vector<piece>::iterator;

  virtual std::uint64_t rounded(std::uint64_t bytes) const {
    const std::uint64_t granule = device_.granularity();
    return (bytes + granule - 1) / granule * granule;
  }

  virtual bool may_reuse(const piece& candidate, stream on) {
    for (const stream user : candidate.users) {
      if (user != on) return false;
    }
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

  virtual status grow(std::uint64_t bytes, stream on, void*& address) {
    return captures(on) ? status::capture_miss : device_.allocate(bytes, on, address);
  }

  /// Work of the stream uses it.
  virtual void touch(piece&, stream) {}

  /// What it may give back next, or the end.
  virtual place coldest() { return idle_.begin(); }

  virtual bool may_record(stream on) const { return !captures(on); }

  void record(piece& back) {
    std::vector<stream> left;
    for (const stream user : back.users) {
      event point{};
      if (!may_record(user)) {
        left.push_back(user);
      } else if (device_.record_event(user, point) == status::ok) {
        back.events.push_back({point, user});
      }
    }
    back.users = left;
  }

  bool captures(stream on) const {
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
    while (lent_bytes_ + bytes > capacity_bytes_ && !in_capture() && evict_one()) continue;
    return lent_bytes_ + bytes <= capacity_bytes_;
  }

  bool evict_one() {
    const place coldest_idle = coldest();
    if (coldest_idle == idle_.end()) return false;
    piece leaving = take_idle(coldest_idle);
    wait_for(leaving);
    drop_events(leaving);
    give_back(leaving);
    return true;
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
  void* hand_out(void* address, std::uint64_t bytes, std::uint64_t requested_bytes, stream on,
                 const std::vector<std::uint64_t>& windows) {
    piece& given = out_[address];
    given = {address, bytes, requested_bytes, {on}, {}, windows};
    touch(given, on);
    return address;
  }
};

}  // namespace arcalloc::testing
