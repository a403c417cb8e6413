// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <type_traits>

// Declarations of our own against those of cuda.h, when it is compiled.

namespace arcalloc::cuda {

/// Whether both are passed alike: pointers of whatever, or numbers of one size.
template <class Theirs, class Ours>
struct passed_alike
    : std::bool_constant<(std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>) ||
                         ((std::is_integral_v<Theirs> || std::is_enum_v<Theirs>)&&(
                              std::is_integral_v<Ours> || std::is_enum_v<Ours>)&&sizeof(Theirs) == sizeof(Ours))> {};

template <class Theirs, class Ours>
struct called_alike : std::false_type {};
template <class TheirResult, class... Theirs, class OurResult, class... Ours>
requires(sizeof...(Theirs) == sizeof...(Ours)) struct called_alike<TheirResult(Theirs...), OurResult(Ours...)>
    : std::bool_constant<passed_alike<TheirResult, OurResult>::value && (passed_alike<Theirs, Ours>::value && ...)> {
};

}  // namespace arcalloc::cuda

#define TEXT_OF(name) #name
#define EXPANDED_TEXT_OF(name) TEXT_OF(name)
// The exported name is what the header makes of the plain one.
#define AGREES(function, ours, symbol)                                                                               \
  static_assert(::arcalloc::cuda::called_alike<std::remove_pointer_t<decltype(&function)>, ours>::value, #function); \
  static_assert(std::string_view(EXPANDED_TEXT_OF(function)) == symbol, #function)
