// See rewrite.h.
#include "optimize/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "base/files.h"
#include "base/random.h"
#include "splice/host_side.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

// --- Footprints ---------------------------------------------------------------------------------

/// Bytes [begin, end) of an array, loaded or written.
struct Piece {
  std::uint64_t array;  ///< its name, hashed
  AccessKind kind;
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] auto key() const { return std::tuple(array, kind, begin); }
};

/// Sorted, and what overlaps or touches as one.
void merge(std::vector<Piece>& pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.key() < b.key(); });
  std::size_t last = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    Piece& p = pieces[last];
    const Piece& next = pieces[i];
    if (next.array == p.array && next.kind == p.kind && next.begin <= p.end) {
      p.end = std::max(p.end, next.end);
    } else {
      pieces[++last] = next;
    }
  }
  if (!pieces.empty()) pieces.resize(last + 1);
}

std::uint64_t name_hash(const std::string& name) {
  std::uint64_t hash = name.size();
  for (const char c : name) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

/// What a template touches from each of its slots' anchors; `array` is the slot for now.
std::vector<Piece> relative_pieces(const Template& t, const std::vector<Pattern>& patterns) {
  std::vector<Piece> pieces;
  for (const Event& e : t.events) {
    for (const ByteRange& r : patterns[e.pattern]) {
      pieces.push_back({e.slot, e.kind, e.offset + r.begin, e.offset + r.begin + r.size});
    }
  }
  merge(pieces);
  return pieces;
}

std::uint64_t hash_of(const std::vector<Piece>& pieces) {
  std::uint64_t hash = pieces.size();
  for (const Piece& p : pieces) {
    hash = mix64(hash ^ p.array) ^ mix64(static_cast<std::uint64_t>(p.kind));
    hash = mix64(hash ^ static_cast<std::uint64_t>(p.begin));
    hash = mix64(hash ^ static_cast<std::uint64_t>(p.end));
  }
  return hash;
}

}  // namespace

std::vector<std::uint64_t> footprints(const Trace& trace) {
  std::vector<std::uint64_t> names;
  names.reserve(trace.buffers.size());
  for (const Buffer& b : trace.buffers) names.push_back(name_hash(b.name));
  std::vector<std::vector<Piece>> relative;
  relative.reserve(trace.templates.size());
  for (const Template& t : trace.templates) relative.push_back(relative_pieces(t, trace.patterns));
  std::vector<std::uint64_t> all;
  std::vector<Piece> pieces;
  for (const BlockTrace& b : trace.blocks) {
    const Template& t = trace.templates[b.template_index];
    pieces = relative[b.template_index];
    for (Piece& p : pieces) {
      const std::size_t buffer = t.slot_buffer[p.array];
      const std::int64_t anchor = trace.anchors[b.first_anchor + p.array] -
                                  static_cast<std::int64_t>(trace.buffers[buffer].base);
      p.array = names[buffer];
      p.begin += anchor;
      p.end += anchor;
    }
    merge(pieces);
    all.push_back(hash_of(pieces));
  }
  return all;
}

RecoveredOrder recover_order(const Trace& original, const Trace& rewritten) {
  RecoveredOrder order;
  // Blocks of one footprint cannot be told apart; they are given out in their order.
  std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> left;
  std::unordered_map<std::uint64_t, std::uint32_t> taken;  // the dispatch index that had the last
  const std::vector<std::uint64_t> before = footprints(original);
  for (std::uint32_t i = 0; i < before.size(); ++i) left[before[i]].push_back(i);
  std::vector<std::uint32_t> permutation;
  const std::vector<std::uint64_t> now = footprints(rewritten);
  std::uint64_t lost = 0;
  for (std::uint32_t p = 0; p < now.size(); ++p) {
    const auto it = left.find(now[p]);
    if (it == left.end()) {
      order.foreign = true;
      order.problem = fmt::format(
          "its block {} loads or stores bytes that no single block of the original does, so it is "
          "not the original's work in another order",
          p);
      return order;
    }
    if (it->second.empty()) {
      if (lost++ == 0) {
        order.problem = fmt::format("blocks {} and {} of it do the work of one and the same block",
                                    taken[now[p]], p);
      }
      continue;
    }
    permutation.push_back(it->second.front());
    it->second.pop_front();
    taken[now[p]] = p;
  }
  if (lost == 0 && permutation.size() == before.size()) {
    order.permutation = std::move(permutation);
    return order;
  }
  std::uint32_t missing = 0;
  bool found = false;
  for (std::uint32_t i = 0; i < before.size() && !found; ++i) {
    const std::deque<std::uint32_t>& rest = left[before[i]];
    found = std::find(rest.begin(), rest.end(), i) != rest.end();
    missing = i;
  }
  order.problem = fmt::format(
      "it is not a bijection: it computes {} of {} blocks; {}{}block {} of the original is never "
      "computed",
      permutation.size(), before.size(), order.problem, order.problem.empty() ? "" : ", ", missing);
  return order;
}

