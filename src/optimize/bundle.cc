// See bundle.h.
#include "optimize/bundle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "base/files.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "measure/project.h"
#include "report/metrics.h"
#include "report/progress.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// An order that may become a candidate.
struct Order {
  std::string spec;
  std::optional<Swizzle> swizzle;
  const Attempt* rewrite = nullptr;  ///< instead of a swizzle: a whole kernel and its patch
  std::uint64_t hash = 0;
  json predicted;
  const Applied* applied = nullptr;  ///< if it was put into the source before
};

/// What changes in the source, and whether that is right.
struct Patched {
  std::string text;
  std::string patch;
  std::string problem;
};

// --- The project --------------------------------------------------------------------------------

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  (void)rest;
  return end == folder.end();
}

/// Where links to folders lead; a link to the file itself stays.
fs::path placed(const fs::path& path) {
  const fs::path full = fs::absolute(path).lexically_normal();
  return fs::weakly_canonical(full.parent_path()) / full.filename();
}

fs::path project_folder(const BundleRequest& request) {
  return fs::canonical(request.project.empty() ? fs::current_path() : request.project);
}

/// Options that name a folder or a file, joined or as the next word.
constexpr std::array<const char*, 7> kPathOptions = {
    "-I", "-L", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"};

/// A path of the user's as it is to be said in the project's folder.
std::string moved(const std::string& path, const fs::path& root, std::vector<std::string>& notes) {
  if (path.empty() || !fs::exists(path)) return path;  // looked for by the compiler
  const fs::path full = fs::weakly_canonical(fs::absolute(path));
  if (is_below(full, root)) return full.lexically_relative(root).string();
  notes.push_back(
      fmt::format("{} lies outside of the project {}: the bundle can only be built where that is",
                  full.string(), root.string()));
  return full.string();
}

std::vector<std::string> moved_options(const std::vector<std::string>& options,
                                       const fs::path& root, std::vector<std::string>& notes) {
  std::vector<std::string> result;
  bool is_path = false;
  for (const std::string& option : options) {
    if (is_path) {
      result.push_back(moved(option, root, notes));
      is_path = false;
      continue;
    }
    std::string changed = option;
    for (const char* name : kPathOptions) {
      if (!option.starts_with(name)) continue;
      is_path = option == name;
      if (!is_path) changed = name + moved(option.substr(std::string(name).size()), root, notes);
      break;
    }
    result.push_back(std::move(changed));
  }
  return result;
}

/// What was copied must do by itself: links and macros can hide what else is needed.
void check_copy(vgpu::Unit unit, const fs::path& root, const fs::path& copy) {
  std::vector<std::string> ignored;
  unit.source = placed(unit.directory / unit.source).lexically_relative(root);
  unit.options = moved_options(unit.options, root, ignored);
  unit.directory = copy;
  try {
    (void)vgpu::included_files(unit);
  } catch (const Error& error) {
    throw input_error(fmt::format(
        "what the program includes does not suffice to build it elsewhere ({}): name the folder "
        "that it is built from with --project",
        error.what()));
  }
}

struct CopiedProject {
  measure::Project project;
  std::vector<std::string> notes;
};

CopiedProject copy_project(const BundleRequest& r, const vgpu::Unit& unit, const fs::path& to) {
  CopiedProject copied;
  measure::Project& p = copied.project;
  const fs::path source = placed(unit.directory / unit.source);
  fs::path root;
  if (r.project.empty() && r.build.empty()) {
    const std::vector<fs::path> files = vgpu::included_files(unit);
    root = measure::common_folder(files);
    measure::copy_files(root, files, to);
    check_copy(unit, root, to);
  } else {
    root = project_folder(r);
    measure::CopyRules rules;
    rules.left_out = {r.directory};
    if (!r.build.empty()) rules.left_out.push_back(placed(r.program.program));
    copied.notes = measure::copy_project(root, to, rules);
  }
  if (!is_below(source, root) || !fs::exists(to / source.lexically_relative(root))) {
    throw input_error(
        fmt::format("the kernel's source {} does not come with the project {}; name a folder that "
                    "holds it with --project",
                    source.string(), root.string()));
  }
  p.language = r.language;
  p.source = source.lexically_relative(root);
  p.build = r.build;
  p.test = r.test;
  p.arguments = r.program.arguments;
  if (r.build.empty()) {
    p.program = source.stem().string() + ".out";  // a folder may have the name without
    p.compile_options = moved_options(r.program.compile_options, root, copied.notes);
  } else {
    p.program = placed(r.program.program).lexically_relative(root);
  }
  return copied;
}

// --- The target ---------------------------------------------------------------------------------

measure::Target target_of(const Launch& launch, const vgpu::ProgramSpec& spec,
                          const vgpu::BuiltProgram& built) {
  std::size_t kernels = 0;
  for (const vgpu::Unit& unit : built.units) kernels += unit.kernels.size();
  if (spec.launch_index > 0 && spec.kernel_regex.empty() && kernels > 1) {
    throw usage_error(fmt::format(
        "--launch {} counts the launches of all {} kernels, which a GPU's tools do not: name the "
        "kernel with --kernel and count its launches",
        spec.launch_index, kernels));
  }
  return {launch.trace.symbol, launch.trace.kernel, std::max<std::int64_t>(0, spec.launch_index),
          launch.trace.grid, launch.trace.block};
}

// --- Candidates ---------------------------------------------------------------------------------

/// The patch with another name for the one file that it changes.
std::string renamed(const std::string& patch, const fs::path& file) {
  const std::size_t second = patch.find('\n') + 1;
  const std::size_t hunks = patch.find('\n', second) + 1;
  return fmt::format("--- a/{0}\n+++ b/{0}\n{1}", file.string(), patch.substr(hunks));
}

/// Programs that run at once: each holds all that it allocates.
constexpr unsigned kMostAtOnce = 2;

/// Makes candidates of orders until there are enough.
class Candidates {
 public:
  Candidates(const Launch& launch, const BundleRequest& request, const vgpu::BuiltProgram& built,
             const fs::path& scratch)
      : launch_(launch), request_(request), built_(built), scratch_(scratch) {}

  /// Into bundle.directory.
  void write(const std::vector<Order>& best_first, std::size_t most, measure::Bundle& bundle,
             std::vector<std::string>& notes) const {
    Progress progress(request_.quiet);
    std::size_t next = 0;
    while (bundle.candidates.size() < most && next < best_first.size()) {
      const std::size_t count = std::min(most - bundle.candidates.size(), best_first.size() - next);
      std::vector<Patched> patched(count);
      std::mutex mutex;
      std::size_t done = 0;
      parallel_for(count, std::min(request_.threads, kMostAtOnce), [&](std::uint64_t i, unsigned) {
        patched[i] = patch(best_first[next + i]);
        const std::lock_guard lock(mutex);
        ++done;
        progress.update(fmt::format("bundle: {} of {} orders patched and compared", done, count),
                        static_cast<double>(done) / static_cast<double>(count));
      });
      for (std::size_t i = 0; i < count; ++i) {
        const Order& order = best_first[next + i];
        if (patched[i].problem.empty()) {
          add(order, patched[i], bundle);
        } else {
          notes.push_back(fmt::format("{} is left out: {}", order.spec, patched[i].problem));
        }
      }
      next += count;
    }
    progress.finish(fmt::format("bundle: {} candidates", bundle.candidates.size()));
  }

 private:
  [[nodiscard]] Patched patch(const Order& order) const {
    if (!order.swizzle) return {order.rewrite->proposal.kernel, order.rewrite->patch, ""};
    try {
      if (order.applied != nullptr) return judged(*order.applied);
      const fs::path directory = scratch_ / fmt::format("{:016x}", order.hash);
      const Proof proof = prove(*order.swizzle, launch_.shape, 1);
      return judged(apply(*order.swizzle, launch_, proof, request_.program, built_, directory));
    } catch (const Error& error) {
      return {"", "", error.what()};
    }
  }

  [[nodiscard]] static Patched judged(const Applied& applied) {
    const std::string& difference = applied.comparison.first_difference;
    return {applied.splice.patched, applied.splice.patch,
            difference.empty()
                ? ""
                : "the patched kernel does not compute the same bytes: " + difference};
  }

  static void add(const Order& order, const Patched& patched, measure::Bundle& bundle) {
    measure::Candidate c;
    c.number = static_cast<int>(bundle.candidates.size()) + 1;
    c.spec = order.spec;
    c.formula = order.swizzle ? order.swizzle->formula.text() : "";
    c.permutation = fmt::format("{:016x}", order.hash);
    c.predicted = order.predicted;
    c.files = {bundle.project.source};
    c.from_model_text = order.rewrite != nullptr;
    const fs::path folder = measure::candidate_folder(bundle.directory, c.number);
    make_directories((folder / bundle.project.source).parent_path());
    write_file(folder / bundle.project.source, patched.text);
    write_file(folder / measure::kPatchFile, renamed(patched.patch, bundle.project.source));
    bundle.candidates.push_back(std::move(c));
  }

  const Launch& launch_;
  const BundleRequest& request_;
  const vgpu::BuiltProgram& built_;
  const fs::path& scratch_;
};

// --- The whole ----------------------------------------------------------------------------------

/// A folder beside the bundle's place, gone unless it was moved there.
class Staging {
 public:
  explicit Staging(const fs::path& place)
      : place_(fs::absolute(place).lexically_normal()),
        path_(fmt::format("{}.tmp-{}", without_slash(place_), ::getpid())),
        temporary_(path_) {
    make_directories(path_);
  }
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void move_into_place() const {
    std::error_code fault;
    fs::rename(path_, without_slash(place_), fault);
    if (fault) {
      throw input_error(
          fmt::format("cannot write the bundle {}: {}", place_.string(), fault.message()));
    }
  }

 private:
  static std::string without_slash(const fs::path& path) {
    return (path.has_filename() ? path : path.parent_path()).string();
  }

  fs::path place_;
  fs::path path_;
  Temporary temporary_;
};

BundleOutcome write_orders(const Launch& launch, const json& baseline,
                           const std::vector<Order>& best_first, std::size_t most,
                           const BundleRequest& request, const vgpu::BuiltProgram& built,
                           const fs::path& scratch) {
  const Staging staging(request.directory);
  BundleOutcome outcome;
  measure::Bundle& bundle = outcome.bundle;
  bundle.directory = staging.path();
  const vgpu::Unit& unit = vgpu::unit_of(built, launch.trace.symbol);
  CopiedProject copied = copy_project(request, unit, staging.path() / measure::kProjectFolder);
  bundle.project = std::move(copied.project);
  outcome.notes = std::move(copied.notes);
  bundle.target = target_of(launch, request.program, built);
  bundle.machine = launch.machine.name;
  bundle.predicted = baseline;
  Candidates(launch, request, built, scratch).write(best_first, most, bundle, outcome.notes);
  if (bundle.candidates.empty()) {
    throw input_error(outcome.notes.empty()
                          ? "there is no order to measure: none was found besides the identity"
                          : "there is no order to measure: " + outcome.notes.back());
  }
  measure::write_bundle(bundle);
  staging.move_into_place();
  bundle.directory = request.directory;
  return outcome;
}

void check_place(const fs::path& directory) {
  std::error_code fault;
  if (!fs::exists(directory, fault)) return;
  if (!fs::is_directory(directory) || !fs::is_empty(directory, fault)) {
    throw usage_error(fmt::format(
        "--bundle {}: something is there already; name a folder that is not", directory.string()));
  }
}

void check_program(const BundleRequest& r) {
  const vgpu::ProgramSpec& spec = r.program;
  constexpr const char* kGive =
      "give a HIP or CUDA source with a main, or --build CMD and the program that it makes";
  const auto refuse = [&](const char* why, const char* what_to_do) {
    throw usage_error(fmt::format("{}: {}; {}", spec.program.string(), why, what_to_do));
  };
  if (is_trace_file(spec.program)) refuse("a trace has no program that could be measured", kGive);
  if (is_triton(spec)) {
    refuse("a Triton kernel cannot be measured this way",
           "apply best.patch and time it with triton.testing.do_bench on the GPU");
  }
  if (vgpu::is_launch_spec(spec.program)) {
    refuse("a launch spec has no program of its own that could be measured", kGive);
  }
  if (r.build.empty() && !is_source(spec.program)) {
    refuse("an executable for the virtual GPU cannot be measured", kGive);
  }
}

void check_project(const BundleRequest& r) {
  if (!r.project.empty() && !fs::is_directory(r.project)) {
    throw usage_error(fmt::format("--project {}: no such folder", r.project.string()));
  }
  if (r.build.empty()) return;
  const fs::path root = project_folder(r);
  if (root != fs::canonical(fs::current_path())) {
    throw usage_error(fmt::format(
        "--build runs in the folder where you stand, and in a bundle in the project's folder: "
        "stand in {}",
        root.string()));
  }
  if (!is_below(placed(r.program.program), root)) {
    throw usage_error(
        fmt::format("{} lies outside of {}, where --build runs: let it make the program there",
                    r.program.program.string(), root.string()));
  }
}

}  // namespace

