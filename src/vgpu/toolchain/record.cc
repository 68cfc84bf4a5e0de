// See record.h.
#include "vgpu/toolchain/record.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "swizzleperf/error.h"
#include "vgpu/runtime/embedded.h"
#include "vgpu/toolchain/elf.h"

namespace swizzleperf::vgpu {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kLanguages = {"c", "c++", "hip", "cuda"};

std::string to_text(const Unit& unit) {
  return json{{"source", unit.source.string()},
              {"directory", unit.directory.string()},
              {"language", kLanguages.at(static_cast<std::size_t>(unit.language))},
              {"arch", unit.arch},
              {"linked", unit.linked},
              {"options", unit.options},
              {"kernels", unit.kernels}}
      .dump();
}

Unit from_text(std::string_view text) {
  const json j = json::parse(text);
  Unit unit;
  unit.source = j.at("source").get<std::string>();
  unit.directory = j.at("directory").get<std::string>();
  for (std::size_t i = 0; i < kLanguages.size(); ++i) {
    if (j.at("language") == kLanguages.at(i)) unit.language = static_cast<Language>(i);
  }
  unit.arch = j.at("arch");
  unit.linked = j.at("linked");
  unit.options = j.at("options");
  unit.kernels = j.at("kernels");
  return unit;
}

}  // namespace

std::string make_record(const Unit& unit, std::string_view bitcode) {
  const std::string text = to_text(unit);
  RecordHeader header{};
  std::memcpy(header.magic, kRecordMagic, sizeof kRecordMagic);
  header.unit_bytes = text.size();
  header.bitcode_bytes = bitcode.size();
  header.linked = unit.linked ? 1 : 0;
  header.cuda = unit.language == Language::kCuda ? 1 : 0;
  std::string record(record_bytes(header), '\0');
  std::memcpy(record.data(), &header, sizeof header);
  text.copy(record.data() + sizeof header, text.size());
  bitcode.copy(record.data() + bitcode_offset(header), bitcode.size());
  return record;
}

std::vector<Unit> units_of(const std::filesystem::path& executable) {
  const std::string file = read_file(executable);
  std::string_view section = elf_section(file, kRecordSection);
  std::vector<Unit> units;
  try {
    while (section.size() >= sizeof(RecordHeader) && is_record(section.data())) {
      RecordHeader header;
      std::memcpy(&header, section.data(), sizeof header);
      units.push_back(from_text(section.substr(sizeof header, header.unit_bytes)));
      section.remove_prefix(std::min<std::uint64_t>(section.size(), record_bytes(header)));
    }
  } catch (const json::exception&) {
    throw input_error(fmt::format(
        "{}: its record of how it was compiled is damaged; build it again", executable.string()));
  }
  return units;
}

}  // namespace swizzleperf::vgpu
