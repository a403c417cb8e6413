# SPDX-License-Identifier: Apache-2.0
# What a build says about itself: version, commit, dirty or clean, compiler, build type.
#
# Link `arcalloc_build_identity` PRIVATE, through $<BUILD_INTERFACE:>, and include
# "arcalloc_build_identity.h". The header is looked at on every build and rewritten only when a fact
# in it changed, so that a binary never names a commit it was not built from, and a build without
# changes compiles nothing.
find_package(Git QUIET)

set(arcalloc_identity_directory "${PROJECT_BINARY_DIR}/generated")
set(arcalloc_identity_header "${arcalloc_identity_directory}/arcalloc_build_identity.h")

add_custom_target(arcalloc_write_build_identity
  COMMAND "${CMAKE_COMMAND}"
    "-DGIT=${GIT_EXECUTABLE}"
    "-DSOURCE_DIRECTORY=${PROJECT_SOURCE_DIR}"
    "-DHEADER=${arcalloc_identity_header}"
    "-DVERSION=${PROJECT_VERSION}"
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-DBUILD_TYPE=$<CONFIG>"
    -P "${PROJECT_SOURCE_DIR}/cmake/write_build_identity.cmake"
  BYPRODUCTS "${arcalloc_identity_header}"
  COMMENT "Looking at the commit this is built from"
  VERBATIM)

add_library(arcalloc_build_identity INTERFACE)
target_include_directories(arcalloc_build_identity INTERFACE "${arcalloc_identity_directory}")
add_dependencies(arcalloc_build_identity arcalloc_write_build_identity)
