// verify: prove that a swizzle computes every block exactly once, or show where it does not.
//
// With --grid the launch in question decides the exit code; the declared range is always walked
// too, since a kernel is seldom launched with one grid only. What fails on part of the range is not
// thrown away: the exact form from the library is named if there is one, and so is the condition
// under which the formula holds, which the printed code then checks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/verb.h"
#include "formula/language.h"
#include "report/progress.h"
#include "report/table.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/print.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string swizzle;
  std::string grid;
  std::optional<std::uint32_t> xcds;
  std::vector<std::string> params;
  std::string print;
};

struct OnLaunch {
  LaunchShape shape;
  GridVerdict verdict;
};

/// Everything that was found out, before it is told in words or in JSON.
struct Findings {
  Swizzle swizzle;
  std::optional<OnLaunch> launch;  ///< with --grid
  VerifyRange range;
  RangeVerdict over_range;
  bool identity = false;  ///< on the launch, else over the whole range
  std::optional<GuardVerdict> guard;
  std::string exact_form;

  [[nodiscard]] bool bijective() const {
    return launch ? launch->verdict.bijective : over_range.failed == 0;
  }
};

// --- Reading the options ------------------------------------------------------------------------

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A block takes 16 bytes and about 20 ns of the proof.
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 27;

Dim3 parse_grid(const std::string& text) {
  std::vector<std::uint32_t> extents;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find('x');
    const auto extent = whole_number(rest.substr(0, end));
    if (!extent || *extent < 1 || *extent > std::numeric_limits<std::int32_t>::max()) break;
    extents.push_back(static_cast<std::uint32_t>(*extent));
    if (end == std::string_view::npos && extents.size() <= 3) {
      extents.resize(3, 1);
      const Dim3 grid{extents[0], extents[1], extents[2]};
      // The product of all three may pass 64 bits.
      const std::uint64_t rows = std::uint64_t{grid.y} * grid.z;
      if (rows > kMostBlocks || grid.x > kMostBlocks / rows)
        throw usage_error(fmt::format(
            "--grid {} has more than {} blocks, which is as many as are walked one by one; give a "
            "smaller grid of that shape",
            text, kMostBlocks));
      return grid;
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  throw usage_error(fmt::format("--grid takes 1 to 3 extents such as 64x48, not '{}'", text));
}

Params parse_params(const std::vector<std::string>& texts) {
  Params params;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : whole_number(std::string_view(text).substr(equals + 1));
    const std::string name = text.substr(0, equals);
    if (!value || name.empty())
      throw usage_error(fmt::format("--param takes NAME=NUMBER, not '{}'", text));
    if (!params.emplace(name, *value).second)
      throw usage_error(fmt::format("--param {} is given twice; give it once", name));
  }
  return params;
}

// --- Finding out --------------------------------------------------------------------------------

bool identity_everywhere(const Formula& formula, const VerifyRange& range) {
  for (const Dim3& grid : range.grids)
    for (const std::uint32_t xcds : range.num_xcds)
      if (!verify_grid(formula, {grid, xcds, range.cus_per_xcd}).identity) return false;
  return true;
}

/// What the library offers instead of the families of a specification, "" if nothing better.
std::string exact_form_of(const std::string& spec) {
  std::string result = spec;
  for (const SwizzleFamily& family : swizzle_families()) {
    if (family.exact_form.empty()) continue;
    for (std::size_t at = 0; (at = result.find(family.name, at)) != std::string::npos;) {
      const std::size_t end = at + family.name.size();
      const bool whole = (at == 0 || result[at - 1] == '+') &&
                         (end == result.size() || result[end] == ':' || result[end] == '+');
      if (!whole) {
        at = end;
        continue;
      }
      // Its parameters mean something else, so the exact form is named without any.
      result.replace(at, std::min(result.find('+', end), result.size()) - at, family.exact_form);
      at += family.exact_form.size();
    }
  }
  return result == spec ? "" : result;
}

/// What `work` returns; while it runs, a progress line says what it is.
template <class Work>
auto with_progress(const std::string& what, bool quiet, Work work) {
  Progress progress(quiet);
  auto result = std::async(std::launch::async, work);
  while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    progress.update(what, 0);
  return result.get();
}

