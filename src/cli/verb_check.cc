// check: does a kernel, as it stands, compute everything once, and do its blocks leave each other
// alone?
//
// `verify` proves a formula; a kernel whose remap is written into it has no formula to prove, but
// it can be run. What the blocks of one launch do to memory tells whether any is lost or repeated,
// and whether they may be reordered at all. What should be written is known to the user only: a
// declared array, or a launch known to be complete.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/nearest.h"
#include "check/findings_json.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "report/launch_text.h"
#include "report/progress.h"
#include "report/table.h"
#include "swizzleperf/check.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> must_write;
  std::string reference;
  std::string reference_program;
  std::vector<std::string> allow;
};

/// A range that the launch should write whole.
struct Required {
  std::string name;
  std::uint64_t bytes = 0;
  Unwritten unwritten;
};

struct Reference {
  std::string what;  ///< in words
  ReferenceVerdict verdict;
};

/// Everything that was found out, before it is told in words or in JSON.
struct Result {
  std::string program;
  LaunchFindings launch;
  std::vector<Required> required;
  std::optional<Reference> reference;
  std::vector<std::string> allowed;

  [[nodiscard]] std::vector<std::string> found() const;
  [[nodiscard]] std::vector<std::string> failed() const;
};

// What a check may fail by; --allow takes the same words.
constexpr const char* kRepeated = "repeated";
constexpr const char* kConflict = "conflict";
constexpr const char* kUnwritten = "unwritten";
constexpr const char* kCommunication = "communication";

bool incomplete(const ReferenceVerdict& v) {
  return v.lost_bytes > 0 || v.extra_bytes > 0 || !v.unmatched.empty();
}

std::vector<std::string> Result::found() const {
  std::vector<std::string> kinds;
  if (launch.repeated.blocks > 0) kinds.emplace_back(kRepeated);
  if (launch.different.blocks > 0) kinds.emplace_back(kConflict);
  const bool holes = std::any_of(required.begin(), required.end(),
                                 [](const Required& r) { return r.unwritten.bytes > 0; });
  if (holes || (reference && incomplete(reference->verdict))) kinds.emplace_back(kUnwritten);
  if (launch.communication.blocks > 0) kinds.emplace_back(kCommunication);
  return kinds;
}

std::vector<std::string> Result::failed() const {
  std::vector<std::string> kinds = found();
  std::erase_if(kinds, [&](const std::string& kind) {
    return std::find(allowed.begin(), allowed.end(), kind) != allowed.end();
  });
  return kinds;
}

// --- Finding out --------------------------------------------------------------------------------

/// NAME[:BYTES]
Required parse_required(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Required required{text.substr(0, colon), 0, {}};
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, required.bytes);
    if (fault != std::errc() || stop != end || required.bytes == 0)
      throw usage_error(
          fmt::format("--must-write takes NAME or NAME:BYTES such as C:4096, not '{}'", text));
  }
  if (required.name.empty()) throw usage_error("--must-write takes NAME or NAME:BYTES");
  return required;
}

/// Looks the name up among the kernel's arguments, then among all arrays.
void find_required(Required& required, const LaunchFindings& f) {
  std::vector<std::string> known;
  std::optional<std::uint64_t> begin;
  std::uint32_t buffer = 0;
  for (const PointerArgument& a : f.arguments) {
    known.push_back(a.name.empty() ? fmt::format("{}", a.index) : a.name);
    if (begin || (required.name != a.name && required.name != fmt::format("{}", a.index))) continue;
    begin = a.address;
    buffer = a.buffer;
  }
  for (std::uint32_t i = 0; i < f.buffers.size() && !begin; ++i) {
    if (f.buffers[i].name != required.name) continue;
    begin = f.buffers[i].base;
    buffer = i;
  }
  if (!begin) {
    throw usage_error(
        fmt::format("--must-write {}: the kernel has no pointer of that name{}; it has: {}",
                    required.name, did_you_mean(required.name, known), fmt::join(known, ", ")));
  }
  const std::uint64_t room = f.buffers[buffer].base + f.buffers[buffer].bytes - *begin;
  if (required.bytes > room) {
    throw usage_error(fmt::format("--must-write {}:{}: only {} bytes are allocated there",
                                  required.name, required.bytes, room));
  }
  if (required.bytes == 0) required.bytes = room;
  required.unwritten = unwritten(f, *begin, *begin + required.bytes);
}

