# SPDX-License-Identifier: Apache-2.0
# What is installed, and how others find it: a CMake package (find_package(arcalloc) gives
# arcalloc::arcalloc, arcalloc::shared with the C interface alone, and arcalloc::sim for tests without a device) and a
# pkg-config file for each of the first two. `arcalloc_targets` is exported by this file alone.
set(arcalloc_libraries arcalloc arcalloc_sim)
if(ARCALLOC_BUILD_SHARED)
  list(APPEND arcalloc_libraries arcalloc_shared)
endif()
install(TARGETS ${arcalloc_libraries} EXPORT arcalloc_targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(arcalloc_package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/arcalloc")
install(EXPORT arcalloc_targets NAMESPACE arcalloc:: DESTINATION "${arcalloc_package_directory}")
configure_package_config_file(cmake/arcalloc-config.cmake.in "${PROJECT_BINARY_DIR}/arcalloc-config.cmake"
  INSTALL_DESTINATION "${arcalloc_package_directory}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/arcalloc-config-version.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/arcalloc-config.cmake" "${PROJECT_BINARY_DIR}/arcalloc-config-version.cmake"
  DESTINATION "${arcalloc_package_directory}")

# The prefix is found from the file's own place, so that an installed tree may be moved.
file(RELATIVE_PATH arcalloc_prefix_from_pc
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" arcalloc_prefix_from_pc "${arcalloc_prefix_from_pc}")
# A C compiler that links the static library has to be told of the C++ runtime; the shared one knows of it.
set(arcalloc_runtime "")
if(CMAKE_DL_LIBS)
  string(APPEND arcalloc_runtime " -l${CMAKE_DL_LIBS}")  # dlopen, where libc does not have it itself
endif()
foreach(library stdc++ c++)
  if(library IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    string(APPEND arcalloc_runtime " -l${library}")
  endif()
endforeach()
set(arcalloc_pkg_config_files arcalloc)
if(ARCALLOC_BUILD_SHARED)
  list(APPEND arcalloc_pkg_config_files arcalloc-shared)
endif()
foreach(name ${arcalloc_pkg_config_files})
  configure_file("cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

foreach(adapter arcalloc_preload arcalloc_torch)
  if(TARGET ${adapter})
    install(TARGETS ${adapter} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endforeach()
if(ARCALLOC_BUILD_PROGRAM)
  install(TARGETS arcalloc_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES man/arcalloc.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
install(FILES README.md LICENSE CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
