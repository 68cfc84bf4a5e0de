// machines: what models there are, what one of them is made of, and what is really there.
//
// A model is explained by how well each number is known, worst last: what is calibrated stands
// together, since that is where a reader should doubt.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "machine/detect.h"
#include "report/table.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  bool detect = false;
};

struct Kind {
  const char* name;
  const char* heading;
};

constexpr std::array<Kind, 4> kKinds = {
    {{"documented", "Documented: a vendor or a published work says so"},
     {"measured", "Measured: somebody ran something"},
     {"memory", "From memory: unchecked, treat as guesses"},
     {"calibrated", "Calibrated: nobody publishes these; parameters of the model"}}};

std::string count_of(std::uint64_t count, const std::string& word) {
  const bool plain = count == 1 || word.ends_with("s");
  return fmt::format("{} {}{}", count, word, plain ? "" : "s");
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / (1 << 20));
}

// --- The list -----------------------------------------------------------------------------------

/// Partition modes stand with their machine: they differ in the number of dies only.
std::string list_console() {
  Table table{{{"name"},
               {"arch"},
               {"dies", true},
               {"CUs", true},
               {"L2 a die", true},
               {"last level", true},
               {"partition modes"}},
              {}};
  for (const Machine& m : all_machines()) {
    const std::size_t dash = m.name.find('-');
    if (dash != std::string::npos && !table.rows.empty() &&
        table.rows.back()[0] == m.name.substr(0, dash)) {
      table.rows.back().back() +=
          (table.rows.back().back().empty() ? "" : " ") + m.name.substr(dash);
      continue;
    }
    table.rows.push_back({m.name, m.arch, fmt::to_string(m.dies),
                          fmt::to_string(m.dies * m.cus_per_die), megabytes(m.l2.bytes),
                          m.llc ? megabytes(m.llc->bytes) : "-", ""});
  }
  return render(table, output_width()) +
         "\n'swizzleperf machines NAME' shows every number of a model with its source; a "
         "partition\n"
         "mode is a name of its own, such as mi300x-cpx.\n";
}

Json summary_json(const Machine& m) {
  return {{"name", m.name},         {"title", m.title},
          {"vendor", m.vendor},     {"arch", m.arch},
          {"dies", m.dies},         {"cus_per_die", m.cus_per_die},
          {"l2_bytes", m.l2.bytes}, {"llc_bytes", m.llc ? Json(m.llc->bytes) : Json(nullptr)}};
}

// --- One model ----------------------------------------------------------------------------------

std::string dispatch_words(const Machine& m) {
  if (m.dies == 1)
    return fmt::format("One {}: a remap between dies has nothing to do.", m.die_word);
  if (m.dispatch == Dispatch::kSingleQueue)
    return "Blocks start in increasing order, each in the next free slot anywhere.";
  return fmt::format("Blocks go to the {}s in turn, {} at a time; each keeps its own queue.",
                     m.die_word, m.dispatch_chunk);
}

/// Position of the text in the list, from 1; added at the end if new.
std::size_t footnote(std::vector<std::string>& sources, const std::string& text) {
  const auto found = std::find(sources.begin(), sources.end(), text);
  if (found != sources.end()) return static_cast<std::size_t>(found - sources.begin()) + 1;
  sources.push_back(text);
  return sources.size();
}

std::string explain_console(const Machine& m) {
  std::string text = fmt::format("{} ({})\n{} of {} CUs, {} in all; {}, waves of {} lanes.\n{}\n",
                                 m.title, m.name, count_of(m.dies, m.die_word), m.cus_per_die,
                                 m.dies * m.cus_per_die, m.arch, m.wave, dispatch_words(m));
  std::vector<std::string> sources;
  for (const Kind& kind : kKinds) {
    Table table{{{"key"}, {"value", true}, {"source", true}, {"note"}}, {}};
    for (const Provenance& p : m.provenance)
      if (p.kind == kind.name)
        table.rows.push_back(
            {p.key, p.value, fmt::format("[{}]", footnote(sources, p.source)), p.note});
    if (!table.rows.empty())
      text += fmt::format("\n{} ({})\n{}", kind.heading, table.rows.size(),
                          render(table, output_width()));
  }
  text += "\nSources\n";
  for (std::size_t i = 0; i < sources.size(); ++i)
    text += wrap(fmt::format("[{}] {}", i + 1, sources[i]), output_width(), 4);
  return text;
}

