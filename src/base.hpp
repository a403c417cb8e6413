// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What every other file stands on: the always-on assertion, rounding that cannot overflow unseen,
// and an intrusive list. No state, any thread.

namespace arcalloc::detail {

[[noreturn]] void assertion_failed(const char* file, int line, const char* claim) noexcept;

inline constexpr std::uint64_t kibibyte = std::uint64_t{1} << 10;
inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
inline constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// The smallest multiple of `multiple` (positive) that is at least `value`.
/// Requires: value + multiple does not overflow; sizes above request_bytes_max never come this far.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

template <class Node>
struct list_links {
  Node* previous = nullptr;
  Node* next = nullptr;
};

/// A doubly linked list through a member of its nodes: owns nothing, allocates nothing, removes in O(1).
template <class Node, list_links<Node> Node::*Links>
class list {
 public:
  [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }
  [[nodiscard]] Node* front() const noexcept { return front_; }
  [[nodiscard]] Node* back() const noexcept { return back_; }
  [[nodiscard]] static Node* next(const Node* node) noexcept { return (node->*Links).next; }
  [[nodiscard]] static Node* previous(const Node* node) noexcept { return (node->*Links).previous; }

  void push_front(Node* node) noexcept {
    (node->*Links) = {nullptr, front_};
    (front_ != nullptr ? (front_->*Links).previous : back_) = node;
    front_ = node;
  }

  void push_back(Node* node) noexcept {
    (node->*Links) = {back_, nullptr};
    (back_ != nullptr ? (back_->*Links).next : front_) = node;
    back_ = node;
  }

  /// After `place`, or at the front where it is null.
  void insert_after(Node* place, Node* node) noexcept {
    if (place == nullptr) return push_front(node);
    if (place == back_) return push_back(node);
    (node->*Links) = {place, (place->*Links).next};
    ((place->*Links).next->*Links).previous = node;
    (place->*Links).next = node;
  }

  void remove(Node* node) noexcept {
    const list_links<Node> around = node->*Links;
    (around.previous != nullptr ? (around.previous->*Links).next : front_) = around.next;
    (around.next != nullptr ? (around.next->*Links).previous : back_) = around.previous;
    (node->*Links) = {};
  }

 private:
  Node* front_ = nullptr;
  Node* back_ = nullptr;
};

}  // namespace arcalloc::detail

/// Our own bug, never the caller's: checked in every build, because an allocator that goes on after
/// its bookkeeping broke hands out memory twice.
#define ARCALLOC_ASSERT(claim) \
  (static_cast<bool>(claim) ? static_cast<void>(0) : ::arcalloc::detail::assertion_failed(__FILE__, __LINE__, #claim))
