// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <arcalloc/profile.hpp>
#include <cstdlib>
#include <utility>

namespace arcalloc {

profile::profile(profile&& from) noexcept
    : entries_(std::exchange(from.entries_, nullptr)),
      count_(std::exchange(from.count_, 0)),
      room_(std::exchange(from.room_, 0)) {}

profile& profile::operator=(profile&& from) noexcept {
  std::swap(entries_, from.entries_);
  std::swap(count_, from.count_);
  std::swap(room_, from.room_);
  return *this;
}

profile::~profile() { std::free(entries_); }

bool profile::add(const profile_entry& entry) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (entries_[i].on != entry.on || entries_[i].bytes != entry.bytes) continue;
    entries_[i].blocks = std::max(entries_[i].blocks, entry.blocks);
    return true;
  }
  if (count_ == room_) {
    const std::size_t room = room_ == 0 ? 32 : room_ * 2;
    void* const larger = std::realloc(entries_, room * sizeof(profile_entry));
    if (larger == nullptr) return false;
    entries_ = static_cast<profile_entry*>(larger);
    room_ = room;
  }
  entries_[count_++] = entry;
  return true;
}

void profile::rename_stream(stream from, stream to) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (entries_[i].on == from) entries_[i].on = to;
  }
}

}  // namespace arcalloc
