// The interpreter's loop: waves of a block one after the other, each to the next barrier.
//
// Nothing here waits. A wave that finds itself in a loop that waits for somebody else
// (Block::waits) gives up its turn after a few rounds; the others of its block go on, then other
// blocks do (grid.cc). So spin locks, look-back scans and hand-written grid barriers make progress
// whatever the number of threads, and a block that waits for nobody is never interrupted.
//
// A block (of code) runs its operations for all lanes; then the lanes go on along one or two edges.
// Where a target is lower than everything that waits, it runs next, which is the case for all
// uniform control flow and costs nothing; otherwise lanes are put into the target's pending mask
// and the lowest pending block is taken (program.h says why that is the right one).
#include "vgpu/exec/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

constexpr std::uint32_t kNone = ~0U;

std::uint32_t lowest_pending(const Wave& w) {
  for (std::size_t k = 0; k < w.pending_bits.size(); ++k)
    if (w.pending_bits[k] != 0)
      return static_cast<std::uint32_t>(
          64 * k + static_cast<std::size_t>(std::countr_zero(w.pending_bits[k])));
  return kNone;
}

void put(Wave& w, std::uint32_t block, std::uint64_t lanes) {
  w.pending[block] |= lanes;
  w.pending_bits[block / 64] |= std::uint64_t{1} << (block % 64);
}

/// Takes the lowest pending block; false if there is none.
bool take(Wave& w) {
  const std::uint32_t next = lowest_pending(w);
  if (next == kNone) return false;
  w.block = next;
  w.exec = w.pending[next];
  w.pending[next] = 0;
  w.pending_bits[next / 64] &= ~(std::uint64_t{1} << (next % 64));
  return true;
}

/// Lanes `w.exec` go to `block`.
void go(Wave& w, std::uint32_t block) {
  if (block < lowest_pending(w)) {
    w.block = block;
    return;
  }
  put(w, block, w.exec);
  take(w);
}

std::string place(const Program& program, const Location& at) {
  return at.line == 0 ? "" : fmt::format(" at {}:{}", program.files[at.file], at.line);
}

[[noreturn]] void too_long(const BlockRun& run, const Block& block) {
  const Dim3& b = run.block_index;
  throw input_error(fmt::format(
      "kernel {}{}: block ({},{},{}) executed more than {} wave instructions; it may loop for ever "
      "or "
      "wait for what never comes: raise the limit with --step-limit if it is meant to run so long",
      run.program->kernel, place(*run.program, block.location), b.x, b.y, b.z,
      run.launch->step_limit));
}

void move(Wave& w, const Edge& edge) {
  const Op* ops = w.run->program->ops.data();
  for (std::uint32_t k = edge.move_begin; k < edge.move_end; ++k) ops[k].run(w, ops[k]);
}

/// Work done by one execution of the block.
void count(BlockRun& run, const Block& block, std::uint64_t exec) {
  const auto lanes = static_cast<double>(std::popcount(exec));
  run.cost.instructions += block.instructions;
  run.cost.matrix_flops += block.matrix_flops;
  run.cost.vector_ops += block.lane_ops * lanes;
  run.cost.lds_bytes += block.lane_lds_bytes * lanes;
}

/// Both sides of a divergent branch.
void branch(Wave& w, const Block& block) {
  std::uint64_t condition;
  std::memcpy(&condition, w.registers + block.condition, sizeof condition);
  const std::uint64_t all = w.exec;
  const std::uint64_t taken = condition & all;
  const std::uint64_t other = all & ~condition;
  if (taken == 0 || other == 0) {
    const Edge& edge = block.edge[taken == 0];
    move(w, edge);
    go(w, edge.block);
    return;
  }
  w.exec = taken;
  move(w, block.edge[0]);
  w.exec = other;
  move(w, block.edge[1]);
  put(w, block.edge[0].block, taken);
  put(w, block.edge[1].block, other);
  take(w);
}

/// Rounds of a waiting loop before others get their turn: enough for the loops in which the lanes
/// of a wave take turns at one address.
constexpr std::uint32_t kPatience = 128;

