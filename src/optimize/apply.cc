// See apply.h.
#include "optimize/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "base/files.h"
#include "propose/judgement.h"
#include "report/table.h"
#include "splice/triton.h"
#include "swizzleperf/print.h"

namespace swizzleperf {
namespace {

constexpr std::size_t kCommentWidth = 92;
constexpr const char* kHelper = "swizzleperf_block";

std::string grid_text(const Dim3& grid) {
  return fmt::format("{} x {} x {}", grid.x, grid.y, grid.z);
}

std::string proof_comment(const Launch& launch, const Proof& proof) {
  std::string text =
      fmt::format("Proved by evaluation: every block exactly once on the grid {} with {} {}s",
                  grid_text(launch.shape.grid), launch.shape.num_xcds, launch.machine.die_word);
  if (proof.guard.condition.empty()) {
    return text + fmt::format(
                      "\nand on all {} launches of the declared range (1-3 dimensions, up to 4,096 "
                      "blocks).",
                      proof.range.checked);
  }
  return text + fmt::format(
                    ".\nElsewhere it holds where {}; where not ({:.0f} % of the declared range's "
                    "launches)\nthis code is the identity.",
                    proof.guard.condition, 100 * proof.guarded_share);
}

std::filesystem::path build_patched_triton(vgpu::ProgramSpec spec,
                                           const std::filesystem::path& patched,
                                           const std::filesystem::path& directory) {
  spec.kernel_source = patched;
  return vgpu::build_device(spec, directory);
}

/// What the file that gets the code defines as macros. Those of its headers cannot be told without
/// compiling it; a header whose macros are words in lower case is rare.
std::vector<std::string> macros_in(const vgpu::ProgramSpec& spec) {
  std::vector<std::string> names;
  if (is_trace_file(spec.program)) return names;
  const std::string text = read_file(vgpu::spliced_source(spec));
  static const std::regex kDefine(R"(#[ \t]*define[ \t]+(\w+))");
  for (std::sregex_iterator m(text.begin(), text.end(), kDefine), end; m != end; ++m) {
    names.push_back((*m)[1]);
  }
  return names;
}

}  // namespace

std::filesystem::path patch_root(const std::filesystem::path& source) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::filesystem::path below =
      std::filesystem::absolute(source).lexically_normal().lexically_relative(here);
  return below.empty() || *below.begin() == ".." ? std::filesystem::path() : here;
}

std::uint64_t compared_blocks(const Trace& trace) {
  constexpr double kInstructions = 80e6;  // of waves, about what a core runs in a second
  constexpr double kMatrixFlops = 10e9;
  double cost = 0;
  for (const Template& t : trace.templates) {
    double seconds = 0;
    for (const Interval& i : t.intervals) {
      seconds += i.cost.instructions / kInstructions + i.cost.matrix_flops / kMatrixFlops;
    }
    cost = std::max(cost, 2 * seconds);  // the original's block and the patched one's
  }
  return static_cast<std::uint64_t>(std::clamp(0.5 / std::max(cost, 1e-9), 4.0, 64.0));
}

std::filesystem::path build_patched(vgpu::Unit unit, const std::filesystem::path& source,
                                    const std::filesystem::path& patched,
                                    const std::filesystem::path& directory) {
  const std::filesystem::path beside = std::filesystem::absolute(source).parent_path();
  unit.options.push_back("-iquote" + beside.string());
  return vgpu::build_device(unit, patched, directory);
}

Proof prove(const Swizzle& swizzle, const LaunchShape& shape, unsigned threads) {
  constexpr double kSeconds = 60;  // one that loops may take for ever
  Proof proof;
  proof.launch_blocks = shape.grid.count();
  const auto range = verify_range_within(swizzle.formula, threads, kSeconds);
  proof.range = range.value_or(RangeVerdict{});
  if (range && range->failed == 0) return proof;
  const auto guard =
      range ? find_guard(swizzle.formula, default_verify_range(), threads) : std::nullopt;
  if (guard) {
    proof.guard = guard->guard;
    proof.guarded_share =
        static_cast<double>(guard->fallen_back) / static_cast<double>(guard->checked);
  } else {
    proof.guard.condition =
        fmt::format("num_pid_x == {} && num_pid_y == {} && num_pid_z == {} && num_xcds == {}",
                    shape.grid.x, shape.grid.y, shape.grid.z, shape.num_xcds);
    proof.guarded_share = 1;
  }
  return proof;
}

std::string helper_code(const Swizzle& swizzle, const Launch& launch, const Proof& proof,
                        const vgpu::ProgramSpec& spec) {
  PrintOptions options;
  options.taken = macros_in(spec);
  options.function = kHelper;
  options.num_xcds = launch.shape.num_xcds;
  options.cus_per_xcd = launch.shape.cus_per_xcd;
  options.guard = proof.guard;
  options.grid = launch.shape.grid;
  options.comment =
      wrap(fmt::format("Swizzle {}: {}", swizzle.spec, swizzle.words), kCommentWidth) +
      proof_comment(launch, proof);
  return is_triton(spec) ? print_triton(swizzle.formula, options)
                         : print_cpp(swizzle.formula, options);
}

Applied apply(const Swizzle& swizzle, const Launch& launch, const Proof& proof,
              const vgpu::ProgramSpec& spec, const vgpu::BuiltProgram& built,
              const std::filesystem::path& work_directory) {
  Applied applied;
  const std::filesystem::path directory = work_directory / "patched";
  std::filesystem::create_directories(directory);
  const bool triton = is_triton(spec);
  std::optional<vgpu::Unit> unit;
  splice::SpliceRequest request;
  if (triton) {
    applied.source = vgpu::spliced_source(spec);
  } else {
    unit = vgpu::unit_of(built, launch.trace.symbol);
    applied.source = unit->directory / unit->source;
    request.compile_arguments = vgpu::parse_arguments(*unit);
  }
  request.source = applied.source;
  request.root = patch_root(applied.source);
  request.kernel = launch.trace.kernel;
  request.function = kHelper;
  request.helper_code = helper_code(swizzle, launch, proof, spec);
  applied.splice = triton ? splice::splice_triton(request) : splice::splice(request);

  // The patched text is compiled for the device only and its kernel is run, block by block, in
  // place of the original's, on the original's memory: same host code, same inputs.
  const std::filesystem::path patched = directory / applied.source.filename();
  write_file(patched, applied.splice.patched);
  const std::filesystem::path bitcode =
      triton ? build_patched_triton(spec, patched, directory)
             : build_patched(*unit, applied.source, patched, directory);
  applied.comparison = vgpu::compare_blocks(spec, built, bitcode,
                                            verify_grid(swizzle.formula, launch.shape).permutation,
                                            compared_blocks(launch.trace), 1);
  return applied;
}

}  // namespace swizzleperf
