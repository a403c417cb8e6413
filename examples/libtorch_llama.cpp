// SPDX-License-Identifier: Apache-2.0
// A Llama of llama2.c's file format decoded by libtorch, eagerly, the keys and values grown by concatenation: on
// arcalloc's memory, or on libtorch's own.
//
//   libtorch_llama MODEL TOKENIZER TOKENS arcalloc|libtorch
//
// Prints the text, greedily chosen, and then one line of JSON: ms per token after the first ten tokens, and the growth
// of the process's resident memory since before the first token, at half of the tokens and at the end; on arcalloc the
// counters too. Exit status 1 when a tensor is not arcalloc's, 2 when an argument or a file is wrong.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <unistd.h>
#include <arcalloc/adapters/libtorch.hpp>
#include <arcalloc/host_backend.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "libtorch_llama: %s\n", what.c_str());
  std::exit(2);
}

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Whose the memory of tensors is, looked at for every tensor that the model makes.
class tensor_check {
 public:
  explicit tensor_check(const arcalloc::allocator* memory) : memory_(memory) {}

  at::Tensor operator()(at::Tensor made) {
    ++tensors_;
    arcalloc::segment_extent extent;
    if (memory_ != nullptr && memory_->locate(made.data_ptr(), extent) != arcalloc::status::ok) ++strangers_;
    return made;
  }
  [[nodiscard]] std::uint64_t tensors() const { return tensors_; }
  [[nodiscard]] std::uint64_t strangers() const { return strangers_; }

 private:
  const arcalloc::allocator* memory_;
  std::uint64_t tensors_ = 0;
  std::uint64_t strangers_ = 0;
};

/// The file: seven int32, then float32 arrays, each for all layers; see docs/decode.md of arcalloc.
struct model_file {
  explicit model_file(const std::string& path) : bytes(bytes_of(path)) {
    std::array<std::int32_t, 7> header{};
    if (bytes.size() < sizeof header) fail(path + ": shorter than its header");
    std::copy_n(bytes.data(), sizeof header, reinterpret_cast<char*>(header.data()));
    dim = header[0], hidden = header[1], layers = header[2], heads = header[3], kv_heads = header[4];
    tied = header[5] > 0;
    vocabulary = std::abs(header[5]);
    sequence = header[6];
    if (dim <= 0 || hidden <= 0 || layers <= 0 || heads <= 0 || kv_heads <= 0 || vocabulary <= 0 || sequence <= 0 ||
        dim % heads != 0 || heads % kv_heads != 0) {
      fail(path + ": its header is not that of a model");
    }
    at = sizeof header;
  }

  /// The next array, as tensors of their own, one a layer.
  std::vector<at::Tensor> next(std::int64_t count, std::vector<std::int64_t> shape, tensor_check& seen) {
    std::int64_t size = 1;
    for (const std::int64_t n : shape) size *= n;
    std::vector<at::Tensor> read;
    for (std::int64_t i = 0; i < count; ++i) {
      if (bytes.size() - at < static_cast<std::size_t>(size) * 4) fail("the model's file ends before its weights do");
      const at::Tensor view = at::from_blob(bytes.data() + at, shape, at::kFloat);
      read.push_back(seen(view.clone()));
      at += static_cast<std::size_t>(size) * 4;
    }
    return read;
  }

  std::vector<char> bytes;
  std::size_t at = 0;
  std::int64_t dim, hidden, layers, heads, kv_heads, vocabulary, sequence;
  bool tied;
};

class llama {
 public:
  llama(model_file& file, tensor_check& seen) : seen_(seen), file_(file) {
    const std::int64_t d = file.dim, h = file.hidden, n = file.layers, kv = d / file.heads * file.kv_heads;
    embedding_ = file.next(1, {file.vocabulary, d}, seen)[0];
    attention_norm_ = file.next(n, {d}, seen);
    query_ = file.next(n, {d, d}, seen);
    key_ = file.next(n, {kv, d}, seen);
    value_ = file.next(n, {kv, d}, seen);
    output_ = file.next(n, {d, d}, seen);
    feed_norm_ = file.next(n, {d}, seen);
    gate_ = file.next(n, {h, d}, seen);
    down_ = file.next(n, {d, h}, seen);
    up_ = file.next(n, {h, d}, seen);
    final_norm_ = file.next(1, {d}, seen)[0];
    file.at += static_cast<std::size_t>(file.sequence * (d / file.heads)) * 4;  // two tables of half a head each
    classifier_ = file.tied ? embedding_ : file.next(1, {file.vocabulary, d}, seen)[0];
    keys_.resize(static_cast<std::size_t>(n));
    values_.resize(static_cast<std::size_t>(n));
  }

