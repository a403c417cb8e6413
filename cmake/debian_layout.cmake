# SPDX-License-Identifier: Apache-2.0
# Run by cpack over the files about to be packaged: compresses the manual pages and changelogs, strips what is static of
# debug information, and writes the copyright file. SOURCE_DATE_EPOCH is the date that it writes.
set(share "${CPACK_TEMPORARY_DIRECTORY}/usr/share")
set(documents "${share}/doc/${CPACK_PACKAGE_NAME}")
if(NOT IS_DIRECTORY "${documents}")
  message(FATAL_ERROR "there are no documents in ${documents}")
endif()

# Debian has the licence's text elsewhere.
file(REMOVE "${documents}/LICENSE")
file(WRITE "${documents}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 The arcalloc authors
License: Apache-2.0
 On Debian systems the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
")

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${documents}/changelog" "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

# One package has the library, its headers and the program: whoever builds an engine wants all of them.
file(WRITE "${share}/lintian/overrides/${CPACK_PACKAGE_NAME}" "# one package for the library, its headers and the program
${CPACK_PACKAGE_NAME}: package-name-doesnt-match-sonames libarcalloc0
${CPACK_PACKAGE_NAME}: link-to-shared-library-in-wrong-package *
# loaded by name, never linked
${CPACK_PACKAGE_NAME}: sharedobject-in-library-directory-missing-soname *libarcalloc_preload.so*
${CPACK_PACKAGE_NAME}: sharedobject-in-library-directory-missing-soname *libarcalloc_torch.so*
# whoever ships it names themselves: CPACK_PACKAGE_CONTACT
${CPACK_PACKAGE_NAME}: bogus-mail-host *
${CPACK_PACKAGE_NAME}: bogus-mail-host-in-debian-changelog *
")

file(GLOB pages "${share}/man/man*/*")
foreach(file ${pages} "${documents}/changelog")
  execute_process(COMMAND gzip -9n "${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/usr/lib/*.a")
foreach(archive ${archives})
  execute_process(COMMAND strip --strip-debug --enable-deterministic-archives "${archive}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
