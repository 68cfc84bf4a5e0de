// Results as JSON and back. Every number that was not measured is null; the times of single rounds
// are a CSV of their own, so that result.json stays something to read.
#include "measure/results.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/files.h"
#include "report/metrics.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kStatusNames = {"measured", "not compared", "refused"};

// --- Out ----------------------------------------------------------------------------------------

json value_of(const std::optional<double>& value) { return value ? json(*value) : json(); }

json text_of(const std::string& text) { return text.empty() ? json() : json(text); }

json estimate_json(const std::optional<Estimate>& i, const char* name) {
  if (!i) return {};
  return {{name, i->value}, {"low", i->low}, {"high", i->high}};
}

json counters_json(const Profile& profile) {
  if (!profile.counters) return {{"missing", text_of(profile.missing)}};
  const Counters& c = *profile.counters;
  return {{"l2",
           {{"requests", value_of(c.l2_requests)},
            {"hits", value_of(c.l2_hits)},
            {"hit_rate", value_of(c.l2_hit_rate)},
            {"unit", c.unit}}},
          {"hbm",
           {{"read_bytes", value_of(c.dram_read_bytes)},
            {"write_bytes", value_of(c.dram_write_bytes)}}},
          {"profiled_ms", value_of(c.milliseconds)},
          {"how", c.how},
          {"notes", c.notes},
          {"missing", nullptr}};
}

json measured_json(const Measured& m) {
  return {{"number", m.number},
          {"status", kStatusNames.at(static_cast<std::size_t>(m.status))},
          {"reason", text_of(m.reason)},
          {"compared", m.compared},
          {"notes", m.notes},
          {"time_ms", estimate_json(m.milliseconds, "median")},
          {"speedup", estimate_json(m.speedup, "median")},
          {"rounds", m.rounds.size()},
          {"counters", counters_json(m.profile)},
          {"joules", value_of(m.joules)},
          {"device", m.device}};
}

json candidate_json(const Measured& m, const Candidate& c) {
  json row = measured_json(m);
  row.update({{"swizzle", c.spec},
              {"formula", c.formula},
              {"permutation", c.permutation},
              {"predicted", c.predicted}});
  return row;
}

std::string rounds_csv(const Results& results) {
  std::string text = "candidate,round,original_ms,candidate_ms\n";
  for (const Measured& m : results.candidates) {
    for (std::size_t i = 0; i < m.rounds.size(); ++i) {
      text += fmt::format("{},{},{:.6f},{:.6f}\n", m.number, i, m.rounds[i].original_ms,
                          m.rounds[i].own_ms);
    }
  }
  return text;
}

// --- In -----------------------------------------------------------------------------------------

std::optional<double> number_at(const json& object, const char* key) {
  const json& value = object.at(key);
  if (value.is_null()) return std::nullopt;
  return value.get<double>();
}

std::string text_at(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? "" : value.get<std::string>();
}

std::optional<Estimate> estimate_at(const json& object, const char* key) {
  const json& value = object.at(key);
  if (value.is_null()) return std::nullopt;
  return Estimate{value.at("median"), value.at("low"), value.at("high")};
}

Profile profile_of(const json& object) {
  Profile profile;
  profile.missing = text_at(object, "missing");
  if (!object.contains("how")) return profile;
  Counters c;
  c.l2_requests = number_at(object.at("l2"), "requests");
  c.l2_hits = number_at(object.at("l2"), "hits");
  c.l2_hit_rate = number_at(object.at("l2"), "hit_rate");
  c.unit = object.at("l2").at("unit");
  c.dram_read_bytes = number_at(object.at("hbm"), "read_bytes");
  c.dram_write_bytes = number_at(object.at("hbm"), "write_bytes");
  c.milliseconds = number_at(object, "profiled_ms");
  c.how = object.at("how");
  c.notes = object.at("notes").get<std::vector<std::string>>();
  profile.counters = std::move(c);
  return profile;
}

Status status_of(const std::string& name) {
  for (std::size_t i = 0; i < kStatusNames.size(); ++i) {
    if (name == kStatusNames[i]) return static_cast<Status>(i);
  }
  throw std::out_of_range("there is no status '" + name + "'");
}

Measured measured_of(const json& row) {
  Measured m;
  m.number = row.at("number");
  m.status = status_of(row.at("status"));
  m.reason = text_at(row, "reason");
  m.compared = row.at("compared").get<std::vector<std::string>>();
  m.notes = row.at("notes").get<std::vector<std::string>>();
  m.milliseconds = estimate_at(row, "time_ms");
  m.speedup = estimate_at(row, "speedup");
  m.profile = profile_of(row.at("counters"));
  m.joules = number_at(row, "joules");
  m.device = row.at("device");
  return m;
}

Results results_of(const json& document) {
  if (document.at("schema_version") != kSchemaVersion) {
    throw std::out_of_range("it has another schema_version");
  }
  Results r;
  r.device = document.at("device");
  r.devices = document.at("devices");
  r.l2_state = document.at("l2_state");
  r.confidence = document.at("confidence");
  r.control = estimate_at(document, "control");
  r.original = measured_of(document.at("original"));
  for (const json& row : document.at("candidates")) r.candidates.push_back(measured_of(row));
  if (!document.at("best").is_null()) r.best = document.at("best").get<int>();
  r.verdict = document.at("verdict");
  r.protections = document.at("protections").get<std::vector<std::string>>();
  r.seconds = document.at("seconds");
  return r;
}

}  // namespace

json to_json(const Results& r, const Bundle& bundle) {
  json candidates = json::array();
  for (std::size_t i = 0; i < r.candidates.size(); ++i) {
    candidates.push_back(candidate_json(r.candidates[i], bundle.candidates.at(i)));
  }
  json original = measured_json(r.original);
  original["predicted"] = bundle.predicted;
  const Target& t = bundle.target;
  return {{"schema_version", kSchemaVersion},
          {"kernel", t.kernel},
          {"launch", t.index},
          {"grid", {t.grid.x, t.grid.y, t.grid.z}},
          {"block", {t.block.x, t.block.y, t.block.z}},
          {"machine", bundle.machine},
          {"device", r.device},
          {"devices", r.devices},
          {"l2_state", r.l2_state},
          {"confidence", r.confidence},
          {"control", estimate_json(r.control, "median")},
          {"original", original},
          {"candidates", candidates},
          {"best", r.best ? json(*r.best) : json()},
          {"verdict", r.verdict},
          {"protections", r.protections},
          {"seconds", r.seconds}};
}

void write_results(const Results& results, const Bundle& bundle) {
  const fs::path directory = bundle.directory / "results";
  make_directories(directory);
  write_file(directory / "rounds.csv", rounds_csv(results));
  write_file(directory / "result.json",
             to_json(results, bundle).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Results read_results(const fs::path& bundle_directory) {
  const fs::path file = bundle_directory / "results" / "result.json";
  const std::string text = read_file(file);
  try {
    return results_of(json::parse(text));
  } catch (const json::exception&) {
    throw input_error(
        fmt::format("{}: these are not results of measure (a value is missing or of "
                    "the wrong kind); measure the bundle again",
                    file.string()));
  } catch (const std::out_of_range& fault) {
    throw input_error(fmt::format("{}: {}; measure the bundle again", file.string(), fault.what()));
  }
}

}  // namespace swizzleperf::measure
