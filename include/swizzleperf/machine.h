// A machine model: what the cache model and the occupancy rules need to know of a GPU.
//
// Models are data (machines/*.toml), one number a line with its value, its source and its kind:
//   documented - a vendor or a published work says so;
//   measured   - somebody ran something, and the source says what;
//   memory     - somebody remembers it: treat as a guess;
//   calibrated - nobody publishes it: a parameter of the model. Its source says whether it was
//                fitted (docs/model.md), assumed, or is still the value it started with.
// The struct below holds the values that code reads, under the names that the files use; the
// provenance stays beside it for `swizzleperf machines NAME` and for the context of a proposer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace swizzleperf {

/// How the hardware hands blocks to dies.
enum class Dispatch {
  kRoundRobinPerDie,  ///< AMD: block p to die (p / chunk) mod dies; each die keeps its own queue
  kSingleQueue,       ///< NVIDIA: one queue in increasing order, next free slot anywhere
};

/// How an address picks a set of a cache.
enum class SetIndex {
  kBits,            ///< plain address bits above the line
  kHashed,          ///< a hash of all address bits above the line
  kHashedChannels,  ///< channel by hash, set inside the channel by plain bits
};

/// One cache (per CU for L1, per die for L2, one for the whole device for the last level).
struct CacheModel {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 128;
  std::uint32_t ways = 16;
  std::uint32_t channels = 1;
  std::uint32_t interleave_bytes = 256;  ///< consecutive bytes on one channel
  SetIndex index = SetIndex::kBits;
  // Of L2 only: how its counters count.
  std::uint32_t read_request_bytes = 128;  ///< how reads are fetched and counted (NVIDIA: 32)
  std::uint32_t write_request_bytes = 64;  ///< how writes are counted (NVIDIA: 32)
  std::uint32_t fill_bytes =
      128;  ///< aligned pieces in which it fetches; used where lines have a home
  std::uint32_t store_misses = 1;  ///< that a store to an absent line counts (NVIDIA: none)
  double bytes_per_clk = 0;        ///< of one instance, reads
  double latency_ns = 0;           ///< load-to-use of a hit, unloaded

  [[nodiscard]] std::uint32_t sets() const {
    return static_cast<std::uint32_t>(bytes / (static_cast<std::uint64_t>(line_bytes) * ways));
  }
};

/// Where a number comes from.
struct Provenance {
  std::string key;     ///< dotted path in the file, e.g. "l2.bytes"
  std::string value;   ///< as written
  std::string kind;    ///< documented | measured | memory | calibrated
  std::string source;  ///< document, experiment or data it was fitted to
  std::string note;    ///< what else to know of it; may be empty
};

struct Machine {
  std::string name;         ///< "mi300x", or "mi300x-cpx" for a partition mode
  std::string title;        ///< "AMD Instinct MI300X"
  std::string vendor;       ///< "amd" | "nvidia"
  std::string arch;         ///< code generator target: gfx942, sm_90, ...
  std::string die_word;     ///< what the vendor calls a die: XCD, GCD, L2 partition
  std::uint32_t wave = 64;  ///< lanes of a wave (warp)

  // Dispatch.
  std::uint32_t dies = 1;
  std::uint32_t cus_per_die = 1;
  Dispatch dispatch = Dispatch::kRoundRobinPerDie;
  std::uint32_t dispatch_chunk = 1;
  double dispatch_interval_ns = 0;  ///< time between two block starts of one queue
  double start_spread_ns = 0;       ///< over which the blocks that fill an empty machine begin

  // Occupancy of one CU (SM). NVIDIA's 65,536 registers of an SM in four quarters are 512 a lane of
  // each quarter, and its granule of 256 a warp is 8 a lane: both vendors fit one rule.
  std::uint32_t simds_per_cu = 4;
  std::uint32_t waves_per_simd = 8;
  std::uint32_t blocks_per_cu = 32;
  std::uint32_t barriers_per_cu = 16;  ///< a block of more than one wave holds one
  std::uint32_t vgprs_per_lane = 512;  ///< per SIMD, architectural plus accumulation where unified
  std::uint32_t vgpr_granule = 8;
  std::uint32_t lds_bytes = 65536;
  std::uint32_t lds_granule = 512;
  std::uint32_t lds_reserved_per_block =
      0;  ///< taken by the system on top of what a block asks for

  // Rates of one CU a clock.
  double clock_ghz = 1.0;
  double vector_ops_per_clk = 128;     ///< 32-bit lane operations
  double matrix_flops_per_clk = 2048;  ///< dense fp16
  double lds_bytes_per_clk = 128;
  double instructions_per_clk = 4;  ///< wave instructions issued

  // Memory system.
  CacheModel l1;                    ///< per CU
  CacheModel l2;                    ///< per die
  std::optional<CacheModel> llc;    ///< memory side, shared by all dies
  double fabric_bytes_per_clk = 0;  ///< of one die towards the last level, memory or other dies
  std::uint32_t lines_have_home =
      0;  ///< 1: a line has a home die that the others' L2s fetch it from
  std::uint32_t merge_groups_per_die = 0;  ///< CUs whose loads of one line meet before L2; 0 = none
  double merge_ns = 0;                     ///< calibrated: for how long after the first
  double hbm_bytes_per_ns = 0;             ///< GB/s / 1e9 * 1e9: bytes a nanosecond
  double hbm_latency_ns = 0;
  std::uint32_t hbm_open_pages = 0;  ///< calibrated: pages of memory open at once; 0 = no such cost
  double hbm_activate_bytes = 0;     ///< calibrated: what opening one costs, in bytes not moved
  double hbm_write_activate_bytes = 0;  ///< and to write
  /// Calibrated: the share of a step's arithmetic and memory time, of whichever is shorter, that
  /// the other does not hide.
  double exposed = 0;
  double skew = 0;    ///< calibrated: relative spread of the speeds of CUs, each keeping its own
  double jitter = 0;  ///< calibrated: relative spread of a block's step times

  double error_time = 0;       ///< the model's stated relative error of predicted time ratios
  double error_l2_points = 0;  ///< and of L2 hit rates, in points
  std::vector<Provenance> provenance;
};

/// Where the shipped models lie: $SWIZZLEPERF_MACHINES, else beside the executable's folder
/// (../machines of a build, ../share/swizzleperf/machines of an installation). Throws
/// Error(kInput).
std::filesystem::path machines_directory();

/// Loads machines/NAME.toml, NAME-MODE of a partition mode, or a file by path (anything with a '/'
/// or ending in ".toml"), which may say `base = "NAME"` and give only what differs. Throws
/// Error(kUsage) for an unknown name (naming the known ones) and Error(kInput) for a malformed
/// file, with the file, the line, the key and what was expected.
Machine load_machine(const std::string& name_or_path);

/// Names that load_machine accepts, with titles, partition modes included.
std::vector<Machine> all_machines();

/// What one block of a kernel needs of a CU.
struct BlockResources {
  std::uint32_t threads = 0;
  std::uint32_t vgprs = 0;  ///< per lane, including accumulation registers; 0 = unknown
  std::uint32_t lds_bytes = 0;
};

struct Occupancy {
  std::uint32_t blocks_per_cu = 0;
  std::string limit;  ///< what ran out first: "LDS", "registers", "waves", "blocks", "barriers"
};

/// How many blocks share a CU. Throws Error(kInput) when not even one fits, naming what is short.
Occupancy occupancy(const Machine& machine, const BlockResources& block);

}  // namespace swizzleperf
