// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <arcalloc/backend.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace arcalloc::testing {

/// A backend that the conformance suite is run over: a small file makes one, and instantiates the suite with it.
struct backend_candidate {
  std::string name;
  /// A device of its own for each case, of a few dozen MiB where its size can be chosen.
  std::function<std::unique_ptr<backend>()> make;
  /// What it has to complain about after a case, such as what was never given back. Empty: nothing.
  std::function<std::vector<std::string>(backend&)> complaints = [](backend&) { return std::vector<std::string>(); };
  /// Three streams of the device, besides the default one.
  std::function<std::vector<stream>()> streams = [] { return std::vector<stream>{stream{1}, stream{2}, stream{3}}; };
};

/// The contract of arcalloc/backend.hpp, and nothing that it does not say.
class backend_conformance : public ::testing::TestWithParam<backend_candidate> {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// `granules` granules, which must be had.
  void* lend(std::size_t granules);
  void give_back(void* address, std::size_t granules);
  [[nodiscard]] memory_info memory() const;
  /// The default stream, then the candidate's.
  [[nodiscard]] static std::vector<stream> streams();

  std::unique_ptr<backend> device_;
  std::size_t granule_ = 0;
};

[[nodiscard]] inline std::string name_of(const ::testing::TestParamInfo<backend_candidate>& info) {
  return info.param.name;
}

}  // namespace arcalloc::testing