LaunchFindings watch(const vgpu::ProgramSpec& spec, const std::filesystem::path& work, bool quiet) {
  const vgpu::BuiltProgram built = vgpu::build_program(spec, work);
  Progress progress(quiet);
  return vgpu::check_program(spec, built, [&](std::uint64_t done, std::uint64_t blocks) {
    progress.update(
        fmt::format("check of {}: {} of {} blocks run", spec.program.string(), done, blocks),
        static_cast<double>(done) / static_cast<double>(blocks));
  });
}

/// The launch to compare with: another one of this program, or the same one of another program.
vgpu::ProgramSpec reference_spec(const Options& o, vgpu::ProgramSpec spec) {
  if (!o.reference_program.empty()) {
    spec.program = o.reference_program;
    return spec;
  }
  const bool index = std::all_of(o.reference.begin(), o.reference.end(),
                                 [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!index) {
    spec.kernel_regex = o.reference;
    spec.launch_index = -1;
    return spec;
  }
  const char* const end = o.reference.data() + o.reference.size();
  const auto [stop, fault] = std::from_chars(o.reference.data(), end, spec.launch_index);
  if (fault != std::errc() || stop != end)
    throw usage_error(fmt::format("--reference {} is no launch number", o.reference));
  return spec;
}

Result find_out(const Options& options, const ProgramOptions& program,
                const CommonOptions& common) {
  if (!options.reference.empty() && !options.reference_program.empty())
    throw usage_error("--reference and --reference-program exclude each other: give one");
  Result result;
  result.program = program.program;
  result.allowed = options.allow;
  const vgpu::ProgramSpec spec = program_spec(program, common, load_machine(common.machine));
  if (is_trace_file(spec.program) || spec.program.extension() == ".trace") {
    throw input_error(
        fmt::format("{}: a trace does not hold what blocks write; give check the program itself",
                    spec.program.string()));
  }
  const std::vector<std::string> declared =
      options.must_write.empty() ? vgpu::declared_outputs(spec) : options.must_write;
  for (const std::string& text : declared) result.required.push_back(parse_required(text));
  const ScratchDirectory scratch;
  result.launch = watch(spec, scratch.path(), common.quiet);
  for (Required& required : result.required) find_required(required, result.launch);
  if (options.reference.empty() && options.reference_program.empty()) return result;

  const vgpu::ProgramSpec other = reference_spec(options, spec);
  const LaunchFindings reference = watch(other, scratch.path(), common.quiet);
  result.reference = Reference{fmt::format("{} in {}", reference.kernel, other.program.string()),
                               compare_to_reference(result.launch, reference)};
  return result;
}

// --- In words -----------------------------------------------------------------------------------

std::string plural(std::uint64_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// "14", or "14 (2,1)" on grids of more dimensions.
std::string block_words(std::uint64_t block, const Dim3& grid) {
  const Dim3 at = unlinear(block, grid);
  if (grid.z > 1) return fmt::format("{} ({},{},{})", block, at.x, at.y, at.z);
  if (grid.y > 1) return fmt::format("{} ({},{})", block, at.x, at.y);
  return fmt::to_string(block);
}

std::string line_words(const SourceLine& at) {
  if (at.line == 0) return "";
  return fmt::format(" at {}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

std::string where_words(const Stretch& s) {
  return fmt::format("{} of {} from byte {}", plural(s.bytes, "byte"), s.buffer, s.offset);
}

/// "2 blocks' worth (most blocks store 4096 bytes)", where that can be said.
std::string worth_words(std::uint64_t bytes, std::uint64_t bytes_of_block) {
  if (bytes_of_block == 0 || bytes < bytes_of_block) return "";
  const std::uint64_t blocks = bytes / bytes_of_block;
  return fmt::format(": {}{} worth (most blocks store {} bytes)",
                     bytes % bytes_of_block == 0 ? "" : "about ",
                     blocks == 1 ? "1 block's" : fmt::format("{} blocks'", blocks), bytes_of_block);
}

/// A paragraph, and a line for each of the first few examples.
class Text {
 public:
  void paragraph(const std::string& text) { text_ += wrap(text, output_width()); }
  void item(const std::string& text) { text_ += "  " + wrap(text, output_width() - 2, 4); }
  void more(std::uint64_t shown, std::uint64_t all) {
    if (all > shown) text_ += fmt::format("  ... and {} more\n", all - shown);
  }
  void line(const std::string& text = "") { text_ += text + "\n"; }
  void heading(const std::string& text) {
    text_ += "\n" + text + "\n" + std::string(text.size(), '-') + "\n";
  }
  void raw(const std::string& text) { text_ += text; }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  std::string text_;
};

constexpr std::size_t kShown = 4;  // examples

template <class Examples, class Describe>
void examples(Text& text, const Examples& all, std::uint64_t total, Describe describe) {
  const std::size_t shown = std::min(kShown, all.size());
  for (std::size_t i = 0; i < shown; ++i) text.item(describe(all[i]));
  text.more(shown, total);
}

void tell_repeated(Text& text, const LaunchFindings& f) {
  const std::uint64_t blocks = f.grid.count();
  text.heading("Repeated work");
  text.paragraph(fmt::format(
      "{} of {} blocks make exactly the accesses of an earlier block; where a grid has one block "
      "for each tile, the work of as many is never done.",
      f.repeated.blocks, blocks));
  examples(text, f.repeated.examples, f.repeated.blocks, [&](const Overlap& o) {
    return fmt::format("blocks {} and {} write the same {}", block_words(o.first, f.grid),
                       block_words(o.second, f.grid), where_words(o.where));
  });
  text.paragraph(
      "Mostly this is an index remap that is a permutation on some grids only. `swizzleperf "
      "verify` "
      "takes it as a formula, finds where it fails and names an exact form.");
}

void tell_conflict(Text& text, const LaunchFindings& f) {
  text.heading("Conflicting stores");
  text.paragraph(fmt::format(
      "{} store over bytes of another with other values ({} in all): the order of blocks decides "
      "which value stays.",
      plural(f.different.blocks, "block"), plural(f.different.bytes, "byte")));
  examples(text, f.different.examples, f.different.blocks, [&](const Overlap& o) {
    return fmt::format("blocks {}{} and {}{} write {}", block_words(o.first, f.grid),
                       line_words(o.first_line), block_words(o.second, f.grid),
                       line_words(o.second_line), where_words(o.where));
  });
}

std::string meeting_words(const Meeting& m, const Dim3& grid) {
  std::string text =
      fmt::format("block {} reads{} {}, which block {} writes{}{}", block_words(m.reader, grid),
                  line_words(m.read_line), where_words(m.where), block_words(m.writer, grid),
                  m.overwritten ? " later" : "", line_words(m.write_line));
  if (m.waits == true) text += "; it waits for that: run alone, it does not end";
  if (m.waits == false) text += "; run alone, it ends";
  return text;
}

void tell_communication(Text& text, const LaunchFindings& f) {
  const Meetings& m = f.communication;
  text.heading("Communication");
  text.paragraph(fmt::format(
      "Blocks read what other blocks write in the same launch ({} of blocks, {}): what they "
      "compute "
      "depends on the order in which they run, so they must not be reordered without thought.",
      plural(m.pairs, "pair"), plural(m.bytes, "byte")));
  examples(text, m.examples, m.pairs,
           [&](const Meeting& meeting) { return meeting_words(meeting, f.grid); });
}

void tell_unwritten(Text& text, const Result& r) {
  text.heading("Never written");
  for (const Required& q : r.required) {
    if (q.unwritten.bytes == 0) continue;
    text.item(fmt::format("{} of {} bytes of '{}', in {}, the first from byte {} on{}",
                          q.unwritten.bytes, q.bytes, q.name, plural(q.unwritten.runs, "run"),
                          q.unwritten.first_offset,
                          worth_words(q.unwritten.bytes, r.launch.bytes_of_block)));
  }
  if (!r.reference || !incomplete(r.reference->verdict)) return;
  const ReferenceVerdict& v = r.reference->verdict;
  text.paragraph(fmt::format(
      "Against the reference, {}: of its {} blocks {} are lost whole and {} in part, {} in all.",
      r.reference->what, v.blocks, v.lost_blocks, v.partly_lost, plural(v.lost_bytes, "byte")));
  examples(text, v.examples, v.lost_blocks + v.partly_lost, [&](const LostBlock& lost) {
    return fmt::format("what its block {} writes: {}", lost.block, where_words(lost.where));
  });
  if (v.extra_bytes > 0)
    text.item(plural(v.extra_bytes, "byte") + " are written that it does not write");
  for (const std::string& name : v.unmatched)
    text.item(fmt::format("it writes {}, and this launch has no such array", name));
}

/// What is worth knowing and no failure.
std::vector<std::string> notes(const Result& r) {
  const LaunchFindings& f = r.launch;
  std::vector<std::string> all;
  if (f.same.blocks > 0) {
    const Overlap& o = f.same.examples.front();
    all.push_back(fmt::format(
        "{} store bytes that another block stores too, with the same values ({} in all; blocks {} "
        "and {}: {}). Halos and flags do that{}.",
        plural(f.same.blocks, "block"), plural(f.same.bytes, "byte"), block_words(o.first, f.grid),
        block_words(o.second, f.grid), where_words(o.where),
        f.blocks_without_own_bytes == 0
            ? ""
            : fmt::format("; {} of these blocks store nothing else", f.blocks_without_own_bytes)));
  }
  if (f.ordered.blocks > 0) {
    all.push_back(fmt::format(
        "{} what others wrote, but only after an atomic said that these were done (as the last "
        "block to arrive does); run alone they end. For instance {}.",
        f.ordered.blocks == 1 ? "1 block reads" : fmt::format("{} blocks read", f.ordered.blocks),
        meeting_words(f.ordered.examples.front(), f.grid)));
  }
  if (f.ticket_blocks > 0) {
    all.push_back(fmt::format(
        "{} what an atomic returned after others had been there: which work a block takes may "
        "depend on the order in which blocks arrive.",
        f.ticket_blocks == 1 ? "1 block uses" : fmt::format("{} blocks use", f.ticket_blocks)));
  }
  if (!r.required.empty() || r.reference) return all;
  for (const WrittenArray& w : written_arrays(f)) {
    if (w.between.runs == 0) continue;
    all.push_back(fmt::format(
        "{} is written with {} between ({}{}); if it should be written whole, say so with "
        "--must-write.",
        f.buffers[w.buffer].name, plural(w.between.runs, "hole"), plural(w.between.bytes, "byte"),
        worth_words(w.between.bytes, f.bytes_of_block)));
  }
  return all;
}

std::string verdict_words(const Result& r) {
  const std::vector<std::string> failed = r.failed();
  if (!failed.empty()) return fmt::format("Failed: {}.", fmt::join(failed, ", "));
  std::string text = "Passed: no block repeats another or depends on one";
  if (!r.required.empty()) text += ", and what must be written is";
  if (r.reference) text += ", and all that the reference writes is written";
  const std::vector<std::string> found = r.found();
  if (!found.empty())
    text = fmt::format("Passed, since these are allowed: {}", fmt::join(found, ", "));
  return text + ".";
}

Table table_of(const LaunchFindings& f) {
  Table table{{{"array"}, {"size", true}, {"written", true}, {"holes", true}, {"behind", true}},
              {}};
  const auto words = [](std::uint64_t bytes) { return bytes_words(static_cast<double>(bytes)); };
  for (const WrittenArray& w : written_arrays(f)) {
    table.rows.push_back({f.buffers[w.buffer].name, words(f.buffers[w.buffer].bytes),
                          words(w.bytes), words(w.between.bytes), words(w.behind)});
  }
  return table;
}

std::string console(const Result& r) {
  const LaunchFindings& f = r.launch;
  Text text;
  text.line(f.kernel);
  text.paragraph(fmt::format(
      "{}, all run on the virtual GPU, one after the other in dispatch order ({:.2f} s, {} of "
      "book-keeping).",
      launch_words(f.grid, f.block), f.seconds,
      bytes_words(static_cast<double>(f.bookkeeping_bytes))));
  text.line();
  const Table table = table_of(f);
  text.raw(table.rows.empty() ? "No block writes to memory.\n" : render(table, output_width()));
  const std::vector<std::string> found = r.found();
  const auto is = [&](const char* kind) {
    return std::find(found.begin(), found.end(), kind) != found.end();
  };
  if (is(kRepeated)) tell_repeated(text, f);
  if (is(kConflict)) tell_conflict(text, f);
  if (is(kUnwritten)) tell_unwritten(text, r);
  if (is(kCommunication)) tell_communication(text, f);
  const std::vector<std::string> all = notes(r);
  if (!all.empty()) text.heading("Notes");
  for (const std::string& note : all) text.item(note);
  text.line();
  text.paragraph(verdict_words(r));
  return text.str();
}

// --- In JSON ------------------------------------------------------------------------------------

Json json_of(const Unwritten& u) {
  Json json = {{"bytes", u.bytes}, {"runs", u.runs}, {"first", nullptr}};
  if (u.runs > 0) json["first"] = {{"offset", u.first_offset}, {"bytes", u.first_bytes}};
  return json;
}

Json reference_json(const std::optional<Reference>& reference) {
  if (!reference) return nullptr;
  const ReferenceVerdict& v = reference->verdict;
  Json json = {{"launch", reference->what},    {"blocks", v.blocks},
               {"lost_blocks", v.lost_blocks}, {"partly_lost_blocks", v.partly_lost},
               {"lost_bytes", v.lost_bytes},   {"extra_bytes", v.extra_bytes},
               {"unmatched", v.unmatched},     {"examples", Json::array()}};
  for (const LostBlock& lost : v.examples) {
    json["examples"].push_back({{"block", lost.block},
                                {"buffer", lost.where.buffer},
                                {"offset", lost.where.offset},
                                {"bytes", lost.where.bytes}});
  }
  return json;
}

Json json_of(const Result& r) {
  Json document = json_document();
  document["program"] = r.program;
  document["passed"] = r.failed().empty();
  document["failed"] = r.failed();
  document["allowed"] = r.allowed;
  document.update(to_json(r.launch));
  document["written"] = Json::array();
  for (const WrittenArray& w : written_arrays(r.launch)) {
    document["written"].push_back({{"buffer", r.launch.buffers[w.buffer].name},
                                   {"bytes", w.bytes},
                                   {"before", w.before},
                                   {"behind", w.behind},
                                   {"holes", json_of(w.between)}});
  }
  document["must_write"] = Json::array();
  for (const Required& q : r.required) {
    document["must_write"].push_back(
        {{"name", q.name}, {"bytes", q.bytes}, {"unwritten", json_of(q.unwritten)}});
  }
  document["reference"] = reference_json(r.reference);
  return document;
}

Outcome run(const Options& options, const ProgramOptions& program, const CommonOptions& common) {
  const Result result = find_out(options, program, common);
  const Exit exit = result.failed().empty() ? Exit::kDone : Exit::kCheckFailed;
  return {common.json ? to_text(json_of(result)) : console(result), exit};
}

}  // namespace

Verb check_verb() {
  return {
      "check",
      "Find, prove and apply a swizzle",
      "See whether blocks repeat, miss or share work",
      "Examples:\n"
      "  swizzleperf check kernels/gemm/gemm.hip --must-write C -- 1024 1024 256\n"
      "  swizzleperf check remapped.hip --reference-program plain.hip\n"
      "  swizzleperf check my.hip --kernel fast --reference slow\n"
      "Every block of the launch is run, so give a small problem, and one whose grid is ragged.\n"
      "Exit code 1 when blocks repeat others' work (repeated), store different values to the same\n"
      "bytes (conflict), read what others write (communication), or leave bytes of a --must-write\n"
      "array or of the reference unwritten (unwritten).",
      kMachine | kKernel | kProgramArguments,
      [](CLI::App& app) -> Action {
        const auto options = std::make_shared<Options>();
        const auto program = std::make_shared<ProgramOptions>();
        declare_program_options(app, program);
        app.remove_option(app.get_option("--every-block"));  // it always does
        app.add_option("--must-write", options->must_write,
                       "NAME[:BYTES]: a pointer of the kernel behind which all must be written; "
                       "may be repeated")
            ->allow_extra_args(false);
        app.add_option("--reference", options->reference,
                       "A launch (its number, or a kernel by regular expression) of the same "
                       "program that writes all");
        app.add_option("--reference-program", options->reference_program,
                       "A program whose same launch writes all");
        app.add_option(
               "--allow", options->allow,
               "repeated, conflict, communication or unwritten: no failure; may be repeated")
            ->allow_extra_args(false)
            ->check(CLI::IsMember({kRepeated, kConflict, kCommunication, kUnwritten}));
        return [options, program](const CommonOptions& common) {
          return run(*options, *program, common);
        };
      }};
}

}  // namespace swizzleperf
