// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include "decode/model_load.hpp"
#include "decode/requests.hpp"
#include "decode/serving_settings.hpp"

namespace arcalloc::decode {

/// A served model on one rank: continuous batching over requests as they came.
///
/// Called by run_load, which keeps the time that has been served; calls model_load. A pass takes every sequence that
/// decodes one position on (1 + draft with speculation), and rows of prompts up to the chunk, in the order of arrival.
/// A sequence joins when there is room in the batch, its prompt is absorbed in chunks, and it leaves, with its caches,
/// after its answer. Of guessed positions a seeded number is kept: each is right with seven in ten, up to the first
/// wrong one; the model that guesses is not part of this. What no sequence can hold is skipped and counted. Ranks that
/// are given the same times do the same. Concurrency: one thread. Throws memory_refused.
class serving_load final : public load {
 public:
  serving_load(const charged_memory& memory, const model_shape& model, const model_share& share,
               const serving_settings& how);

  void begin(std::size_t context) override;
  [[nodiscard]] std::uint64_t idle_ns(std::uint64_t now_ns) override;
  load_step step(std::uint64_t now_ns) override;
  [[nodiscard]] bool is_done(std::uint64_t now_ns) override;
  [[nodiscard]] std::uint64_t weight_bytes() const noexcept override { return model_.weight_bytes(); }

 private:
  struct sequence {
    served_request asked;
    cached_sequence cache;
    std::uint64_t absorbed = 0;
    std::uint64_t answered = 0;
  };

  [[nodiscard]] bool has_more() const noexcept { return how_.stop_after_s > 0 || next_ < requests_.size(); }
  void come(std::uint64_t now_ns);
  void admit();
  void take_parts(load_step& taken);
  void answer(load_step& taken);
  [[nodiscard]] std::uint64_t kept_rows();

  std::uint64_t positions_;
  model_load model_;
  serving_settings how_;
  std::vector<served_request> requests_;
  std::uint64_t span_ns_;       ///< after which the file begins anew
  std::uint64_t round_ns_ = 0;  ///< when it began
  std::size_t next_ = 0;        ///< of the file, to come
  std::deque<served_request> waiting_;
  std::list<sequence> running_;
  std::vector<pass_part> parts_;
  std::uint64_t came_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t chance_ = 0x632be59bd9b4e019;
};

/// Tokens that the answers of the file have together, without requests that are skipped.
[[nodiscard]] std::uint64_t answer_tokens(const std::vector<served_request>& requests, std::uint64_t positions,
                                          std::uint64_t draft);

}  // namespace arcalloc::decode