measure::Language language_for(const Machine& machine) {
  return machine.vendor == "nvidia" ? measure::Language::kCuda : measure::Language::kHip;
}

void check_bundle(const BundleRequest& request) {
  check_program(request);
  check_place(request.directory);
  check_project(request);
}

BundleOutcome write_candidates(const OptimizeOutcome& run, const BundleRequest& request,
                               std::size_t top) {
  check_bundle(request);
  const Attempt* const best = run.history.best();
  std::vector<Order> orders;
  for (const Ranked& ranked : run.history.replayed) {
    const Attempt& a = run.history.attempt_of(ranked);
    const bool rewritten = !a.proposal.kernel.empty();
    orders.push_back({a.spec, rewritten ? std::nullopt : std::optional(swizzle_of(a)),
                      rewritten ? &a : nullptr, a.hash, a.metrics,
                      &a == best && !rewritten && run.applied ? &*run.applied : nullptr});
  }
  for (const Alternative& a : run.alternatives) {
    const auto& [spec, hash] = a.candidate;
    // Somebody may have proposed it before the search came to it.
    if (std::any_of(orders.begin(), orders.end(),
                    [&, of = hash](const Order& order) { return order.hash == of; })) {
      continue;
    }
    orders.push_back({spec, make_swizzle(spec), nullptr, hash, a.metrics, nullptr});
  }
  const ScratchDirectory scratch;
  const vgpu::BuiltProgram built = vgpu::build_program(request.program, scratch.path());
  return write_orders(run.launch, run.baseline, orders, top, request, built, scratch.path());
}

