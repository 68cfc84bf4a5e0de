// Requests and responses as JSON. Both ends are of one version of this project, so a malformed file
// is a defect or a damaged disk, and one sentence is enough for it.
#include "vgpu/runtime/request.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "check/findings_json.h"
#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

using nlohmann::json;

constexpr std::array kJobNames = {"none", "run", "trace", "compare",
                                  "check"};  // in the order of Job

Job job_of(const std::string& name) {
  for (std::size_t job = 0; job < kJobNames.size(); ++job) {
    if (name == kJobNames[job]) return static_cast<Job>(job);
  }
  throw input_error(fmt::format("unknown job '{}' in a request file", name));
}

json parse(const std::filesystem::path& file) {
  json parsed = json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) throw input_error(fmt::format("{}: not a JSON object", file.string()));
  return parsed;
}

/// Runs `read` with the JSON library's exceptions turned into ours.
template <class Read>
auto located(const std::filesystem::path& file, Read read) {
  try {
    return read(parse(file));
  } catch (const json::exception& fault) {
    throw input_error(fmt::format("{}: {}", file.string(), fault.what()));
  }
}

}  // namespace

void to_json(json& j, const VirtualDevice& d) {
  j = {{"name", d.name},
       {"compute_units", d.compute_units},
       {"clock_ghz", d.clock_ghz},
       {"l2_bytes", d.l2_bytes},
       {"major", d.major},
       {"minor", d.minor},
       {"lds_bytes", d.lds_bytes},
       {"simds", d.simds},
       {"waves_per_simd", d.waves_per_simd},
       {"blocks", d.blocks},
       {"registers_per_lane", d.registers_per_lane},
       {"register_granule", d.register_granule},
       {"block_lds_bytes", d.block_lds_bytes},
       {"most_block_lds_bytes", d.most_block_lds_bytes}};
}

void from_json(const json& j, VirtualDevice& d) {
  d = {.name = j.at("name"),
       .compute_units = j.at("compute_units"),
       .clock_ghz = j.at("clock_ghz"),
       .l2_bytes = j.at("l2_bytes"),
       .major = j.at("major"),
       .minor = j.at("minor"),
       .lds_bytes = j.at("lds_bytes"),
       .simds = j.at("simds"),
       .waves_per_simd = j.at("waves_per_simd"),
       .blocks = j.at("blocks"),
       .registers_per_lane = j.at("registers_per_lane"),
       .register_granule = j.at("register_granule"),
       .block_lds_bytes = j.at("block_lds_bytes"),
       .most_block_lds_bytes = j.at("most_block_lds_bytes")};
}

void write_request(const Request& request, const std::filesystem::path& file) {
  json json = {{"job", kJobNames[static_cast<std::size_t>(request.job)]},
               {"response_file", request.response_file.string()},
               {"program", request.program},
               {"arch", request.arch},
               {"step_limit", request.step_limit},
               {"threads", request.threads},
               {"kernel_regex", request.kernel_regex},
               {"launch_index", request.launch_index},
               {"extrapolate", request.extrapolate},
               {"trace_file", request.trace_file.string()},
               {"patched_bitcode", request.patched_bitcode.string()},
               {"permutation_file", request.permutation_file.string()},
               {"sample_blocks", request.sample_blocks},
               {"seed", request.seed},
               {"written_file", request.written_file.string()},
               {"progress_file", request.progress_file.string()}};
  if (request.device) json["device"] = *request.device;
  write_file(file, json.dump());
}

Request read_request(const std::filesystem::path& file) {
  return located(file, [](const json& json) {
    Request request;
    request.job = job_of(json.at("job"));
    request.response_file = json.at("response_file").get<std::string>();
    request.program = json.at("program");
    request.arch = json.at("arch");
    if (json.contains("device")) request.device = json["device"].get<VirtualDevice>();
    request.step_limit = json.at("step_limit");
    request.threads = json.at("threads");
    request.kernel_regex = json.at("kernel_regex");
    request.launch_index = json.at("launch_index");
    request.extrapolate = json.at("extrapolate");
    request.trace_file = json.at("trace_file").get<std::string>();
    request.patched_bitcode = json.at("patched_bitcode").get<std::string>();
    request.permutation_file = json.at("permutation_file").get<std::string>();
    request.sample_blocks = json.at("sample_blocks");
    request.seed = json.at("seed");
    request.written_file = json.at("written_file").get<std::string>();
    request.progress_file = json.at("progress_file").get<std::string>();
    return request;
  });
}

void write_response(const Response& response, const std::filesystem::path& file) {
  json json = {{"digest", response.digest}};
  if (response.error) json["error"] = *response.error;
  if (response.comparison) {
    json["comparison"] = {{"blocks_compared", response.comparison->blocks_compared},
                          {"bytes_compared", response.comparison->bytes_compared},
                          {"bytes_not_zero", response.comparison->bytes_not_zero},
                          {"first_difference", response.comparison->first_difference}};
  }
  if (response.findings) json["findings"] = to_json(*response.findings);
  write_file(file, json.dump());
}

Response read_response(const std::filesystem::path& file) {
  return located(file, [](const json& json) {
    Response response;
    response.digest = json.at("digest");
    if (json.contains("error")) response.error = json["error"].get<std::string>();
    if (json.contains("comparison")) {
      const auto& found = json["comparison"];
      response.comparison =
          BlockComparison{found.at("blocks_compared"), found.at("bytes_compared"),
                          found.at("bytes_not_zero"), found.at("first_difference")};
    }
    if (json.contains("findings")) response.findings = findings_from_json(json["findings"]);
    return response;
  });
}

}  // namespace swizzleperf::vgpu
