// SPDX-License-Identifier: Apache-2.0
#include "decode_flags.hpp"

#include <algorithm>

#include "cuda_device.hpp"
#include "decode/configs.hpp"
#include "decode/load.hpp"
#include "decode/serving_load.hpp"
#include "metrics_server.hpp"
#include "trace_flags.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::uint64_t model_tokens_default = 256;
constexpr std::uint64_t tokens_most = 10'000'000;
constexpr std::uint64_t rounds_most = 1000;
constexpr std::uint64_t cap_mb_most = std::uint64_t{1} << 30;
constexpr std::uint64_t ranks_most = 64;
constexpr std::uint64_t batch_most = 4096;
constexpr std::uint64_t chunk_most = 65'536;
constexpr std::uint64_t draft_most = 64;
constexpr std::uint64_t seconds_most = 31'536'000;

std::string config_list() {
  std::string list;
  for (const std::string& name : decode::config_names()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// `in_a_line` names, then a new line.
std::string load_list(std::size_t in_a_line = decode::named_loads().size()) {
  std::string list;
  std::size_t count = 0;
  for (const decode::named_load& each : decode::named_loads()) {
    if (!list.empty()) list += count % in_a_line == 0 ? ",\n" : ", ";
    list += each.name;
    ++count;
  }
  return list;
}

[[noreturn]] void refuse(const std::string& why) { throw command_failure{exit_status::bad_usage, why}; }

void set_input(const CLI::App& line, const decode_flags& flags, decode::session_settings& session) {
  const bool has_model = line.count("--model") > 0;
  const bool has_tokenizer = line.count("--tokenizer") > 0;
  if (has_model && line.count("--config") > 0) refuse("--model and --config exclude each other");
  if (has_model != has_tokenizer) {
    refuse(has_model ? "--model: needs --tokenizer as well" : "--tokenizer: needs --model as well");
  }
  if (has_model && flags.model.empty()) refuse("--model: the name is empty");
  if (has_model && flags.tokenizer.empty()) refuse("--tokenizer: the name is empty");
  session.model_path = flags.model;
  session.tokenizer_path = flags.tokenizer;
  session.prompt = flags.prompt;
  if (has_model) {
    session.tokens = model_tokens_default;
    return;
  }
  const std::vector<std::string> names = decode::config_names();
  session.config_name = line.count("--config") > 0 ? flags.config : names.front();
  if (const decode::named_load* load = decode::find_load(session.config_name)) {
    session.tokens = load->default_tokens;
    return;
  }
  if (std::find(names.begin(), names.end(), session.config_name) == names.end()) {
    refuse("--config: \"" + flags.config + "\" is none of " + config_list() + ", " + load_list());
  }
  session.tokens = decode::default_tokens(session.config_name);
}

/// What --capture needs, and what needs --capture. After everything else of the session is set.
void set_capture(const CLI::App& line, const decode_flags& flags, decode_request& request) {
  decode::session_settings& session = request.session;
  const bool records = line.count("--record-profile") > 0;
  const bool reads = line.count("--profile") > 0;
  for (const char* flag : {"--no-prewarm", "--profile", "--record-profile"}) {
    if (line.count(flag) > 0 && !flags.capture) refuse(std::string(flag) + ": of use only with --capture");
  }
  if (!flags.capture) return;
  if (session.kv != decode::kv_mode::preallocated) {
    refuse("--capture: needs --kv preallocated; with concatenated caches no step is like another");
  }
  if (session.tokens < 2) refuse("--capture: needs 2 tokens at least, one to warm up and one to replay");
  if (records && reads) refuse("--record-profile and --profile exclude each other: one is used, or one is recorded");
  if (records && flags.no_prewarm) {
    refuse("--record-profile and --no-prewarm exclude each other: a profile is recorded over warm-up steps");
  }
  for (const std::string* path : {&flags.profile, &flags.record_profile}) {
    const std::string flag = path == &flags.profile ? "--profile" : "--record-profile";
    if (line.count(flag) == 0) continue;
    if (path->empty()) refuse(flag + ": the name is empty");
    if (std::find(request.legs.begin(), request.legs.end(), leg::bounded) == request.legs.end()) {
      refuse(flag + ": is about the leg bounded, which --legs leaves out");
    }
  }
  session.capture = true;
  session.prewarm = !flags.no_prewarm;
  session.profile_path = flags.profile;
  session.profile_record_path = flags.record_profile;
}

/// The driver calls that memory comes from: --alloc, or else the device's own choice.
decode::driver_calls calls_of(const CLI::App& line, const decode_flags& flags, decode::driver_calls unless_given) {
  return line.count("--alloc") > 0 ? require_driver_calls(flags.alloc) : unless_given;
}

/// A card that the operations are charged to.
void set_sim_device(const CLI::App& line, const decode_flags& flags, decode_request& request) {
  const decode::device_model& card = require_sim_model(flags.device);
  sim_choice sim;
  sim.model = card.name;
  sim.calls = calls_of(line, flags, decode::driver_calls::stream_ordered);
  sim.granule_bytes = require_sim_granule(flags.granularity);
  if (line.count("--free") > 0) sim.free_bytes = require_count("--free", flags.free, 1, cap_mb_most) << 20;
  if (!request.session.model_path.empty()) refuse("--model: a simulated device computes nothing; give a --config");
  request.device = {device_kind::sim, card.memory_bytes, 0, flags.device,
                    sim.calls == decode::driver_calls::stream_ordered};
  request.sim = std::move(sim);
}

/// Host memory or a CUDA device.
void set_real_device(const CLI::App& line, const decode_flags& flags, decode_request& request) {
  for (const char* flag : {"--granularity", "--free", "--ranks", "--layers", "--requests"}) {
    if (line.count(flag) > 0) refuse(std::string(flag) + ": of use only with a simulated device");
  }
  request.device = require_device(flags.device);
  if (request.device.kind != device_kind::cuda) {
    if (line.count("--alloc") > 0) refuse("--alloc: of use only with a simulated or a CUDA device");
    return;
  }
  const decode::driver_calls calls = calls_of(line, flags, decode::driver_calls::synchronous);
  request.device.is_stream_ordered = calls == decode::driver_calls::stream_ordered;
  if (!request.session.model_path.empty()) {
    refuse("--model: of use on the host only; on a card the operations are memory traffic, and nothing is computed");
  }
}

/// What only a load can have, and what it cannot.
void require_load(const decode_request& request) {
  const decode::session_settings& session = request.session;
  const decode::named_load* load = decode::find_load(session.config_name);
  if (load == nullptr) {
    if (session.ranks > 1) refuse("--ranks: not with --config " + session.config_name);
    return;
  }
  if (!request.sim) refuse("--config " + session.config_name + ": needs one of " + sim_device_list());
  if (!session.prompt.empty()) refuse("--prompt: nothing is computed from it here");
  if (session.capture) refuse("--capture: not with --config " + session.config_name);
  const std::string refusal = load->refusal_of(session.ranks);
  if (!refusal.empty()) refuse("--ranks: " + refusal);
}

void set_layers(const decode_flags& flags, decode::session_settings& session) {
  const decode::named_load* load = decode::find_load(session.config_name);
  if (load == nullptr || load->layers == 0) refuse("--layers: not with --config " + session.config_name);
  session.layers = require_count("--layers", flags.layers, 1, load->layers);
}

/// Requests instead of one sequence. The file is read here as well, so that what is wrong with it is said before
/// anything runs. After the load is known to be one.
void set_serving(const CLI::App& line, const decode_flags& flags, decode::session_settings& session) {
  for (const char* flag : {"--batch", "--chunk", "--draft", "--every", "--seconds"}) {
    if (line.count(flag) > 0 && line.count("--requests") == 0)
      refuse(std::string(flag) + ": of use only with --requests");
  }
  if (line.count("--requests") == 0) return;
  if (flags.requests.empty()) refuse("--requests: the name is empty");
  const decode::named_load* load = decode::find_load(session.config_name);
  if (load == nullptr || load->layers == 0) refuse("--requests: not with --config " + session.config_name);
  for (const char* flag : {"--context", "--prompt"}) {
    if (line.count(flag) > 0) refuse(std::string(flag) + ": not with --requests, which bring their own");
  }
  decode::serving_settings how;
  how.requests_path = flags.requests;
  how.batch = require_count("--batch", flags.batch, 1, batch_most);
  how.chunk_rows = require_count("--chunk", flags.chunk, 1, chunk_most);
  how.draft = require_count("--draft", flags.draft, 0, draft_most);
  how.window_s = require_count("--every", flags.every, 1, seconds_most);
  if (line.count("--seconds") > 0) {
    if (line.count("--tokens") > 0) refuse("--seconds and --tokens exclude each other");
    how.stop_after_s = require_count("--seconds", flags.seconds, 1, seconds_most);
  }
  try {
    const std::uint64_t all =
        decode::answer_tokens(decode::read_requests(how.requests_path), load->positions_most, how.draft);
    if (all == 0) refuse("--requests: " + how.requests_path + ": all of them are longer than " + load->name + " is");
    if (line.count("--tokens") == 0) session.tokens = all;
  } catch (const decode::input_error& error) {
    refuse("--requests: " + error.message);
  }
  session.serving = std::move(how);
}

/// What the run is on, and what goes with that. After everything else of the session is set.
void set_device(const CLI::App& line, const decode_flags& flags, decode_request& request) {
  const bool is_sim = flags.device.rfind("sim:", 0) == 0;
  if (is_sim) {
    set_sim_device(line, flags, request);
  } else {
    set_real_device(line, flags, request);
  }
  request.session.ranks = require_count("--ranks", flags.ranks, 1, ranks_most);
  require_load(request);
  if (line.count("--layers") > 0) set_layers(flags, request.session);
  set_serving(line, flags, request.session);
}

void set_trace(const CLI::App& line, const decode_flags& flags, decode_request& request) {
  if (line.count("--trace") == 0) return;
  if (flags.trace.empty()) refuse("--trace: the name is empty");
  for (const std::string& other : {flags.report, flags.json, flags.profile, flags.record_profile}) {
    if (flags.trace == other) refuse("--trace: names the file of another flag");
  }
  if (std::find(request.legs.begin(), request.legs.end(), leg::bounded) == request.legs.end()) {
    refuse("--trace: is about the leg bounded, which --legs leaves out");
  }
  request.trace_path = flags.trace;
}

void set_metrics(const decode_flags& flags, decode_request& request) {
  request.metrics_port = static_cast<std::uint16_t>(require_count("--metrics", flags.metrics, 1, UINT16_MAX));
  if (!has_metrics_server()) refuse("--metrics: this program was built without prometheus-cpp");
  // Its legs run at once, in virtual time.
  if (request.sim) refuse("--metrics: of use only with --device host or cuda:N");
}

}  // namespace

void add_flags(CLI::App& line, decode_flags& flags) {
  const auto add = [&](const char* name, std::string& value, const char* kind, const std::string& description) {
    line.add_option(name, value, description)->option_text(kind);
  };
  add("--model", flags.model, "FILE", "weights in the format of llama2.c; needs --tokenizer");
  add("--tokenizer", flags.tokenizer, "FILE", "the tokenizer that belongs to the model");
  add("--config", flags.config, "NAME",
      "a named configuration with seeded weights, instead of a model:\n" + config_list() + " (default " +
          decode::config_names().front() + ");\nwith a simulated device also\n" + load_list(4));
  add("--prompt", flags.prompt, "TEXT", "text before the first generated token (default: none)");
  add("--tokens", flags.tokens, "N", "tokens to generate (default: the configuration's own; 256 for a model)");
  add("--context", flags.context, "N", "positions already in the key and value caches at the start (default 0)");
  add("--device", flags.device, "DEVICE",
      "host or host:SIZE: host memory, SIZE a whole number with KiB, MiB or GiB\n(default host, which is "
      "host:3GiB);\n" +
          sim_device_list() +
          ":\na simulated card, without arithmetic and in virtual time;\ncuda:N: a CUDA device, where the operations "
          "are memory traffic and nothing is\ncomputed");
  add("--alloc", flags.alloc, "CALLS",
      "of a card: sync, cuMemAlloc (default of cuda:N), or async, stream-ordered\ndriver calls (default of a simulated "
      "card)");
  add("--granularity", flags.granularity, "SIZE", "what a simulated card lends at least (default 512)");
  add("--free", flags.free, "MB",
      "what a simulated card has left when decoding begins, in MiB (default: all there is)");
  add("--ranks", flags.ranks, "N",
      "cards that a published model is divided among, each with its allocator (default 1)");
  add("--layers", flags.layers, "N", "the first N layers of a published model alone (default: all)");
  add("--requests", flags.requests, "FILE",
      "serve these requests with a published model, in virtual time, instead of decoding\none sequence: a CSV file, "
      "TIMESTAMP,ContextTokens,GeneratedTokens");
  add("--batch", flags.batch, "N", "sequences served at once (default 16)");
  add("--chunk", flags.chunk, "N", "rows of prompts in one step (default 512)");
  add("--draft", flags.draft, "N", "positions guessed ahead for each sequence in a step (default 0)");
  add("--every", flags.every, "SECONDS", "what a line about served traffic covers (default 900)");
  add("--seconds", flags.seconds, "N",
      "serve for so long, the file over and over (default: until all are served once)");
  add("--legs", flags.legs, "LIST", "which of off,unbounded,exact,bounded to run (default: all)");
  add("--kv", flags.kv, "MODE",
      "concat: the caches grow by concatenation (default)\npreallocated: full size from the start");
  add("--cap", flags.cap, "MB",
      "cached max of the leg bounded in MiB, instead of the environment's;\n0 caches nothing (default: derived)");
  add("--exact-cap", flags.exact_cap, "MB", "cached max of the leg exact in MiB (default 1024)");
  add("--rounds", flags.rounds, "N", "run all legs N times, taking turns, and report medians (default 1)");
  add("--metrics", flags.metrics, "PORT",
      "serve the running leg's counters for Prometheus: http://127.0.0.1:PORT/metrics");
  add("--report", flags.report, "FILE", "write one self-contained HTML page");
  add("--json", flags.json, "FILE", "write the result as JSON, schema arcalloc.decode/1");
  add("--trace", flags.trace, "FILE", "record every request of the leg bounded; with --rounds, of its last run");
  line.add_flag("--capture", flags.capture,
                "record one step in a capture window and replay it for every later token;\nneeds --kv preallocated");
  line.add_flag("--no-prewarm", flags.no_prewarm,
                "capture without warm-up steps and without a prewarm, to see what the window misses");
  add("--profile", flags.profile, "FILE", "prewarm the leg bounded from this profile, instead of warm-up steps");
  add("--record-profile", flags.record_profile, "FILE", "write the profile of the leg bounded's warm-up steps");
}

decode_request request_of(const CLI::App& line, const decode_flags& flags) {
  decode_request request;
  set_input(line, flags, request.session);
  if (line.count("--tokens") > 0) request.session.tokens = require_count("--tokens", flags.tokens, 1, tokens_most);
  request.session.context = require_count("--context", flags.context, 0, tokens_most);
  if (flags.kv != "concat" && flags.kv != "preallocated") {
    refuse("--kv: \"" + flags.kv + "\" is neither concat nor preallocated");
  }
  request.session.kv = flags.kv == "concat" ? decode::kv_mode::concat : decode::kv_mode::preallocated;
  request.legs = require_legs(flags.legs);
  if (line.count("--cap") > 0) request.bounds.cap_mb = require_count("--cap", flags.cap, 0, cap_mb_most);
  request.bounds.exact_cap_mb = require_count("--exact-cap", flags.exact_cap, 0, cap_mb_most);
  request.rounds = require_count("--rounds", flags.rounds, 1, rounds_most);
  if (line.count("--report") > 0 && flags.report.empty()) refuse("--report: the name is empty");
  if (line.count("--json") > 0 && flags.json.empty()) refuse("--json: the name is empty");
  if (!flags.report.empty() && flags.report == flags.json) refuse("--report and --json name the same file");
  set_capture(line, flags, request);
  set_trace(line, flags, request);
  for (const std::string& result : {flags.report, flags.json}) {
    if (!result.empty() && result == flags.record_profile) refuse("--record-profile: names a result's file");
  }
  request.report_path = flags.report;
  request.json_path = flags.json;
  set_device(line, flags, request);
  if (line.count("--metrics") > 0) set_metrics(flags, request);
  return request;
}

}  // namespace arcalloc::cli
