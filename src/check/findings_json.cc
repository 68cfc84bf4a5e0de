// See findings_json.h.
#include "check/findings_json.h"

#include <cstring>

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const SourceLine& at) {
  return at.line == 0 ? Json() : Json{{"file", at.file}, {"line", at.line}};
}

SourceLine line_of(const Json& json) {
  if (json.is_null()) return {};
  return {json.at("file"), json.at("line")};
}

Json json_of(const Stretch& s) {
  return {{"buffer", s.buffer}, {"offset", s.offset}, {"bytes", s.bytes}};
}

Stretch stretch_of(const Json& json) {
  return {json.at("buffer"), json.at("offset"), json.at("bytes")};
}

Json json_of(const Overlaps& overlaps) {
  Json json = {{"blocks", overlaps.blocks}, {"bytes", overlaps.bytes}, {"examples", Json::array()}};
  for (const Overlap& o : overlaps.examples) {
    Json example = {{"blocks", {o.first, o.second}}};
    example.update(json_of(o.where));
    example["lines"] = {json_of(o.first_line), json_of(o.second_line)};
    json["examples"].push_back(std::move(example));
  }
  return json;
}

Overlaps overlaps_of(const Json& json) {
  Overlaps overlaps{json.at("bytes"), json.at("blocks"), {}};
  for (const Json& e : json.at("examples")) {
    overlaps.examples.push_back({e.at("blocks").at(0), e.at("blocks").at(1), stretch_of(e),
                                 line_of(e.at("lines").at(0)), line_of(e.at("lines").at(1))});
  }
  return overlaps;
}

Json json_of(const Meetings& meetings) {
  Json json = {{"blocks", meetings.blocks},
               {"pairs", meetings.pairs},
               {"bytes", meetings.bytes},
               {"examples", Json::array()}};
  for (const Meeting& m : meetings.examples) {
    Json example = {{"writer", m.writer}, {"reader", m.reader}};
    example.update(json_of(m.where));
    example["write_line"] = json_of(m.write_line);
    example["read_line"] = json_of(m.read_line);
    example["overwritten"] = m.overwritten;
    example["waits"] = m.waits ? Json(*m.waits) : Json();
    json["examples"].push_back(std::move(example));
  }
  return json;
}

Meetings meetings_of(const Json& json) {
  Meetings meetings{json.at("blocks"), json.at("pairs"), json.at("bytes"), {}};
  for (const Json& e : json.at("examples")) {
    Meeting m{e.at("writer"),
              e.at("reader"),
              stretch_of(e),
              line_of(e.at("write_line")),
              line_of(e.at("read_line")),
              e.at("overwritten"),
              {}};
    if (!e.at("waits").is_null()) m.waits = e.at("waits").get<bool>();
    meetings.examples.push_back(std::move(m));
  }
  return meetings;
}

Json json_of(const Dim3& d) { return {d.x, d.y, d.z}; }

Dim3 extent_of(const Json& json) { return {json.at(0), json.at(1), json.at(2)}; }

}  // namespace

Json to_json(const LaunchFindings& f) {
  Json json = {{"kernel", f.kernel},
               {"grid", json_of(f.grid)},
               {"block", json_of(f.block)},
               {"seconds", f.seconds},
               {"bookkeeping_bytes", f.bookkeeping_bytes},
               {"repeated", json_of(f.repeated)},
               {"different", json_of(f.different)},
               {"same", json_of(f.same)},
               {"blocks_without_own_bytes", f.blocks_without_own_bytes},
               {"communication", json_of(f.communication)},
               {"ordered", json_of(f.ordered)},
               {"atomic_bytes", f.atomic_bytes},
               {"ticket_blocks", f.ticket_blocks},
               {"bytes_of_block", f.bytes_of_block == 0 ? Json() : Json(f.bytes_of_block)},
               {"buffers", Json::array()},
               {"arguments", Json::array()}};
  for (const Buffer& b : f.buffers)
    json["buffers"].push_back({{"name", b.name}, {"address", b.base}, {"bytes", b.bytes}});
  for (const PointerArgument& a : f.arguments) {
    json["arguments"].push_back(
        {{"index", a.index}, {"name", a.name}, {"address", a.address}, {"buffer", a.buffer}});
  }
  return json;
}

LaunchFindings findings_from_json(const Json& json) {
  LaunchFindings f;
  f.kernel = json.at("kernel");
  f.grid = extent_of(json.at("grid"));
  f.block = extent_of(json.at("block"));
  f.seconds = json.at("seconds");
  f.bookkeeping_bytes = json.at("bookkeeping_bytes");
  f.repeated = overlaps_of(json.at("repeated"));
  f.different = overlaps_of(json.at("different"));
  f.same = overlaps_of(json.at("same"));
  f.blocks_without_own_bytes = json.at("blocks_without_own_bytes");
  f.communication = meetings_of(json.at("communication"));
  f.ordered = meetings_of(json.at("ordered"));
  f.atomic_bytes = json.at("atomic_bytes");
  f.ticket_blocks = json.at("ticket_blocks");
  if (!json.at("bytes_of_block").is_null()) f.bytes_of_block = json.at("bytes_of_block");
  for (const Json& b : json.at("buffers"))
    f.buffers.push_back({b.at("name"), b.at("address"), b.at("bytes")});
  for (const Json& a : json.at("arguments"))
    f.arguments.push_back({a.at("index"), a.at("name"), a.at("address"), a.at("buffer")});
  return f;
}

std::string written_bytes(const std::vector<WrittenRun>& runs) {
  return {reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(WrittenRun)};
}

std::vector<WrittenRun> written_from_bytes(const std::string& bytes) {
  std::vector<WrittenRun> runs(bytes.size() / sizeof(WrittenRun));
  if (!runs.empty()) std::memcpy(runs.data(), bytes.data(), runs.size() * sizeof(WrittenRun));
  return runs;
}

}  // namespace swizzleperf
