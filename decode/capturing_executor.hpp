// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "decode/executor.hpp"

namespace arcalloc::decode {

/// Operations with the addresses of their tensors, in order: a graph. On the host it is a list of what to compute; on a
/// device one launch.
///
/// Running it works on those addresses, whoever has the memory by then; it allocates nothing.
class recorded_operations {
 public:
  void add(std::function<void(executor&)> operation) {
    operations_.push_back(std::move(operation));
    ++size_;
  }
  /// In the place of `size` operations, which one call runs.
  static recorded_operations as_one(std::size_t size, std::function<void(executor&)> all) {
    recorded_operations made;
    made.operations_.push_back(std::move(all));
    made.size_ = size;
    return made;
  }

  void run(executor& on) const {
    for (const auto& each : operations_) each(on);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::vector<std::function<void(executor&)>> operations_;
  std::size_t size_ = 0;
};

/// An executor that can take a step down instead of doing it.
///
/// What the host says or asks meanwhile cannot be part of a graph: fill, write_index and read_index throw
/// std::logic_error between start and stop.
class capturing_executor : public executor {
 public:
  /// Requires: it does not record.
  virtual void start() = 0;
  /// Ends the recording and hands it over.
  [[nodiscard]] virtual recorded_operations stop() = 0;
  /// Ends it, if there is one, for nothing.
  virtual void drop() noexcept = 0;
  /// Who does what was recorded.
  [[nodiscard]] virtual executor& compute() noexcept = 0;
};

}  // namespace arcalloc::decode