  std::int64_t next_token(std::int64_t token, std::int64_t position) {
    at::Tensor x = seen_(embedding_[token].clone());
    for (std::size_t layer = 0; layer < keys_.size(); ++layer) {
      x = seen_(x + attention(layer, norm(x, attention_norm_[layer]), position));
      x = seen_(x + feed_forward(layer, norm(x, feed_norm_[layer])));
    }
    const at::Tensor logits = seen_(at::mv(classifier_, norm(x, final_norm_)));
    return seen_(at::argmax(logits)).item<std::int64_t>();
  }

 private:
  at::Tensor norm(const at::Tensor& x, const at::Tensor& weight) {
    const at::Tensor scale = seen_(at::rsqrt(seen_(seen_(at::mean(seen_(x * x))) + 1e-5)));
    return seen_(seen_(x * scale) * weight);
  }

  /// Pairs of neighbours turned by position / 10000^(2i / head).
  at::Tensor turned(const at::Tensor& x, std::int64_t heads, std::int64_t position) {
    const std::int64_t head = file_.dim / file_.heads;
    const at::Tensor exponents = seen_(at::arange(0, head, 2, at::kFloat));
    const at::Tensor angles = seen_(seen_(at::pow(10000.0, seen_(exponents / -static_cast<double>(head)))) * position);
    const at::Tensor pairs = x.view({heads, head / 2, 2});
    const at::Tensor a = pairs.select(2, 0), b = pairs.select(2, 1);
    const at::Tensor cosine = seen_(at::cos(angles)), sine = seen_(at::sin(angles));
    const at::Tensor first = seen_(seen_(a * cosine) - seen_(b * sine));
    const at::Tensor second = seen_(seen_(a * sine) + seen_(b * cosine));
    return seen_(at::stack({first, second}, 2)).view({heads, 1, head});
  }

  at::Tensor attention(std::size_t layer, const at::Tensor& x, std::int64_t position) {
    const std::int64_t head = file_.dim / file_.heads, sharing = file_.heads / file_.kv_heads;
    const at::Tensor query = turned(seen_(at::mv(query_[layer], x)), file_.heads, position);
    const at::Tensor key = turned(seen_(at::mv(key_[layer], x)), file_.kv_heads, position);
    const at::Tensor value = seen_(at::mv(value_[layer], x)).view({file_.kv_heads, 1, head});
    keys_[layer] = position == 0 ? key : seen_(at::cat({keys_[layer], key}, 1));
    values_[layer] = position == 0 ? value : seen_(at::cat({values_[layer], value}, 1));
    const at::Tensor all_keys = seen_(keys_[layer].repeat_interleave(sharing, 0));
    const at::Tensor all_values = seen_(values_[layer].repeat_interleave(sharing, 0));
    const at::Tensor scores =
        seen_(seen_(at::bmm(query, all_keys.transpose(1, 2))) / std::sqrt(static_cast<double>(head)));
    const at::Tensor mixed = seen_(at::bmm(seen_(at::softmax(scores, 2)), all_values));
    return seen_(at::mv(output_[layer], mixed.reshape({file_.dim})));
  }

  at::Tensor feed_forward(std::size_t layer, const at::Tensor& x) {
    const at::Tensor gate = seen_(at::silu(seen_(at::mv(gate_[layer], x))));
    return seen_(at::mv(down_[layer], seen_(gate * seen_(at::mv(up_[layer], x)))));
  }

  tensor_check& seen_;
  const model_file& file_;
  at::Tensor embedding_, final_norm_, classifier_;
  std::vector<at::Tensor> attention_norm_, query_, key_, value_, output_, feed_norm_, gate_, down_, up_;
  std::vector<at::Tensor> keys_, values_;
};

/// int32 longest, then for each token float32 score, int32 length and its bytes.
std::vector<std::string> pieces_of(const std::string& path, std::int64_t vocabulary) {
  const std::vector<char> bytes = bytes_of(path);
  std::vector<std::string> pieces;
  std::size_t at = 4;
  while (static_cast<std::int64_t>(pieces.size()) < vocabulary) {
    std::int32_t length = -1;
    if (bytes.size() >= at + 8) std::copy_n(bytes.data() + at + 4, 4, reinterpret_cast<char*>(&length));
    if (length < 0 || bytes.size() - at - 8 < static_cast<std::size_t>(length)) fail(path + ": ends within its tokens");
    pieces.emplace_back(bytes.data() + at + 8, static_cast<std::size_t>(length));
    at += 8 + static_cast<std::size_t>(length);
  }
  return pieces;
}

