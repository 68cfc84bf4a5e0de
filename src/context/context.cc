// See context.h.
#include "context/context.h"

#include "base/files.h"
#include "context/facts.h"
#include "context/source.h"
#include "context/words.h"
#include "formula/language.h"

namespace swizzleperf {

using nlohmann::json;

std::string_view context_name(ContextKind kind) {
  switch (kind) {
    case ContextKind::kUnaware:
      return "unaware";
    case ContextKind::kOverload:
      return "overload";
    case ContextKind::kAware:
      break;
  }
  return "aware";
}

Context make_context(const Launch& launch, const ContextRequest& request) {
  Context context;
  context.facts = kernel_facts(launch, request);
  if (request.kind == ContextKind::kAware) context.facts.update(aware_facts(launch, request));
  if (request.kind == ContextKind::kOverload) context.facts.update(overload_facts(launch, request));
  const Excerpt excerpt = kernel_excerpt(request.source, request.source_name, launch.trace.kernel);
  if (excerpt.text.empty()) {
    context.facts["source"] = json();
  } else {
    context.facts["source"] = {{"name", request.source_name},
                               {"lines", excerpt.lines},
                               {"found", excerpt.found},
                               {"shortened", excerpt.shortened}};
  }
  context.text = context_words(context.facts, excerpt.text);
  context.language = language_text(request.kind != ContextKind::kUnaware);
  return context;
}

KernelSource kernel_source(const vgpu::ProgramSpec& spec,
                           const std::optional<vgpu::BuiltProgram>& built, const Trace& trace) {
  if (is_trace_file(spec.program)) return {};
  std::filesystem::path file = vgpu::spliced_source(spec);
  if (!is_source(file)) {
    if (!built || built->units.empty()) return {};
    const vgpu::Unit& unit = vgpu::unit_of(*built, trace.symbol);
    file = unit.directory / unit.source;
  }
  if (!std::filesystem::is_regular_file(file)) return {};
  return {read_file(file), file.filename().string()};
}

}  // namespace swizzleperf
