// SPDX-License-Identifier: Apache-2.0
// The conformance suite over the card that is here, with the driver as the loader finds it. Skipped, with exit status
// 77 and the reason, where there is none.
#include <dlfcn.h>

#include <arcalloc/cuda_backend.hpp>
#include <cstdio>

#include "conformance/backend_conformance.hpp"

namespace arcalloc::testing {
namespace {

/// Streams of the device's primary context, made once.
std::vector<stream> streams_of_card() {
  static const std::vector<stream> made = [] {
    std::vector<stream> all;
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    auto* const create = reinterpret_cast<int (*)(void**, unsigned int)>(
        library == nullptr ? nullptr : ::dlsym(library, "cuStreamCreate"));
    auto* const push =
        reinterpret_cast<int (*)(void*)>(library == nullptr ? nullptr : ::dlsym(library, "cuCtxPushCurrent_v2"));
    // Stays open, and with it the context.
    static cuda_backend keeps_context;
    if (create == nullptr || push == nullptr || keeps_context.open({}) != status::ok ||
        push(keeps_context.context()) != 0) {
      return all;
    }
    for (int i = 0; i < 3; ++i) {
      void* fresh = nullptr;
      if (create(&fresh, 1) == 0) all.push_back(cuda_backend::stream_of(fresh));
    }
    return all;
  }();
  return made;
}

backend_candidate on_card(const std::string& name, cuda_source source) {
  return {.name = name,
          .make = [source]() -> std::unique_ptr<backend> {
            if (streams_of_card().size() != 3) return nullptr;
            cuda_options wanted;
            wanted.source = source;
            // What a driver takes from the device at once, so that its figures can be compared to the byte.
            wanted.granularity = std::size_t{2} << 20;
            auto device = std::make_unique<cuda_backend>();
            return device->open(wanted) == status::ok ? std::move(device) : nullptr;
          },
          .complaints =
              [](backend& device) {
                std::vector<std::string> found;
                if (static_cast<cuda_backend&>(device).events_out() != 0) found.emplace_back("events never dropped");
                return found;
              },
          .streams = streams_of_card};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(gpu, backend_conformance,
                         ::testing::Values(on_card("cuda_driver", cuda_source::driver),
                                           on_card("cuda_stream_ordered", cuda_source::stream_ordered)),
                         name_of);

}  // namespace arcalloc::testing

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  arcalloc::cuda_backend looked_at;
  if (looked_at.open({}) != arcalloc::status::ok) {
    char why[400];
    looked_at.error_text(why, sizeof why);
    std::printf("skipped: %s\n", why);
    return 77;
  }
  std::printf("on %s\n", looked_at.device_name());
  return RUN_ALL_TESTS();
}