/// As llama2.c prints it: a space is dropped after the token of start, and <0xHH> is that byte.
std::string printed(const std::string& piece, bool first) {
  unsigned byte = 0;
  if (std::sscanf(piece.c_str(), "<0x%02X>", &byte) == 1) return std::string(1, static_cast<char>(byte));
  return first && piece.starts_with(' ') ? piece.substr(1) : piece;
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t whole = 0, resident = 0;
  statm >> whole >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// What `after` tells of the run, beside arcalloc's counters where there are any.
struct measured {
  std::int64_t tokens = 0, before_bytes = 0, half_bytes = 0, end_bytes = 0, half_reserved_bytes = 0;
  double ms_per_token = 0;
};

measured decode(llama& model, std::int64_t tokens, const std::vector<std::string>& pieces,
                arcalloc::allocator* memory) {
  using clock = std::chrono::steady_clock;
  constexpr std::int64_t warm_up = 10;
  measured m;
  m.before_bytes = resident_bytes();
  std::int64_t token = 1;  // begins every sequence, and sampled, ends one
  clock::time_point began = clock::now();
  for (std::int64_t position = 0; position < tokens; ++position) {
    if (position == warm_up) began = clock::now();
    const std::int64_t next = model.next_token(token, position);
    if (memory != nullptr) memory->end_step();
    if (next == 1) break;
    std::fputs(printed(pieces[static_cast<std::size_t>(next)], token == 1).c_str(), stdout);
    token = next;
    ++m.tokens;
    if (position == tokens / 2) {
      m.half_bytes = resident_bytes();
      arcalloc::counters c{};
      if (memory != nullptr) memory->read_counters(c);
      m.half_reserved_bytes = static_cast<std::int64_t>(c.reserved_bytes);
    }
  }
  const std::chrono::duration<double, std::milli> took = clock::now() - began;
  m.ms_per_token = took.count() / static_cast<double>(std::max<std::int64_t>(m.tokens - warm_up, 1));
  m.end_bytes = resident_bytes();
  return m;
}

int run(const std::string& model_path, const std::string& tokenizer_path, std::int64_t tokens, bool ours) {
  static arcalloc::host_backend device{std::uint64_t{1} << 30};
  arcalloc::allocator* memory = nullptr;
  if (ours) {
    if (arcalloc::allocator::create(device, {}, memory) != arcalloc::status::ok) fail("arcalloc cannot be created");
    // Lives as long as libtorch, which keeps pointers to it.
    static arcalloc::libtorch_allocator torch(*memory);
    torch.install();
    if (memory->begin_phase(arcalloc::phase::decode) != arcalloc::status::ok) fail("no decode phase");
  }
  at::set_num_threads(1);
  tensor_check seen(memory);
  model_file file(model_path);
  const std::vector<std::string> pieces = pieces_of(tokenizer_path, file.vocabulary);
  if (tokens > file.sequence) fail("the model has at most " + std::to_string(file.sequence) + " tokens");
  llama model(file, seen);
  const measured m = decode(model, tokens, pieces, memory);
  arcalloc::counters c{};
  if (memory != nullptr) memory->read_counters(c);
  std::printf(
      "\n{\"tokens\":%lld,\"ms_per_token\":%.6f,\"growth_bytes_at_half\":%lld,\"growth_bytes\":%lld,\"tensors\":%llu,"
      "\"not_ours\":%llu,\"reserved_bytes_at_half\":%lld,\"reserved_bytes\":%llu,\"reserved_bytes_peak\":%llu,"
      "\"requests\":%llu,\"hits\":%llu,\"driver_allocs\":%llu}\n",
      static_cast<long long>(m.tokens), m.ms_per_token, static_cast<long long>(m.half_bytes - m.before_bytes),
      static_cast<long long>(m.end_bytes - m.before_bytes), static_cast<unsigned long long>(seen.tensors()),
      static_cast<unsigned long long>(seen.strangers()), static_cast<long long>(m.half_reserved_bytes),
      static_cast<unsigned long long>(c.reserved_bytes), static_cast<unsigned long long>(c.reserved_bytes_peak),
      static_cast<unsigned long long>(c.requests), static_cast<unsigned long long>(c.hits),
      static_cast<unsigned long long>(c.driver_allocs));
  return seen.strangers() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("needs MODEL TOKENIZER TOKENS arcalloc|libtorch");
  char* end = nullptr;
  const long tokens = std::strtol(argv[3], &end, 10);
  if (*argv[3] == '\0' || *end != '\0' || tokens < 1) fail(std::string("TOKENS: '") + argv[3] + "' is not a count");
  const std::string whose = argv[4];
  if (whose != "arcalloc" && whose != "libtorch") fail("'" + whose + "' is neither arcalloc nor libtorch");
  return run(argv[1], argv[2], tokens, whose == "arcalloc");
}
