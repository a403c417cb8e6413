// SPDX-License-Identifier: Apache-2.0
// The cuda backend over the fake driver, both of its sources.
#include <arcalloc/cuda_backend.hpp>

#include "backend_conformance.hpp"
#include "cuda/loaded_fake.hpp"

namespace arcalloc::testing {
namespace {

backend_candidate over_fake(const std::string& name, const sim_options& made_of, cuda_source source) {
  return {.name = name,
          .make = [made_of, source]() -> std::unique_ptr<backend> {
            fake_cuda::settings how;
            how.devices = {made_of};
            how.free_synchronises = false;
            loaded_fake::get().fake.reset(how);
            cuda_options wanted;
            wanted.driver_path = ARCALLOC_FAKE_CUDA;
            wanted.source = source;
            wanted.granularity = made_of.granularity;
            auto device = std::make_unique<cuda_backend>();
            return device->open(wanted) == status::ok ? std::move(device) : nullptr;
          },
          .complaints =
              [](backend& device) {
                std::vector<std::string> found = loaded_fake::get().fake.convictions(0);
                if (static_cast<cuda_backend&>(device).events_out() != 0) found.emplace_back("events never dropped");
                device.trim();
                if (loaded_fake::get().fake.device(0).lent_bytes() != 0) found.emplace_back("memory is still lent");
                return found;
              },
          .streams =
              [] {
                std::vector<stream> made;
                for (const std::uint64_t number : {1U, 2U, 3U}) {
                  made.push_back(cuda_backend::stream_of(loaded_fake::get().fake.adopt(0, stream{number})));
                }
                return made;
              }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    cuda, backend_conformance,
    ::testing::Values(over_fake("cuda_over_fake", {.memory_bytes = std::uint64_t{64} << 20}, cuda_source::driver),
                      over_fake("cuda_over_fake_large_granule",
                                {.memory_bytes = std::uint64_t{1} << 30,
                                 .others_bytes = std::uint64_t{100} << 20,
                                 .granularity = std::size_t{2} << 20},
                                cuda_source::driver),
                      over_fake("cuda_over_fake_stream_ordered", {.memory_bytes = std::uint64_t{64} << 20},
                                cuda_source::stream_ordered)),
    name_of);

}  // namespace arcalloc::testing
