// The order of the work: parse, find, refuse what must not be touched, edit, and parse again.
//
// The second parse is the proof that the edit did what it should: the patched text compiles, the
// kernel no longer reads the block index except to hand it to the helper, and no other kernel of
// the file has come to call the helper.
#include "splice/splice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "splice/diff.h"
#include "splice/names.h"
#include "splice/plan.h"
#include "splice/reach.h"
#include "splice/remaps.h"
#include "splice/unit.h"
#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {

void refuse_compile_error(const Unit& unit) {
  if (const auto error = unit.first_error())
    throw input_error(
        fmt::format("{}; the source must compile for the device to be patched.", *error));
}

/// Another function of our helper's name, or an earlier patch of this very kernel.
void refuse_patched(const Unit& unit, const Kernel& kernel, const Reach& found,
                    const std::string& function) {
  if (!found.patched_at.empty())
    throw input_error(fmt::format(
        "{}: {} already takes its block index from a swizzle that an earlier patch put there; "
        "reverse that patch first.",
        unit.where(found.patched_at.front()), kernel.shown));
  for (const Token& token : unit.tokens())
    if (token.kind == CXToken_Identifier &&
        (unit.text(token) == function || unit.text(token) == function + "_index"))
      throw input_error(
          fmt::format("{}: the name {} is taken in this file; give the helper another name.",
                      unit.where(token.span.begin), unit.text(token)));
}

/// What the file's other kernels read; refuses if one of them would change with this one.
std::vector<Use> uses_of_others(const Unit& unit, const std::vector<Kernel>& kernels,
                                const Kernel& kernel, const Reach& found) {
  std::vector<Use> all;
  for (const Kernel& other : kernels) {
    if (clang_equalCursors(other.definition, kernel.definition) != 0) continue;
    const Reach others = reach(unit, other.definition, other.instances, "", Elsewhere::kIgnore);
    for (const Use& use : others.uses) {
      const bool shared = std::any_of(found.uses.begin(), found.uses.end(), [&](const Use& own) {
        return own.place.offset == use.place.offset;
      });
      if (shared)
        throw input_error(
            fmt::format("{}: {} reads the block index for {} ({}) as well as for {}, and both "
                        "would change; give "
                        "{} a copy of that function.",
                        unit.where(use.place), qualified_name(use.function), other.shown,
                        unit.where(Unit::place(other.definition)), kernel.shown, kernel.shown));
      all.push_back(use);
    }
  }
  return all;
}

/// The proof: parse the patched text and look at it again.
void check_patched(Unit& unit, const std::string& patched, const std::string& wanted,
                   const std::string& function) {
  const std::string source = unit.name();
  unit.reparse(patched);
  if (const auto error = unit.first_error())
    throw input_error(
        fmt::format("the patched text would not compile ({}, counted in the patched "
                    "text), so {} is left alone.",
                    *error, source));
  const std::vector<Kernel> kernels = kernels_of(unit);
  const Kernel& kernel = find_kernel(unit, kernels, wanted);
  const Reach now = reach(unit, kernel.definition, kernel.instances, function, Elsewhere::kRefuse);
  if (!now.uses.empty())
    throw input_error(
        fmt::format("{}: a read of the block index here (counted in the patched text) "
                    "cannot be replaced; write blockIdx out in the kernel.",
                    unit.where(now.uses.front().place)));
  for (const Kernel& other : kernels) {
    if (clang_equalCursors(other.definition, kernel.definition) != 0) continue;
    const Reach theirs =
        reach(unit, other.definition, other.instances, function, Elsewhere::kIgnore);
    if (theirs.calls_helper)
      throw input_error(fmt::format("{}: {} would change with {}; give {} functions of its own.",
                                    source, other.shown, kernel.shown, kernel.shown));
  }
}

/// The lines that read blockIdx in functions that no kernel of the file reaches.
std::string lines_never_reached(const Unit& unit, const std::vector<Use>& known) {
  std::string lines;
  for (const Token& token : unit.tokens()) {
    const unsigned at = token.span.begin;
    if (token.kind != CXToken_Identifier || token.directive || unit.text(token) != "blockIdx")
      continue;
    const bool seen = std::any_of(known.begin(), known.end(),
                                  [&](const Use& use) { return use.place.offset == at; });
    if (!seen && !unit.skipped(at))
      lines += fmt::format("{}{}", lines.empty() ? "" : ", ", token.line);
  }
  return lines;
}

void add_notes(const Unit& unit, const Kernel& kernel, const Reach& found,
               const std::vector<Use>& known, std::vector<std::string>& notes) {
  if (clang_getCursorKind(kernel.definition) == CXCursor_FunctionTemplate)
    notes.push_back(
        fmt::format("{} is a template: all of its instantiations are changed.", kernel.shown));
  for (const std::string& name : found.outside)
    notes.push_back(
        fmt::format("{} is not defined in this file: if it reads the block index, it still reads "
                    "the hardware's.",
                    name));
  if (const std::string lines = lines_never_reached(unit, known); !lines.empty())
    notes.push_back(
        fmt::format("{} reads blockIdx on lines that no kernel of the file was seen to reach, left "
                    "as they are: "
                    "{}.",
                    unit.name(), lines));
}

}  // namespace

SpliceResult splice(const SpliceRequest& request) {
  const std::string original = read_file(request.source);
  Unit unit(request.source, request.compile_arguments, original);
  refuse_compile_error(unit);
  const std::vector<Kernel> kernels = kernels_of(unit);
  const Kernel& kernel = find_kernel(unit, kernels, request.kernel);
  if (!unit.in_main(kernel.definition))
    throw input_error(
        fmt::format("{}: {} is defined here and not in {}; give this file as the source.",
                    unit.where(Unit::place(kernel.definition)), kernel.shown, unit.name()));

  const Reach found = reach(unit, kernel.definition, kernel.instances, "", Elsewhere::kRefuse);
  refuse_patched(unit, kernel, found, request.function);
  if (found.uses.empty())
    throw input_error(
        fmt::format("{}: {} never reads its block index, so no swizzle can change it.",
                    unit.where(Unit::place(kernel.definition)), kernel.shown));
  std::vector<Use> known = uses_of_others(unit, kernels, kernel, found);
  known.insert(known.end(), found.uses.begin(), found.uses.end());

  SpliceResult result;
  result.existing_remaps = find_remaps(unit, kernel.definition);
  Plan plan = plan_edits(unit, found.uses, request.function, request.helper_code);
  result.patched = apply_edits(original, plan.edits);
  result.patch = unified_diff(original, plan.edits, path_in_patch(request.source, request.root));
  result.changed = std::move(plan.changed);
  result.notes = std::move(plan.notes);
  add_notes(unit, kernel, found, known, result.notes);
  check_patched(unit, result.patched, request.kernel, request.function);
  return result;
}

}  // namespace swizzleperf::splice
