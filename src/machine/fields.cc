// See fields.h. The order here is the order in which `swizzleperf machines NAME` lists the numbers.
#include "machine/fields.h"

#include <array>

namespace swizzleperf {
namespace {

constexpr bool kZeroAllowed = true;
constexpr double kGiB = 1 << 30;

constexpr auto kMachineFields = std::to_array<Field<Machine>>({
    {"wave", &Machine::wave, 64},
    {"dies", &Machine::dies, 64},
    {"cus_per_die", &Machine::cus_per_die, 1024},
    {"dispatch", &Machine::dispatch},
    {"dispatch_chunk", &Machine::dispatch_chunk, 65536},
    {"dispatch_interval_ns", &Machine::dispatch_interval_ns, 1e6, kZeroAllowed},
    {"start_spread_ns", &Machine::start_spread_ns, 1e9, kZeroAllowed},
    {"simds_per_cu", &Machine::simds_per_cu, 64},
    {"waves_per_simd", &Machine::waves_per_simd, 256},
    {"blocks_per_cu", &Machine::blocks_per_cu, 1024},
    {"barriers_per_cu", &Machine::barriers_per_cu, 1024},
    {"vgprs_per_lane", &Machine::vgprs_per_lane, 65536},
    {"vgpr_granule", &Machine::vgpr_granule, 4096},
    {"lds_bytes", &Machine::lds_bytes, 1 << 24},
    {"lds_granule", &Machine::lds_granule, 1 << 20},
    {"lds_reserved_per_block", &Machine::lds_reserved_per_block, 1 << 20, kZeroAllowed},
    {"clock_ghz", &Machine::clock_ghz, 100},
    {"vector_ops_per_clk", &Machine::vector_ops_per_clk, 1e6},
    {"matrix_flops_per_clk", &Machine::matrix_flops_per_clk, 1e8},
    {"lds_bytes_per_clk", &Machine::lds_bytes_per_clk, 1e6},
    {"instructions_per_clk", &Machine::instructions_per_clk, 10000},
    {"fabric_bytes_per_clk", &Machine::fabric_bytes_per_clk, 1e6},
    {"hbm_bytes_per_ns", &Machine::hbm_bytes_per_ns, 1e6},
    {"lines_have_home", &Machine::lines_have_home, 1, kZeroAllowed},
    {"merge_groups_per_die", &Machine::merge_groups_per_die, 1024, kZeroAllowed},
    {"merge_ns", &Machine::merge_ns, 1e6, kZeroAllowed},
    {"hbm_latency_ns", &Machine::hbm_latency_ns, 1e6},
    {"hbm_open_pages", &Machine::hbm_open_pages, 1 << 20, kZeroAllowed},
    {"hbm_activate_bytes", &Machine::hbm_activate_bytes, 65536, kZeroAllowed},
    {"hbm_write_activate_bytes", &Machine::hbm_write_activate_bytes, 65536, kZeroAllowed},
    {"exposed", &Machine::exposed, 1, kZeroAllowed},
    {"skew", &Machine::skew, 0.9, kZeroAllowed},
    {"jitter", &Machine::jitter, 1, kZeroAllowed},
    {"error_time", &Machine::error_time, 1, kZeroAllowed},
    {"error_l2_points", &Machine::error_l2_points, 100, kZeroAllowed},
});

constexpr auto kCacheFields = std::to_array<Field<CacheModel>>({
    {"bytes", &CacheModel::bytes, kGiB},
    {"line_bytes", &CacheModel::line_bytes, 128},
    {"ways", &CacheModel::ways, 64},
    {"channels", &CacheModel::channels, 4096},
    {"interleave_bytes", &CacheModel::interleave_bytes, 1 << 20},
    {"index", &CacheModel::index},
    {"bytes_per_clk", &CacheModel::bytes_per_clk, 1e6},
    {"latency_ns", &CacheModel::latency_ns, 1e6},
});

constexpr auto kL2Fields = std::to_array<Field<CacheModel>>({
    {"read_request_bytes", &CacheModel::read_request_bytes, 128},
    {"write_request_bytes", &CacheModel::write_request_bytes, 128},
    {"fill_bytes", &CacheModel::fill_bytes, 128},
    {"store_misses", &CacheModel::store_misses, 1, kZeroAllowed},
});

constexpr std::array<std::string_view, 2> kDispatchWords = {"round-robin-per-die", "single-queue"};
constexpr std::array<std::string_view, 3> kSetIndexWords = {"bits", "hashed", "hashed-channels"};

}  // namespace

std::span<const Field<Machine>> machine_fields() { return kMachineFields; }
std::span<const Field<CacheModel>> cache_fields() { return kCacheFields; }
std::span<const Field<CacheModel>> l2_fields() { return kL2Fields; }
std::span<const std::string_view> dispatch_words() { return kDispatchWords; }
std::span<const std::string_view> set_index_words() { return kSetIndexWords; }

}  // namespace swizzleperf
