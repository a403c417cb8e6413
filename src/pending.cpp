// SPDX-License-Identifier: Apache-2.0
#include "pending.hpp"

#include "recycled.hpp"

namespace arcalloc::detail {

pending::~pending() {
  for (noted_block* block = waiting_.front(); block != nullptr; block = deferred::next(block)) {
    for (foreign_use* use = block->uses; use != nullptr; use = use->next) {
      if (use->point != event::none) device_.drop_event(use->point);
    }
  }
}

noted_block*& pending::bucket_of(const block_record& piece) noexcept {
  const std::uint64_t hash = reinterpret_cast<std::uint64_t>(&piece) * 0x9E3779B97F4A7C15U;
  return buckets_[(hash >> 32) % bucket_count];
}

noted_block* pending::find(const block_record& piece) noexcept {
  for (noted_block* at = bucket_of(piece); at != nullptr; at = at->next_in_bucket) {
    if (at->piece == &piece) return at;
  }
  return nullptr;
}

noted_block* pending::find_waiting(const block_record& piece) noexcept {
  noted_block* at = waiting_.front();
  while (at->piece != &piece) at = deferred::next(at);
  return at;
}

bool pending::note(block_record& piece, stream on) noexcept {
  noted_block* block = find(piece);
  const bool waits = block == nullptr && piece.noted();  // freed before this use was known
  if (waits) block = find_waiting(piece);
  for (foreign_use* use = block == nullptr ? nullptr : block->uses; use != nullptr; use = use->next) {
    // An event that is recorded already stands for no work that came after it.
    if (use->on == on && use->point == event::none) return true;
  }
  foreign_use* const use = take_spare(spare_uses_, &foreign_use::next, memory_);
  if (use == nullptr) return false;
  if (block == nullptr) {
    block = take_spare(spare_blocks_, &noted_block::next_in_bucket, memory_);
    if (block == nullptr) {
      give_back(spare_uses_, &foreign_use::next, *use);
      return false;
    }
    block->piece = &piece;
    noted_block*& bucket = bucket_of(piece);
    block->next_in_bucket = bucket;
    bucket = block;
  }
  use->on = on;
  use->next = block->uses;
  block->uses = use;
  any_late_ = any_late_ || waits;
  piece.requested_bytes |= noted_flag;
  return true;
}

bool pending::try_reserve(std::uint64_t uses) noexcept {
  return reserve(spare_uses_, &foreign_use::next, memory_, uses) &&
         reserve(spare_blocks_, &noted_block::next_in_bucket, memory_, uses);
}

bool pending::records_now(const foreign_use& use) const noexcept {
  return use.point == event::none && !is_former(use.on) && !works_.is_captured(use.on);
}

void pending::enter(noted_block& block) noexcept {
  unlink(block);
  waiting_.push_back(&block);
  bytes_ += block.piece->home->block_bytes;
  ++count_;
  block.piece->requested_bytes = noted_flag | (block.piece->requested_bytes & pinned_flag);
  for (const foreign_use* use = block.uses; use != nullptr; use = use->next) {
    any_late_ = any_late_ || (use->point == event::none && !is_former(use->on));
  }
}

status pending::defer(block_record& piece) noexcept {
  noted_block* const block = find(piece);
  ARCALLOC_ASSERT(block != nullptr);
  for (foreign_use* use = block->uses; use != nullptr; use = use->next) {
    if (!records_now(*use)) continue;
    const status outcome = device_.record_event(use->on, use->point);
    if (outcome == status::ok) {
      ++events_recorded_;
      continue;
    }
    use->point = event::none;
    for (foreign_use* done = block->uses; done != use; done = done->next) {
      if (done->point == event::none) continue;
      device_.drop_event(done->point);
      done->point = event::none;
    }
    return outcome;
  }
  enter(*block);
  return status::ok;
}

void pending::defer_late(block_record& piece) noexcept {
  noted_block* const block = find(piece);
  ARCALLOC_ASSERT(block != nullptr);
  enter(*block);
  any_late_ = true;
  record_late();
}

void pending::record_late() noexcept {
  if (!any_late_) return;
  any_late_ = false;
  for (noted_block* block = waiting_.front(); block != nullptr; block = deferred::next(block)) {
    for (foreign_use* use = block->uses; use != nullptr; use = use->next) {
      if (use->point != event::none || is_former(use->on)) continue;
      if (!works_.is_captured(use->on) && device_.record_event(use->on, use->point) == status::ok) {
        ++events_recorded_;
      } else {
        use->point = event::none;
        any_late_ = true;
      }
    }
  }
}

bool pending::passed(foreign_use& use) noexcept {
  if (use.point == event::none) return is_former(use.on) && works_.finished(use.on, 0, 0);
  bool finished = false;
  if (device_.query_event(use.point, finished) != status::ok || !finished) return false;
  device_.drop_event(use.point);
  return true;
}

bool pending::passed(noted_block& block) noexcept {
  for (foreign_use** at = &block.uses; *at != nullptr;) {
    foreign_use* const use = *at;
    // A driver that cannot say leaves the use unfinished: the block stays pending, and is counted as such.
    if (!passed(*use)) {
      at = &use->next;
      continue;
    }
    *at = use->next;
    give_back(spare_uses_, &foreign_use::next, *use);
  }
  return block.uses == nullptr;
}

block_record& pending::settle(noted_block& block) noexcept {
  ARCALLOC_ASSERT(block.uses == nullptr);
  block_record& piece = *block.piece;
  waiting_.remove(&block);
  bytes_ -= piece.home->block_bytes;
  --count_;
  give_back(spare_blocks_, &noted_block::next_in_bucket, block);
  return piece;
}

void pending::unlink(noted_block& block) noexcept {
  noted_block** at = &bucket_of(*block.piece);
  while (*at != &block) at = &(*at)->next_in_bucket;
  *at = block.next_in_bucket;
}

template <class Visit>
void pending::for_each_use(Visit visit) const noexcept {
  const auto of = [&](const noted_block& block) {
    for (foreign_use* use = block.uses; use != nullptr; use = use->next) visit(*use);
  };
  for (const noted_block* block : buckets_) {
    for (; block != nullptr; block = block->next_in_bucket) of(*block);
  }
  for (const noted_block* block = waiting_.front(); block != nullptr; block = deferred::next(block)) of(*block);
}

bool pending::is_used_on(stream on) const noexcept {
  bool used = false;
  for_each_use([&](const foreign_use& use) { used = used || use.on == on; });
  return used;
}

void pending::rename(stream from, stream to) noexcept {
  for_each_use([&](foreign_use& use) {
    if (use.on == from) use.on = to;
  });
}

void pending::wait_for_all() noexcept {
  record_late();
  for (noted_block* block : buckets_) {
    for (; block != nullptr; block = block->next_in_bucket) {
      for (foreign_use* use = block->uses; use != nullptr; use = use->next) {
        event point = event::none;
        if (is_former(use->on) || device_.record_event(use->on, point) != status::ok) continue;
        (void)device_.wait_event(point);
        device_.drop_event(point);
      }
    }
  }
  for (noted_block* block = waiting_.front(); block != nullptr; block = deferred::next(block)) {
    for (foreign_use* use = block->uses; use != nullptr; use = use->next) {
      if (use->point == event::none) continue;  // ended: the pool waits for it
      (void)device_.wait_event(use->point);
    }
  }
}

}  // namespace arcalloc::detail
