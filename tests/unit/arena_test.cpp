// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace arcalloc::detail {
namespace {

constexpr std::size_t chunk = 256 * kibibyte;

/// True while the page of this address belongs to the program.
bool is_mapped(const void* address) {
  const auto page = reinterpret_cast<std::uintptr_t>(address) / (4 * kibibyte) * (4 * kibibyte);
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(page), 1, &resident) == 0;
}

TEST(arena, cuts_zeroed_pieces_that_are_aligned_and_apart) {
  arena memory;
  std::vector<std::byte*> pieces;
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{128}, std::size_t{129}, std::size_t{5000}}) {
    auto* const piece = static_cast<std::byte*>(memory.cut(bytes));
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 128, 0U);
    EXPECT_TRUE(std::all_of(piece, piece + bytes, [](std::byte at) { return at == std::byte{0}; }));
    std::fill_n(piece, bytes, std::byte{0xFF});
    for (const std::byte* other : pieces) EXPECT_NE(piece, other);
    pieces.push_back(piece);
  }
}

TEST(arena, maps_a_chunk_at_the_first_piece_and_another_when_it_is_used_up) {
  arena memory;
  EXPECT_EQ(memory.mapped_bytes(), 0U);
  ASSERT_NE(memory.cut(1), nullptr);
  EXPECT_EQ(memory.mapped_bytes(), chunk);
  // The chunk's own notes and the first piece take 128 bytes each; the rest is there to the last byte.
  ASSERT_NE(memory.cut(chunk - 256), nullptr);
  EXPECT_EQ(memory.mapped_bytes(), chunk);
  ASSERT_NE(memory.cut(1), nullptr);
  EXPECT_EQ(memory.mapped_bytes(), 2 * chunk);
}

TEST(arena, maps_as_much_as_a_piece_needs_that_is_larger_than_a_chunk) {
  arena memory;
  auto* const piece = static_cast<std::byte*>(memory.cut(3 * chunk));
  ASSERT_NE(piece, nullptr);
  piece[3 * chunk - 1] = std::byte{1};
  EXPECT_EQ(memory.mapped_bytes(), 3 * chunk + 4 * kibibyte);
}

TEST(arena, refuses_what_the_host_does_not_have_and_goes_on) {
  arena memory;
  EXPECT_EQ(memory.cut(std::size_t{1} << 60), nullptr);
  EXPECT_EQ(memory.mapped_bytes(), 0U);
  EXPECT_NE(memory.cut(1), nullptr);
}

TEST(arena, gives_every_chunk_back_when_it_dies) {
  auto memory = std::make_unique<arena>();
  const void* pieces[3] = {};
  for (const void*& piece : pieces) piece = memory->cut(chunk);
  for (const void* piece : pieces) EXPECT_TRUE(is_mapped(piece));
  memory.reset();
  for (const void* piece : pieces) EXPECT_FALSE(is_mapped(piece));
}

}  // namespace
}  // namespace arcalloc::detail