/// Runs a wave until it is done or somebody else has to go on first.
WaveState run_wave(Wave& w) {
  BlockRun& run = *w.run;
  const Program& program = *run.program;
  const Op* ops = program.ops.data();
  const bool counts = run.recorder != nullptr;
  const std::uint64_t limit =
      run.launch->step_limit == 0 ? ~std::uint64_t{0} : run.launch->step_limit;
  for (;;) {
    const Block& block = program.blocks[w.block];
    if (block.waits && ++w.rounds > kPatience) {
      w.rounds = 0;
      return WaveState::kReady;
    }
    run.steps += block.op_end - block.op_begin + 1;
    if (run.steps > limit) too_long(run, block);
    if (counts) count(run, block, w.exec);
    for (const Op *op = ops + block.op_begin, *end = ops + block.op_end; op != end; ++op)
      op->run(w, *op);
    switch (block.exit) {
      case BlockEnd::kJump:
        move(w, block.edge[0]);
        go(w, block.edge[0].block);
        break;
      case BlockEnd::kUniformBranch: {
        std::uint64_t condition;
        std::memcpy(&condition, w.registers + block.condition, sizeof condition);
        const Edge& edge = block.edge[condition == 0];
        move(w, edge);
        go(w, edge.block);
        break;
      }
      case BlockEnd::kBranch:
        branch(w, block);
        break;
      case BlockEnd::kBarrier:
      case BlockEnd::kGridBarrier:
        w.block = block.edge[0].block;
        return block.exit == BlockEnd::kBarrier ? WaveState::kAtBarrier : WaveState::kAtGridBarrier;
      case BlockEnd::kReturn:
        if (!take(w)) return WaveState::kDone;
        break;
    }
  }
}

void write_implicit_arguments(BlockRun& run) {
  const Dim3& grid = run.launch->grid;
  const Dim3& block = run.launch->block;
  std::memset(run.implicit_args, 0, sizeof run.implicit_args);
  const std::uint32_t counts[3] = {grid.x, grid.y, grid.z};
  const std::uint16_t sizes[3] = {static_cast<std::uint16_t>(block.x),
                                  static_cast<std::uint16_t>(block.y),
                                  static_cast<std::uint16_t>(block.z)};
  std::memcpy(run.implicit_args, counts, sizeof counts);
  std::memcpy(run.implicit_args + 12, sizes, sizeof sizes);
  const std::uint16_t dimensions = grid.z > 1 || block.z > 1   ? 3
                                   : grid.y > 1 || block.y > 1 ? 2
                                                               : 1;
  std::memcpy(run.implicit_args + 64, &dimensions, sizeof dimensions);
  std::memcpy(run.implicit_args + 120, &run.launch->dynamic_lds_bytes, 4);
  // The dispatch packet of older code: block extents at 4, grid extents in threads at 12.
  std::memset(run.dispatch_packet, 0, sizeof run.dispatch_packet);
  std::memcpy(run.dispatch_packet + 4, sizes, sizeof sizes);
  const std::uint32_t threads[3] = {grid.x * block.x, grid.y * block.y, grid.z * block.z};
  std::memcpy(run.dispatch_packet + 12, threads, sizeof threads);
}

std::uint32_t waves_of(const Program& program, const Launch& launch) {
  const std::uint64_t threads = launch.block.count();
  return static_cast<std::uint32_t>((threads + program.wave_lanes - 1) / program.wave_lanes);
}

void reserve(BlockRun& run) {
  const Program& program = *run.program;
  const std::uint32_t waves = waves_of(program, *run.launch);
  const std::size_t frame = std::size_t{program.private_bytes} * kLanes;
  run.waves.resize(waves);
  run.registers.assign(std::size_t{program.register_bytes} * waves + 64, 0);
  run.pending.assign(program.blocks.size() * waves, 0);
  run.private_memory.assign(frame * waves, 0);
  run.sites.assign(program.sites, Region{});
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(run.registers.data()) % 64;
  std::uint8_t* base = run.registers.data() + (misaligned == 0 ? 0 : 64 - misaligned);
  for (std::uint32_t k = 0; k < waves; ++k) {
    Wave& w = run.waves[k];
    w.run = &run;
    w.index = k;
    w.registers = base + std::size_t{program.register_bytes} * k;
    w.pending = run.pending.data() + program.blocks.size() * k;
    w.pending_bits.assign(program.blocks.size() / 64 + 1, 0);
    w.private_memory = run.private_memory.data() + frame * k;
    for (const auto& [slot, value] : program.constants)
      std::memcpy(w.registers + slot, &value, sizeof value);
  }
}

void start_waves(BlockRun& run) {
  const std::uint32_t lanes = run.program->wave_lanes;
  std::uint64_t left = run.launch->block.count();
  for (Wave& w : run.waves) {
    const std::uint64_t mine = std::min<std::uint64_t>(left, lanes);
    left -= mine;
    w.all = mine >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << mine) - 1;
    w.exec = w.all;
    w.block = 0;
    w.state = WaveState::kReady;
    w.rounds = 0;
    // A block that was abandoned or failed leaves lanes behind.
    std::fill(w.pending_bits.begin(), w.pending_bits.end(), 0);
    std::fill_n(w.pending, run.program->blocks.size(), 0);
  }
}

/// Hands over work since the last access.
void flush(BlockRun& run) {
  run.recorder->cost(run.cost);
  run.cost = Cost{};
}

/// Everybody who lives has met at a barrier: on with them. False if the recorder wants no more.
bool release(BlockRun& run) {
  for (Wave& w : run.waves)
    if (w.state != WaveState::kDone) w.state = WaveState::kReady;
  return run.recorder == nullptr || run.recorder->barrier();
}

