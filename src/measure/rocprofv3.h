// AMD's rocprofv3, run and read. It writes three formats, and each has changed with its versions;
// all are read into one table, a row a counter, and everything after that is common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "measure/profile.h"

namespace swizzleperf::measure {

/// One number that was written: of a counter, or of a part of it (a channel, a die) of which
/// several rows make the whole.
struct CounterRow {
  std::string process;  ///< that made the launch; numbers of dispatches begin anew in each
  std::int64_t dispatch = 0;
  std::string kernel;   ///< as written
  std::string counter;  ///< as written; "TCC_HIT[3]" is a part of TCC_HIT
  double value = 0;
  std::optional<std::int64_t> begin_ns;
  std::optional<std::int64_t> end_ns;
};

/// Throw Error(kInput) naming the file and what is wrong.
std::vector<CounterRow> read_rocprofv3_csv(const std::filesystem::path& file);
std::vector<CounterRow> read_rocprofv3_json(const std::filesystem::path& file);
std::vector<CounterRow> read_rocprofv3_rocpd(const std::filesystem::path& file);

/// `program.argv[0]` is an absolute path; `scratch` is a folder of this call's own; `arch` is
/// gfx942 or so, empty if not known.
Profile run_rocprofv3(const ChildSpec& program, const Target& target,
                      const std::filesystem::path& scratch, const std::string& arch,
                      double memory_bytes_per_ns);

}  // namespace swizzleperf::measure