Findings find_out(const Options& options, const Machine& machine, bool quiet) {
  Findings f{
      make_swizzle(options.swizzle, parse_params(options.params)), {}, {}, {}, false, {}, ""};
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  f.range = default_verify_range();
  f.range.cus_per_xcd = machine.cus_per_die;
  if (options.xcds) f.range.num_xcds = {*options.xcds};
  if (!options.grid.empty()) {
    const LaunchShape shape{parse_grid(options.grid), options.xcds.value_or(machine.dies),
                            machine.cus_per_die};
    f.launch = OnLaunch{
        shape, with_progress(fmt::format("verify: {} blocks of the grid", shape.grid.count()),
                             quiet, [&] { return verify_grid(f.swizzle.formula, shape); })};
  }
  f.over_range = with_progress("verify: the declared range", quiet,
                               [&] { return verify_range(f.swizzle.formula, f.range, threads); });
  f.identity =
      f.launch ? f.launch->verdict.identity : identity_everywhere(f.swizzle.formula, f.range);
  if (f.over_range.failed > 0) {
    f.exact_form = exact_form_of(f.swizzle.spec);
    if (!f.over_range.endless) f.guard = find_guard(f.swizzle.formula, f.range, threads);
  }
  return f;
}

// --- Printed code -------------------------------------------------------------------------------

std::string printed(const Findings& f, const std::string& language, const Machine& machine) {
  if (f.over_range.failed > 0 && !f.guard)
    throw Error(Exit::kCheckFailed,
                "nothing printed: no condition was found under which this formula is a bijection");
  PrintOptions options;
  options.num_xcds = f.launch                       ? f.launch->shape.num_xcds
                     : f.range.num_xcds.size() == 1 ? f.range.num_xcds.front()
                                                    : machine.dies;
  options.cus_per_xcd = machine.cus_per_die;
  if (f.guard) options.guard = f.guard->guard;
  if (f.launch) options.grid = f.launch->shape.grid;
  // The text of the formula, comments included, is printed too: only the proof is added.
  options.comment = fmt::format(
      "{}\nProved on {} launches{}.", f.swizzle.spec, f.over_range.checked,
      f.guard ? fmt::format("; the identity on {} of them by the guard below", f.guard->fallen_back)
              : "");
  return language == "triton" ? print_triton(f.swizzle.formula, options)
                              : print_cpp(f.swizzle.formula, options);
}

// --- In words -----------------------------------------------------------------------------------

std::string extent_text(const Dim3& grid) {
  if (grid.z > 1) return fmt::format("{} x {} x {}", grid.x, grid.y, grid.z);
  if (grid.y > 1) return fmt::format("{} x {}", grid.x, grid.y);
  return fmt::to_string(grid.x);
}

std::string range_text(const VerifyRange& range) {
  std::uint64_t most = 0;
  for (const Dim3& grid : range.grids) most = std::max(most, grid.count());
  return fmt::format("{} grids of 1 to 3 dimensions and up to {} blocks, on {} dies",
                     range.grids.size(), most, fmt::join(range.num_xcds, ", "));
}

std::string launch_console(const OnLaunch& launch) {
  const LaunchShape& shape = launch.shape;
  if (!launch.verdict.bijective)
    return fmt::format("Refuted. {}\n",
                       describe(launch.verdict.counterexample.value_or(Counterexample{})));
  return fmt::format(
      "Proved on grid {} on {}: each of {} blocks is computed exactly once.{}\n",
      extent_text(shape.grid),
      shape.num_xcds == 1 ? "1 die" : fmt::format("{} dies", shape.num_xcds), shape.grid.count(),
      launch.verdict.identity ? " It is the identity there: it changes nothing." : "");
}

std::string range_console(const Findings& f) {
  if (f.over_range.failed == 0)
    return fmt::format(
        "Proved over the range: each block exactly once on all {} launches ({}).{}\n",
        f.over_range.checked, range_text(f.range),
        f.identity && !f.launch ? " It is the identity: it changes nothing." : "");
  std::string text =
      fmt::format("Refuted over the range: it fails on {} of {} launches ({}). The smallest: {}\n",
                  f.over_range.failed, f.over_range.checked, range_text(f.range),
                  describe(f.over_range.smallest.value_or(Counterexample{})));
  if (!f.exact_form.empty())
    text += fmt::format("Exact form: {} does the same work and is a bijection on every grid.\n",
                        f.exact_form);
  if (!f.guard)
    return text + "Guard: none found; no simple condition on the launch makes it a bijection.\n";
  return text + fmt::format(
                    "Guard: it holds where {}; printed code checks that and is the identity "
                    "elsewhere, on {:.0f} % of the range.\n",
                    f.guard->guard.condition,
                    100.0 * static_cast<double>(f.guard->fallen_back) /
                        static_cast<double>(f.guard->checked));
}