Json explain_json(const Machine& m) {
  Json numbers = Json::array();
  for (const Provenance& p : m.provenance)
    numbers.push_back({{"key", p.key},
                       {"value", p.value},
                       {"kind", p.kind},
                       {"source", p.source},
                       {"note", p.note.empty() ? Json(nullptr) : Json(p.note)}});
  Json result = summary_json(m);
  result["numbers"] = std::move(numbers);
  return result;
}

// --- What is there ------------------------------------------------------------------------------

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json detected_json(const DetectedGpu& gpu) {
  return {{"vendor", gpu.vendor},      {"product", or_null(gpu.product)},
          {"arch", or_null(gpu.arch)}, {"dies", or_null(gpu.dies)},
          {"cus", or_null(gpu.cus)},   {"models", gpu.models},
          {"source", gpu.source},      {"problem", or_null(gpu.problem)}};
}

std::string detected_console(const std::vector<DetectedGpu>& gpus) {
  if (gpus.empty())
    return "No GPU found (no compute nodes of the amdgpu driver, no NVIDIA driver).\n"
           "None is needed to trace and simulate: choose a model with --machine.\n";
  const auto number = [](const std::optional<std::uint32_t>& n) {
    return n ? fmt::to_string(*n) : "unknown";
  };
  Table table{{{"vendor"}, {"arch"}, {"dies", true}, {"CUs", true}, {"models that fit"}}, {}};
  std::string remarks;
  for (const DetectedGpu& gpu : gpus) {
    table.rows.push_back({gpu.vendor, gpu.arch.empty() ? "unknown" : gpu.arch, number(gpu.dies),
                          number(gpu.cus), fmt::format("{}", fmt::join(gpu.models, ", "))});
    remarks +=
        wrap(gpu.source + (gpu.problem.empty() ? "" : ": " + gpu.problem), output_width(), 2);
  }
  return render(table, output_width()) + "\n" + remarks;
}

Outcome detect(const CommonOptions& common) {
  const std::vector<DetectedGpu> gpus = detect_gpus("/", all_machines());
  if (!common.json) return {detected_console(gpus)};
  Json document = json_document();
  document["gpus"] = Json::array();
  for (const DetectedGpu& gpu : gpus) document["gpus"].push_back(detected_json(gpu));
  return {to_text(document)};
}

Outcome run(const Options& options, const CommonOptions& common) {
  if (options.detect && !options.name.empty())
    throw usage_error("--detect looks at this system and takes no model name");
  if (options.detect) return detect(common);
  Json document = json_document();
  if (!options.name.empty()) {
    const Machine machine = load_machine(options.name);
    if (!common.json) return {explain_console(machine)};
    document["machine"] = explain_json(machine);
    return {to_text(document)};
  }
  if (!common.json) return {list_console()};
  document["machines"] = Json::array();
  for (const Machine& machine : all_machines())
    document["machines"].push_back(summary_json(machine));
  return {to_text(document)};
}

}  // namespace

Verb machines_verb() {
  return {"machines",
          "Look around",
          "List the machine models and explain them",
          "Examples:\n"
          "  swizzleperf machines                 all models\n"
          "  swizzleperf machines mi300x          every number, how well it is known, its source\n"
          "  swizzleperf machines ./mine.toml     a model of your own (base = \"mi300x\", ...)\n"
          "  swizzleperf machines --detect        the GPUs of this system and their die counts",
          kNothing,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("name", options->name, "A model, by name or .toml file");
            app.add_flag("--detect", options->detect, "Show the GPUs of this system");
            return [options](const CommonOptions& common) { return run(*options, common); };
          }};
}

}  // namespace swizzleperf
