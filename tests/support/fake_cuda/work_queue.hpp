// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "backend/cuda/driver_declarations.hpp"

namespace arcalloc::fake_cuda {

class work_queue;

/// Something that a stream does to memory, or waits for.
struct work_item {
  enum class what : std::uint8_t { set, copy, to_device, to_host, wait };
  what is = what::wait;
  cuda::device_address to = 0;
  cuda::device_address from = 0;
  std::size_t bytes = 0;
  unsigned char value = 0;
  void* host = nullptr;                 ///< where to_host writes, and what a captured to_device reads
  std::vector<unsigned char> staged{};  ///< what an eager to_device read when it was called
  std::shared_ptr<work_queue> after{};  ///< whose work up to `position` a wait is for
  std::uint64_t position = 0;
};

/// A stream's work in its order, and how far it has come: as late as it may be done, nothing sooner.
class work_queue {
 public:
  void push(work_item item) {
    items_.push_back(std::move(item));
    ++enqueued_;
  }
  [[nodiscard]] std::uint64_t enqueued() const { return enqueued_; }

  /// Does the work up to that position, and before it what it waits for. `carry_out` does what is no wait.
  template <class CarryOut>
  void run(std::uint64_t position, CarryOut carry_out) {
    while (done_ < position && !items_.empty()) {
      const work_item item = std::move(items_.front());
      items_.pop_front();
      ++done_;
      if (item.is != work_item::what::wait) {
        carry_out(item);
      } else if (item.after.get() != this) {
        item.after->run(item.position, carry_out);
      }
    }
  }

 private:
  std::deque<work_item> items_;
  std::uint64_t enqueued_ = 0;
  std::uint64_t done_ = 0;
};

/// What the memory of a device holds. Undefined bytes are 0xDB, so that who reads them is seen.
class device_bytes {
 public:
  void lend(cuda::device_address begin, std::size_t bytes);
  void take_back(cuda::device_address begin) { ranges_.erase(begin); }

  /// Null where not all of it is lent.
  [[nodiscard]] unsigned char* find(cuda::device_address begin, std::size_t bytes);

  /// False where it touches what is not lent; then nothing is done.
  [[nodiscard]] bool carry_out(const work_item& item);

 private:
  struct freed {
    void operator()(unsigned char* bytes) const { std::free(bytes); }
  };
  struct range {
    std::unique_ptr<unsigned char, freed> bytes{};
    std::size_t size = 0;
  };
  std::map<cuda::device_address, range> ranges_;
};

}  // namespace arcalloc::fake_cuda
