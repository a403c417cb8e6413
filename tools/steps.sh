# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# The steps that ./run and ./test share: packages, configuring, building. Sourced, never run.
#
# Needs `root` (the top of the checkout) set. Says what it does in one line per step; the noise of
# the tools goes to build/*.log and is shown when something fails.

# What is needed, as "PACKAGE PROBE". The package is Debian's name; the probe finds the same thing
# when it was installed another way: `c:` a command, `h:` a header that g++ can include, `r:` a run-time library of
# clang 14.
build_needs=(
  "git c:git" "g++ c:g++" "cmake c:cmake" "ninja-build c:ninja"
  "libcli11-dev h:CLI/CLI.hpp" "nlohmann-json3-dev h:nlohmann/json.hpp" "libeigen3-dev h:eigen3/Eigen/Core"
  "zlib1g-dev h:zlib.h"
)
test_needs=("libgtest-dev h:gtest/gtest.h" "pkg-config c:pkg-config" "python3 c:python3")
full_needs=(
  "clang-14 c:clang++-14" "libclang-rt-14-dev r:fuzzer" "clang-tidy-14 c:clang-tidy-14" "clang-format-14 c:clang-format-14"
  "shellcheck c:shellcheck" "mandoc c:mandoc" "valgrind c:valgrind" "libbenchmark-dev h:benchmark/benchmark.h"
  "libcub-dev h:cub/version.cuh" "libtorch-dev h:ATen/ATen.h"
)

# step N/M TEXT: announces a step.
step() { printf '[%s] %s\n' "$1" "$2"; }

# fail TEXT [STATUS]: says why in one line, and stops.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit "${2:-1}"
}

# installed PACKAGE PROBE: whether a need is met.
installed() {
  local state
  state=$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) || state=absent
  if [[ $state == installed ]]; then return 0; fi
  # Where dpkg knows the package and says no, a probe may still find it built by hand.
  case $2 in
    c:*) command -v "${2#c:}" >/dev/null ;;
    h:*) printf '#include <%s>\n' "${2#h:}" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 ;;
    r:*) compgen -G "$(clang++-14 -print-runtime-dir 2>/dev/null)/libclang_rt.${2#r:}[-.]*" >/dev/null ;;
  esac
}

# ensure_packages NEED...: installs what is missing, or says what is missing and stops with status 2.
ensure_packages() {
  local need missing=() become=()
  for need in "$@"; do
    installed "${need% *}" "${need#* }" || missing+=("${need% *}")
  done
  if ((${#missing[@]} == 0)); then return 0; fi

  if ! command -v apt-get >/dev/null; then
    fail "missing: ${missing[*]} (these are Debian's names; there is no apt-get here, so install them by your system's own means)" 2
  fi
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      become=(sudo)
    else
      fail "missing: ${missing[*]}. As root: apt-get update && apt-get install --no-install-recommends ${missing[*]}" 2
    fi
  fi
  printf '      installing %s\n' "${missing[*]}"
  mkdir -p "$root/build"
  local log=$root/build/packages.log
  if ! { "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
      apt-get -q -y --no-install-recommends install "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    fail "could not install ${missing[*]} (the whole log: $log)" 2
  fi
}

# logged LOG COMMAND...: runs a command with its output in LOG, and shows the end of it on failure.
logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    fail "failed: $* (the whole log: $log)"
  fi
}

# build_preset PRESET [TARGET...]: configures and builds build/PRESET; non-zero when that fails. A second time is
# quick.
build_preset() {
  local preset=$1 target targets=() began=$SECONDS
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  (
    cd "$root" || exit
    logged "build/$preset.configure.log" cmake --preset "$preset"
    if [[ -t 1 ]]; then
      cmake --build "build/$preset" -j "$(nproc)" "${targets[@]}" || fail "build of preset $preset failed"
    else
      logged "build/$preset.build.log" cmake --build "build/$preset" -j "$(nproc)" "${targets[@]}"
    fi
  ) || return
  printf '      built in %d s\n' $((SECONDS - began))
}