BundleOutcome make_bundle(const Machine& machine, const std::vector<std::string>& swizzles,
                          const BundleRequest& request) {
  check_bundle(request);
  const ScratchDirectory scratch;
  const vgpu::BuiltProgram built = vgpu::build_program(request.program, scratch.path());
  const Launch launch = place(vgpu::trace_program(request.program, built), machine);
  Replayer replayer(launch.trace, machine, launch.occupancy.blocks_per_cu);
  const std::size_t sample =
      replayer.add_sample(replayer.fine_share(), request.seed, request.threads);
  const auto replayed = [&](const std::vector<std::uint32_t>& permutation) {
    return to_json(replayer.sampled(sample, permutation), launch.trace.buffers);
  };
  const json baseline = replayed(permutation_of("identity", launch.shape));
  std::vector<std::vector<std::uint32_t>> permutations;
  std::set<std::uint64_t> known = {identity_candidate(launch.shape).hash};
  std::vector<Order> orders;
  std::vector<std::string> notes;
  for (const std::string& spec : swizzles) {
    std::vector<std::uint32_t> permutation = permutation_of(spec, launch.shape);
    const std::uint64_t hash = permutation_hash(permutation);
    if (!known.insert(hash).second) {
      notes.push_back(fmt::format(
          "{} is left out: on this launch it is the identity or an order given before it", spec));
      continue;
    }
    orders.push_back({spec, make_swizzle(spec), nullptr, hash, {}, nullptr});
    permutations.push_back(std::move(permutation));
  }
  parallel_for(orders.size(), request.threads,
               [&](std::uint64_t i, unsigned) { orders[i].predicted = replayed(permutations[i]); });
  BundleOutcome outcome =
      write_orders(launch, baseline, orders, orders.size(), request, built, scratch.path());
  outcome.notes.insert(outcome.notes.begin(), notes.begin(), notes.end());
  return outcome;
}

measure::Results measured_of(const OptimizeOutcome& run, const measure::Bundle& bundle) {
  const auto refuse = [&](const std::string& what) {
    throw input_error(
        fmt::format("{} is not a bundle of this run: {}", bundle.directory.string(), what));
  };
  const Trace& trace = run.launch.trace;
  const measure::Target& t = bundle.target;
  if (t.symbol != trace.symbol) refuse(fmt::format("its kernel is {}", t.kernel));
  if (t.grid != trace.grid || t.block != trace.block) refuse("it was launched otherwise");
  if (bundle.machine != run.launch.machine.name) refuse("it is for a " + bundle.machine);
  for (const measure::Candidate& c : bundle.candidates) {
    const auto& known = run.history.known;
    if (std::none_of(known.begin(), known.end(), [&](const auto& order) {
          return fmt::format("{:016x}", order.first) == c.permutation;
        })) {
      refuse(fmt::format("the run has no order such as its candidate {} ({})", c.number, c.spec));
    }
  }
  return measure::read_results(bundle.directory);
}

}  // namespace swizzleperf
