# SPDX-License-Identifier: Apache-2.0
# How every target of ours is compiled. Linked PRIVATE through $<BUILD_INTERFACE:> so that none of it
# reaches a consumer of the installed package.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(arcalloc_flags INTERFACE)
target_compile_features(arcalloc_flags INTERFACE cxx_std_20 c_std_11)
target_compile_options(arcalloc_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast>
  $<$<BOOL:${ARCALLOC_WARNINGS_AS_ERRORS}>:-Werror>
  -fno-omit-frame-pointer)
if(ARCALLOC_SANITIZE)
  # vptr checks need type information, which the library is built without.
  target_compile_options(arcalloc_flags INTERFACE -fsanitize=${ARCALLOC_SANITIZE} -fno-sanitize=vptr
                         -fno-sanitize-recover=all)
  target_link_options(arcalloc_flags INTERFACE -fsanitize=${ARCALLOC_SANITIZE})
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Has the headers named compiled once for all files of a C++ target; each file still includes what it uses, which the
# presets without this hold it to.
function(arcalloc_precompile target)
  if(ARCALLOC_COMPILE_TOGETHER)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
