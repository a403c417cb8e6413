# SPDX-License-Identifier: Apache-2.0
# The Debian package: everything that is installed, in one. tools/build_deb builds it, from a build whose prefix is /usr,
# so that libraries lie where Debian has them. cmake/debian_layout.cmake makes of the installed files what Debian's policy
# asks of a package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME arcalloc)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The arcalloc authors <arcalloc@localhost>" CACHE STRING "Who maintains the package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_layout.cmake")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "bounded caching allocator for device memory")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"arcalloc sits between an inference engine and the device driver. A hit costs
nanoseconds and no driver call, what it holds never exceeds its bounds, and it
is safe around the capture of graphs.

This package has the library, static for C++ and C and shared for C, its
headers, the program that measures, replays and explains, a library to preload
under programs of CUDA's driver, and a plug-in for PyTorch.")

# Which package has the shared library, for packages that link it; and that the loader's cache is to be made anew.
set(arcalloc_control_directory "${PROJECT_BINARY_DIR}/debian_control")
file(WRITE "${arcalloc_control_directory}/shlibs" "libarcalloc ${PROJECT_VERSION_MAJOR} arcalloc (>= ${PROJECT_VERSION})\n")
file(WRITE "${arcalloc_control_directory}/triggers" "activate-noawait ldconfig\n")
if(ARCALLOC_BUILD_SHARED)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${arcalloc_control_directory}/shlibs" "${arcalloc_control_directory}/triggers")
endif()
include(CPack)
