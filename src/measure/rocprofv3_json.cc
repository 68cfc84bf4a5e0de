// JSON, as rocprofv3 writes it with --output-format json: a document for each process, in which a
// launch refers to its kernel and its counters by number.
//
//   rocprofiler-sdk-tool: [{metadata: {pid},
//                           counters: [{id: {handle}, name}],
//                           kernel_symbols: [{kernel_id, kernel_name, formatted_kernel_name}],
//                           callback_records: {counter_collection: [
//                             {dispatch_data: {start_timestamp, end_timestamp,
//                                              dispatch_info: {kernel_id, dispatch_id}},
//                              records: [{counter_id: {handle}, value}]}]}}]
//
// kernel_symbols is a list or an object by number; timestamps are absent before ROCm 6.3.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "measure/rocprofv3.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;
using Names = std::map<std::string, std::string>;  // numbers as they are written

Names counters_of(const json& process) {
  Names names;
  for (const json& counter : process.at("counters"))
    names[counter.at("id").at("handle").dump()] = counter.at("name").get<std::string>();
  return names;
}

/// The mangled name is exact; what is printed otherwise depends on options.
std::string name_of(const json& symbol) {
  for (const char* key : {"kernel_name", "formatted_kernel_name"})
    if (symbol.contains(key)) return symbol.at(key).get<std::string>();
  return "";
}

Names kernels_of(const json& process) {
  Names names;
  for (const auto& [key, symbol] : process.at("kernel_symbols").items())
    names[symbol.contains("kernel_id") ? symbol.at("kernel_id").dump() : json(key).dump()] =
        name_of(symbol);
  return names;
}

std::optional<std::int64_t> time_of(const json& dispatch, const char* key) {
  const auto found = dispatch.find(key);
  if (found == dispatch.end()) return std::nullopt;
  return found->get<std::int64_t>();
}

void read_process(const json& process, const std::string& file, std::vector<CounterRow>& rows) {
  const Names counters = counters_of(process);
  const Names kernels = kernels_of(process);
  const auto metadata = process.value("metadata", json::object());
  for (const json& launch : process.at("callback_records").at("counter_collection")) {
    const json& dispatch = launch.at("dispatch_data");
    const json& info = dispatch.at("dispatch_info");
    CounterRow row;
    row.process = metadata.contains("pid") ? metadata.at("pid").dump() : file;
    row.dispatch = info.at("dispatch_id").get<std::int64_t>();
    row.kernel = kernels.at(info.at("kernel_id").dump());
    row.begin_ns = time_of(dispatch, "start_timestamp");
    row.end_ns = time_of(dispatch, "end_timestamp");
    for (const json& record : launch.at("records")) {
      row.counter = counters.at(record.at("counter_id").at("handle").dump());
      row.value = record.at("value").get<double>();
      rows.push_back(row);
    }
  }
}

}  // namespace

std::vector<CounterRow> read_rocprofv3_json(const fs::path& file) {
  std::vector<CounterRow> rows;
  try {
    const json document = json::parse(read_file(file));
    const json& processes = document.at("rocprofiler-sdk-tool");
    if (processes.is_object()) read_process(processes, file.string(), rows);
    if (processes.is_array())
      for (const json& process : processes) read_process(process, file.string(), rows);
  } catch (const json::exception& fault) {
    throw input_error(
        fmt::format("{}: not what rocprofv3 writes as JSON: {}", file.string(), fault.what()));
  } catch (const std::out_of_range&) {
    throw input_error(fmt::format(
        "{}: a launch refers to a kernel or counter that the file does not name", file.string()));
  }
  return rows;
}

}  // namespace swizzleperf::measure
