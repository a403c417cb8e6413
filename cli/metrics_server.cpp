// SPDX-License-Identifier: Apache-2.0
#include "metrics_server.hpp"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <exception>
#include <limits>
#include <utility>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

/// Reads the counters whenever somebody asks.
class collected_counters final : public prometheus::Collectable {
 public:
  collected_counters(const allocator& memory, std::vector<series_label> labels) : memory_(memory) {
    for (series_label& label : labels) labels_.push_back({std::move(label.name), std::move(label.value)});
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    counters now{};
    memory_.read_counters(now);
    std::size_t count = 0;
    const counter_field* const fields = counter_fields(count);
    std::vector<prometheus::MetricFamily> families;
    families.reserve(count);
    for (std::size_t i = 0; i < count; ++i) families.push_back(family_of(fields[i], now.*fields[i].value));
    return families;
  }

 private:
  [[nodiscard]] prometheus::MetricFamily family_of(const counter_field& field, std::uint64_t value) const {
    const double shown =
        value == ARCALLOC_NO_BOUND ? std::numeric_limits<double>::infinity() : static_cast<double>(value);
    prometheus::MetricFamily family;
    family.name = std::string("arcalloc_").append(field.name);
    family.help = field.meaning;
    prometheus::ClientMetric sample;
    sample.label = labels_;
    if (field.kind == counter_kind::count) {
      family.name.append("_total");
      family.type = prometheus::MetricType::Counter;
      sample.counter.value = shown;
    } else {
      family.type = prometheus::MetricType::Gauge;
      sample.gauge.value = shown;
    }
    family.metric.push_back(std::move(sample));
    return family;
  }

  const allocator& memory_;
  std::vector<prometheus::ClientMetric::Label> labels_;
};

}  // namespace

struct metrics_server::serving {
  serving(std::uint16_t port, const allocator& memory, std::vector<series_label> labels)
      : collected(std::make_shared<collected_counters>(memory, std::move(labels))),
        exposer("127.0.0.1:" + std::to_string(port)) {
    exposer.RegisterCollectable(collected);
  }

  std::shared_ptr<prometheus::Collectable> collected;
  prometheus::Exposer exposer;
};

bool has_metrics_server() noexcept { return true; }

metrics_server::metrics_server(std::uint16_t port, const allocator& memory, std::vector<series_label> labels) try
    : serving_(std::make_unique<serving>(port, memory, std::move(labels))) {
} catch (const std::exception& error) {
  throw command_failure{exit_status::bad_usage,
                        "--metrics " + std::to_string(port) + ": cannot be served: " + error.what()};
}

metrics_server::~metrics_server() = default;

}  // namespace arcalloc::cli
