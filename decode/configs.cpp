// SPDX-License-Identifier: Apache-2.0
#include "decode/configs.hpp"

#include <array>
#include <cmath>

#include "decode/input_error.hpp"
#include "decode/session.hpp"

namespace arcalloc::decode {

namespace {

// The keys of one position take 512 bytes in both: the finest step of an exact-size cache, so that each
// growing buffer has a new size at every token. An exact-size cache without a bound retains about 2 GiB
// over the default run of demo-42m, and over that of demo-3m more than a small device has.
constexpr std::array configs{
    named_config{.name = "demo-42m",
                 .config = {.dim = 512,
                            .hidden = 2304,
                            .layers = 8,
                            .heads = 16,
                            .kv_heads = 4,
                            .vocabulary = 8192,
                            .sequence = 4096,
                            .tied = false},
                 .default_tokens = 640},
    named_config{.name = "demo-3m",
                 .config = {.dim = 256,
                            .hidden = 512,
                            .layers = 4,
                            .heads = 8,
                            .kv_heads = 4,
                            .vocabulary = 2048,
                            .sequence = 4096,
                            .tied = false},
                 .default_tokens = 1000},
};

}  // namespace

std::span<const named_config> named_configs() noexcept { return configs; }

const named_config& find_config(const std::string& name) {
  std::string known;
  for (const named_config& each : configs) {
    if (name == each.name) return each;
    known += known.empty() ? "" : ", ";
    known += each.name;
  }
  throw input_error{"no configuration is named '" + name + "'; there are " + known};
}

tensor seeded_model::make(const operations& ops, weight_name name) const {
  const shape extents = weight_shape(config_, name.kind);
  switch (name.kind) {
    case weight_kind::attention_norm:
    case weight_kind::feed_norm:
    case weight_kind::final_norm:
      return ops.filled(extents, constant_values{1});
    default:
      break;
  }
  // An embedding is looked up, not multiplied: its elements have variance 1 as they are.
  const std::size_t inputs = name.kind == weight_kind::embedding ? 1 : extents.columns;
  const float bound = std::sqrt(3.0F / static_cast<float>(inputs));
  const auto seed = static_cast<std::uint64_t>(name.kind) << 32 | name.layer;
  return ops.filled(extents, seeded_values{scramble(seed), bound});
}

std::vector<std::string> config_names() {
  std::vector<std::string> names;
  names.reserve(configs.size());
  for (const named_config& each : configs) names.emplace_back(each.name);
  return names;
}

std::size_t default_tokens(const std::string& config) { return find_config(config).default_tokens; }

}  // namespace arcalloc::decode