bool all_waves(const BlockRun& run, WaveState state) {
  return std::all_of(run.waves.begin(), run.waves.end(), [&](const Wave& w) {
    return w.state == state || w.state == WaveState::kDone;
  });
}

BlockState run_waves(BlockRun& run) {
  for (;;) {
    bool gave_way = false;
    const std::uint64_t steps = run.steps;
    const std::uint64_t effects = run.effects;
    for (Wave& w : run.waves) {
      if (w.state != WaveState::kReady) continue;
      w.state = run_wave(w);
      gave_way |= w.state == WaveState::kReady;
      if (run.recorder != nullptr) flush(run);
    }
    if (gave_way) {
      if (run.effects == effects) run.steps = steps;
      return BlockState::kWaits;
    }
    if (all_waves(run, WaveState::kDone)) return BlockState::kDone;
    if (all_waves(run, WaveState::kAtGridBarrier)) return BlockState::kAtGridBarrier;
    // Waves at either kind of barrier: those at the block's go on first.
    if (!release(run)) return BlockState::kDone;
  }
}

}  // namespace

void attach(BlockRun& run, const Program& program, const Launch& launch, const DeviceMemory& memory,
            const std::vector<Allocation>& own_memory) {
  const bool same = run.prepared_for == program.id && waves_of(program, launch) == run.waves.size();
  run.program = &program;
  run.launch = &launch;
  run.memory = &memory;
  run.own_memory = &own_memory;
  if (same)
    std::fill(run.sites.begin(), run.sites.end(), Region{});
  else
    reserve(run);
  run.prepared_for = program.id;
  run.lds.resize(std::size_t{program.static_lds_bytes} + launch.dynamic_lds_bytes);
  write_implicit_arguments(run);
}

void start_block(BlockRun& run, const Dim3& block_index, BlockRecorder* recorder,
                 AccessObserver* observer) {
  run.block_index = block_index;
  run.recorder = recorder;
  run.observer = observer;
  run.watched = recorder != nullptr || observer != nullptr;
  run.steps = 0;
  run.clock = 0;
  run.cost = Cost{};
  run.messages.clear();
  run.text.clear();
  run.error_text.clear();
  // LDS starts undefined on hardware; zero makes runs repeatable.
  std::fill(run.lds.begin(), run.lds.end(), 0);
  start_waves(run);
}

BlockState continue_block(BlockRun& run) {
  try {
    return run_waves(run);
  } catch (const Abandoned&) {
    run.cost = Cost{};  // of a part that nobody asked for
    return BlockState::kDone;
  }
}

bool pass_grid_barrier(BlockRun& run) { return release(run); }

WaitsForEver waits_for_ever(const BlockRun& run) {
  const auto waiting = std::find_if(run.waves.begin(), run.waves.end(),
                                    [](const Wave& w) { return w.state == WaveState::kReady; });
  const Location at =
      waiting == run.waves.end() ? Location{} : run.program->blocks[waiting->block].location;
  const Dim3& b = run.block_index;
  return {Exit::kInput,
          fmt::format("kernel {}{}: block ({},{},{}) waits for what no block of the launch does",
                      run.program->kernel, place(*run.program, at), b.x, b.y, b.z)};
}

/// A block alone: where it waits for others, nobody comes; at a barrier of the grid it finds the
/// others there already.
void run_block(BlockRun& run, const Dim3& block_index, BlockRecorder* recorder,
               AccessObserver* observer) {
  constexpr int kPatientTurns = 1000;
  start_block(run, block_index, recorder, observer);
  int quiet_turns = 0;
  for (;;) {
    const std::uint64_t effects = run.effects;
    const BlockState state = continue_block(run);
    if (state == BlockState::kDone) return;
    if (state == BlockState::kAtGridBarrier && !pass_grid_barrier(run)) return;
    const bool quiet = state == BlockState::kWaits && run.effects == effects;
    quiet_turns = quiet ? quiet_turns + 1 : 0;
    if (quiet_turns > kPatientTurns) throw waits_for_ever(run);
  }
}

void record(Wave& wave, const Op& op, AccessKind kind, std::uint64_t mask,
            const std::uint64_t* addresses) {
  BlockRun& run = *wave.run;
  if (run.observer != nullptr) {
    const Program& program = *run.program;
    const Location& at = program.locations[static_cast<std::size_t>(&op - program.ops.data())];
    run.observer->access({kind, at.atomic, at.returns, mask, addresses, op.bytes,
                          program.files.empty() ? "" : program.files[at.file], at.line});
  }
  if (run.recorder == nullptr) return;
  flush(run);
  if (!run.recorder->access(kind, wave.index, mask, addresses, op.bytes)) throw Abandoned{};
}

}  // namespace swizzleperf::vgpu
