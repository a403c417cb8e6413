# SPDX-License-Identifier: Apache-2.0
# Writes arcalloc_build_identity.h; run by build_identity.cmake on every build.
#
# Needs: SOURCE_DIRECTORY HEADER VERSION COMPILER BUILD_TYPE, and GIT where there is one.
# Dirty means: a tracked file differs from the commit, or an untracked file is not ignored. Sources
# that are not the top of their own checkout (an exported archive, or a copy inside another
# project's repository) have no commit to name: both are "unknown" then.
set(commit "unknown")
set(dirty "unknown")

if(GIT)
  execute_process(COMMAND "${GIT}" -C "${SOURCE_DIRECTORY}" rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE outside)
  if(outside EQUAL 0)
    file(REAL_PATH "${top}" top)
    file(REAL_PATH "${SOURCE_DIRECTORY}" here)
    if(top STREQUAL here)
      execute_process(COMMAND "${GIT}" -C "${here}" rev-parse --verify HEAD
        OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_head)
      # Without optional locks, so that a build never gets in the way of a commit made meanwhile.
      execute_process(COMMAND "${GIT}" --no-optional-locks -C "${here}" status --porcelain
        OUTPUT_VARIABLE changes ERROR_QUIET RESULT_VARIABLE no_status)
      if(no_head EQUAL 0 AND no_status EQUAL 0)
        set(commit "${head}")
        if(changes STREQUAL "")
          set(dirty "clean")
        else()
          set(dirty "dirty")
        endif()
      endif()
    endif()
  endif()
endif()

set(text "/* SPDX-License-Identifier: Apache-2.0 */
/* Written by cmake/write_build_identity.cmake. */
#ifndef ARCALLOC_BUILD_IDENTITY_H
#define ARCALLOC_BUILD_IDENTITY_H
#define ARCALLOC_BUILD_VERSION \"${VERSION}\"
#define ARCALLOC_BUILD_COMMIT \"${commit}\"
#define ARCALLOC_BUILD_DIRTY \"${dirty}\"
#define ARCALLOC_BUILD_COMPILER \"${COMPILER}\"
#define ARCALLOC_BUILD_TYPE \"${BUILD_TYPE}\"
#endif
")

set(present "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" present)
endif()
if(NOT present STREQUAL text)
  file(WRITE "${HEADER}" "${text}")
endif()
