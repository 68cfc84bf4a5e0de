// See fields.h. The order here is the order in which `swizzleperf machines NAME` lists the numbers.
#include "machine/fields.h"

#include <array>

namespace swizzleperf {
namespace {

constexpr bool kZeroAllowed = true;

constexpr auto kMachineFields = std::to_array<Field<Machine>>({
    {"wave", &Machine::wave},
    {"dies", &Machine::dies},
    {"cus_per_die", &Machine::cus_per_die},
    {"dispatch", &Machine::dispatch},
    {"dispatch_chunk", &Machine::dispatch_chunk},
    {"dispatch_interval_ns", &Machine::dispatch_interval_ns, kZeroAllowed},
    {"start_spread_ns", &Machine::start_spread_ns, kZeroAllowed},
    {"simds_per_cu", &Machine::simds_per_cu},
    {"waves_per_simd", &Machine::waves_per_simd},
    {"blocks_per_cu", &Machine::blocks_per_cu},
    {"barriers_per_cu", &Machine::barriers_per_cu},
    {"vgprs_per_lane", &Machine::vgprs_per_lane},
    {"vgpr_granule", &Machine::vgpr_granule},
    {"lds_bytes", &Machine::lds_bytes},
    {"lds_granule", &Machine::lds_granule},
    {"lds_reserved_per_block", &Machine::lds_reserved_per_block, kZeroAllowed},
    {"clock_ghz", &Machine::clock_ghz},
    {"vector_ops_per_clk", &Machine::vector_ops_per_clk},
    {"matrix_flops_per_clk", &Machine::matrix_flops_per_clk},
    {"lds_bytes_per_clk", &Machine::lds_bytes_per_clk},
    {"instructions_per_clk", &Machine::instructions_per_clk},
    {"fabric_bytes_per_clk", &Machine::fabric_bytes_per_clk},
    {"hbm_bytes_per_ns", &Machine::hbm_bytes_per_ns},
    {"hbm_latency_ns", &Machine::hbm_latency_ns},
    {"jitter", &Machine::jitter, kZeroAllowed},
    {"error_time", &Machine::error_time, kZeroAllowed},
    {"error_l2_points", &Machine::error_l2_points, kZeroAllowed},
});

constexpr auto kCacheFields = std::to_array<Field<CacheModel>>({
    {"bytes", &CacheModel::bytes},
    {"line_bytes", &CacheModel::line_bytes},
    {"ways", &CacheModel::ways},
    {"channels", &CacheModel::channels},
    {"interleave_bytes", &CacheModel::interleave_bytes},
    {"index", &CacheModel::index},
    {"bytes_per_clk", &CacheModel::bytes_per_clk},
    {"latency_ns", &CacheModel::latency_ns},
});

constexpr std::array<std::string_view, 2> kDispatchWords = {"round-robin-per-die", "single-queue"};
constexpr std::array<std::string_view, 3> kSetIndexWords = {"bits", "hashed", "hashed-channels"};

}  // namespace

std::span<const Field<Machine>> machine_fields() { return kMachineFields; }
std::span<const Field<CacheModel>> cache_fields() { return kCacheFields; }
std::span<const std::string_view> dispatch_words() { return kDispatchWords; }
std::span<const std::string_view> set_index_words() { return kSetIndexWords; }

}  // namespace swizzleperf