std::string wrap_lines(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += wrap(std::string_view(text).substr(begin, end - begin), output_width(), 2);
    begin = end + 1;
  }
  return result;
}

std::string console(const Findings& f) {
  std::string text = f.swizzle.spec + "\n" + f.swizzle.words + "\n";
  if (f.launch) text += launch_console(*f.launch);
  return wrap_lines(text + range_console(f));
}

// --- In JSON ------------------------------------------------------------------------------------

Json counterexample_json(const std::optional<Counterexample>& c) {
  if (!c) return nullptr;
  Json result = {{"grid", {c->shape.grid.x, c->shape.grid.y, c->shape.grid.z}},
                 {"xcds", c->shape.num_xcds},
                 {"duplicate", Json::array()},
                 {"missing", c->missing},
                 {"out_of_range", Json::array()},
                 {"totals",
                  {{"duplicate", c->num_duplicate},
                   {"missing", c->num_missing},
                   {"out_of_range", c->num_out_of_range}}},
                 {"error", c->error.empty() ? Json(nullptr) : Json(c->error)}};
  for (const auto& d : c->duplicate)
    result["duplicate"].push_back({{"block", d.block}, {"from", d.from}});
  for (const auto& o : c->out_of_range)
    result["out_of_range"].push_back({{"from", o.from}, {"target", o.target}});
  return result;
}

Json json(const Findings& f, const std::string& code) {
  Json document = json_document();
  document["swizzle"] = f.swizzle.spec;
  document["formula"] = f.swizzle.formula.text();
  document["bijective"] = f.bijective();
  document["identity"] = f.identity;
  document["grid"] = nullptr;
  if (f.launch)
    document["grid"] = {f.launch->shape.grid.x, f.launch->shape.grid.y, f.launch->shape.grid.z};
  document["range"] = {{"checked", f.over_range.checked}, {"failed", f.over_range.failed}};
  document["counterexample"] = counterexample_json(f.launch && !f.launch->verdict.bijective
                                                       ? f.launch->verdict.counterexample
                                                       : f.over_range.smallest);
  document["exact_form"] = f.exact_form.empty() ? Json(nullptr) : Json(f.exact_form);
  document["guard"] = nullptr;
  if (f.guard)
    document["guard"] = {{"condition", f.guard->guard.condition},
                         {"checked", f.guard->checked},
                         {"fallen_back", f.guard->fallen_back}};
  document["code"] = code.empty() ? Json(nullptr) : Json(code);
  return document;
}

Outcome run(const Options& options, const CommonOptions& common) {
  const Machine machine = load_machine(common.machine);
  const Findings findings = find_out(options, machine, common.quiet);
  const std::string code = options.print.empty() ? "" : printed(findings, options.print, machine);
  const Exit exit = findings.bijective() ? Exit::kDone : Exit::kCheckFailed;
  if (common.json) return {to_text(json(findings, code)), exit};
  return {console(findings) + (code.empty() ? "" : "\n" + code), exit};
}

}  // namespace

Verb verify_verb() {
  static const std::string kHelp =
      "Examples:\n"
      "  swizzleperf verify die-contiguous\n"
      "  swizzleperf verify chunked:chunk=64+grouped:height=8 --grid 64x48\n"
      "  swizzleperf verify 'pid = num_blocks - 1 - pid;' --print hip\n"
      "  swizzleperf verify @mine.swz --param width=4 --format json\n"
      "Exit code 1 when it is not a bijection on the grid given, or else over the range.\n\n" +
      language_text(true);
  return {"verify",
          "Find, prove and apply a swizzle",
          "Prove that a swizzle computes every block once",
          kHelp.c_str(),
          kMachine,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("swizzle", options->swizzle, "NAME, FORMULA or @FILE")->required();
            app.add_option("--grid", options->grid, "The launch that decides, such as 64x48");
            app.add_option("--xcds", options->xcds,
                           "Die count (the machine's; in the range, 1 to 8)")
                ->check(CLI::Range(1, 1024));
            app.add_option("--param", options->params, "NAME=NUMBER for a formula; may be repeated")
                ->allow_extra_args(false);
            app.add_option("--print", options->print, "Print the code: hip, cuda or triton")
                ->check(CLI::IsMember({"hip", "cuda", "triton"}));
            return [options](const CommonOptions& common) { return run(*options, common); };
          }};
}

}  // namespace swizzleperf
