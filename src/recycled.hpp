// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

#include "arena.hpp"

// Nodes of one type that come from the arena and are used again: a chain of spare ones through a member
// that a node in use has for another chain. No state of its own; guarded as the chain is.

namespace arcalloc::detail {

/// A new node, or null when the host has no memory.
template <class Node>
[[nodiscard]] Node* make(arena& memory) noexcept {
  void* const room = memory.cut(sizeof(Node));
  return room == nullptr ? nullptr : ::new (room) Node{};
}

/// A spare node as if it were new, or a new one; null when the host has no memory.
template <class Node>
[[nodiscard]] Node* take_spare(Node*& spare, Node* Node::*chain, arena& memory) noexcept {
  if (spare == nullptr) return make<Node>(memory);
  Node* const taken = spare;
  spare = taken->*chain;
  *taken = Node{};
  return taken;
}

template <class Node>
void give_back(Node*& spare, Node* Node::*chain, Node& done) noexcept {
  done.*chain = spare;
  spare = &done;
}

/// At least `count` spare nodes; false when the host has no memory.
template <class Node>
[[nodiscard]] bool reserve(Node*& spare, Node* Node::*chain, arena& memory, std::uint64_t count = 1) noexcept {
  std::uint64_t there = 0;
  for (const Node* at = spare; at != nullptr && there < count; at = at->*chain) ++there;
  for (; there < count; ++there) {
    Node* const fresh = make<Node>(memory);
    if (fresh == nullptr) return false;
    give_back(spare, chain, *fresh);
  }
  return true;
}

}  // namespace arcalloc::detail
