// SPDX-License-Identifier: Apache-2.0
// As many cases on each backend: printed, and compared.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

namespace arcalloc::testing {
namespace {

TEST(conformance_count, is_the_same_on_every_backend) {
  std::map<std::string, int> cases;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const ::testing::TestSuite& looked_at = *all.GetTestSuite(suite);
    const std::string name = looked_at.name();
    if (name.find("/backend_conformance") == std::string::npos) continue;
    for (int i = 0; i < looked_at.total_test_count(); ++i) {
      const std::string test = looked_at.GetTestInfo(i)->name();
      ++cases[test.substr(test.find('/') + 1)];
    }
  }
  for (const char* backend : {"host", "sim", "cuda_over_fake"}) EXPECT_EQ(cases.count(backend), 1U) << backend;
  for (const auto& [backend, count] : cases) {
    std::printf("conformance: %d cases on %s\n", count, backend.c_str());
    EXPECT_EQ(count, cases["host"]) << backend;
    EXPECT_GE(count, 10) << backend;
  }
}

}  // namespace
}  // namespace arcalloc::testing