namespace {

RewriteVerdict refused(AttemptOutcome outcome, std::string report) {
  RewriteVerdict v;
  v.outcome = outcome;
  v.report = std::move(report);
  return v;
}

/// The rewritten program's trace; its host side is the original's.
Trace trace_rewritten(const vgpu::ProgramSpec& spec, const fs::path& source,
                      const fs::path& original, const fs::path& directory) {
  vgpu::ProgramSpec other = spec;
  other.program = source;
  other.compile_options.push_back("-iquote" + fs::absolute(original).parent_path().string());
  const vgpu::BuiltProgram program = vgpu::build_program(other, directory);
  return vgpu::trace_program(other, program);
}

}  // namespace

RewriteVerdict judge_rewrite(const std::string& text, const Launch& launch,
                             const vgpu::ProgramSpec& spec, const vgpu::BuiltProgram& built,
                             const KnownOrders& known, const fs::path& work_directory) {
  const vgpu::Unit& unit = vgpu::unit_of(built, launch.trace.symbol);
  const fs::path source = unit.directory / unit.source;
  // A compiler that does not end is ended, which the parser in this process cannot be; so it comes
  // first, but not before what must not even be compiled.
  std::string change = splice::forbidden_change(read_file(source), text);
  if (!change.empty()) return refused(AttemptOutcome::kHostChanged, std::move(change));
  const fs::path directory = work_directory / "rewritten";
  fs::remove_all(directory);
  fs::create_directories(directory);
  const fs::path copy = directory / source.filename();
  write_file(copy, text);
  fs::path bitcode;
  try {
    bitcode = build_patched(unit, source, copy, directory);
  } catch (const Error& error) {
    return refused(AttemptOutcome::kNotBuilt, std::string("it does not compile: ") + error.what());
  }
  const splice::Rewrite rewrite =
      splice::compare_rewrite({source, patch_root(source), vgpu::parse_arguments(unit), text});
  if (!rewrite.error.empty()) {
    return refused(AttemptOutcome::kNotBuilt, "it does not compile: " + rewrite.error);
  }
  if (!rewrite.host_change.empty()) {
    return refused(AttemptOutcome::kHostChanged, rewrite.host_change);
  }
  RewriteVerdict v;
  try {
    const Trace trace = trace_rewritten(spec, copy, source, directory);
    if (trace.grid != launch.trace.grid || trace.kernel != launch.trace.kernel) {
      return refused(AttemptOutcome::kDifferentOutput, "it was not launched as the original was");
    }
    RecoveredOrder order = recover_order(launch.trace, trace);
    if (order.permutation.empty()) {
      return refused(
          order.foreign ? AttemptOutcome::kDifferentOutput : AttemptOutcome::kNotABijection,
          order.problem);
    }
    v.permutation = std::move(order.permutation);
    v.comparison =
        vgpu::compare_blocks(spec, built, bitcode, v.permutation, compared_blocks(launch.trace), 1);
  } catch (const Error& error) {  // it left its arrays, or did not end
    return refused(AttemptOutcome::kDifferentOutput, error.what());
  }
  if (!v.comparison.first_difference.empty()) {
    return refused(AttemptOutcome::kDifferentOutput,
                   "it does not compute the same bytes: " + v.comparison.first_difference);
  }
  if (v.comparison.bytes_not_zero == 0) {
    return refused(
        AttemptOutcome::kDifferentOutput,
        "the original writes nothing but zeros on this launch, so equal outputs would say "
        "nothing; the program has to fill its inputs");
  }
  if (std::is_sorted(v.permutation.begin(), v.permutation.end())) {
    return refused(AttemptOutcome::kIdentity,
                   "on this launch every block of it does the work that it did before");
  }
  v.hash = permutation_hash(v.permutation);
  if (const auto it = known.find(v.hash); it != known.end()) {
    return refused(
        AttemptOutcome::kRepeat,
        fmt::format("it computes the blocks in the very order of {}; propose another", it->second));
  }
  v.patch = rewrite.patch;
  v.report = fmt::format(
      "each block of the original is computed once on this launch, as the bytes that all {} blocks "
      "touch show, and {} sampled blocks wrote the same {} bytes; other launches were not looked "
      "at",
      v.permutation.size(), v.comparison.blocks_compared, v.comparison.bytes_compared);
  return v;
}

}  // namespace swizzleperf
