// What a spec leaves open is settled in this order: values and constexprs that the spec itself can
// compute; shapes; then the kernel is compiled, which may add constexprs (a configuration of
// @triton.autotune, @triton.heuristics); then the grid, which may depend on all of them.
#include "vgpu/toolchain/build_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/files.h"
#include "python/python.h"
#include "vgpu/launcher/element.h"
#include "vgpu/toolchain/device.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// ---- values -------------------------------------------------------------------------------------

/// A number or text of the spec that is to become a number.
struct Pending {
  const std::string* name;
  std::uint32_t line;
  json* value;
};

bool is_expression(const json& value) { return value.is_string(); }

/// Replaces expressions by numbers, in whatever order they depend on each other, and returns all
/// whole numbers by name.
Names settle(LaunchSpec& spec) {
  std::vector<Pending> all;
  for (SpecArgument& a : spec.arguments) {
    if (a.shape.empty()) all.push_back({&a.name, a.line, &a.value});
  }
  for (SpecConstant& s : spec.sizes) all.push_back({&s.name, s.line, &s.value});
  for (SpecConstant& c : spec.constexprs) all.push_back({&c.name, c.line, &c.value});
  Names names;
  const auto take = [&](const Pending& p) {
    if (p.value->is_number_integer()) names[*p.name] = p.value->get<std::int64_t>();
  };
  for (const Pending& p : all) take(p);
  std::optional<Error> fault;
  for (bool progress = true; progress;) {
    progress = false;
    fault.reset();
    for (const Pending& p : all) {
      if (!is_expression(*p.value)) continue;
      try {
        *p.value = spec.number({p.value->get<std::string>(), p.line}, names);
      } catch (const Error& error) {
        if (!fault) fault = error;
        continue;
      }
      take(p);
      progress = true;
    }
  }
  if (fault) throw Error(*fault);
  return names;
}

std::uint64_t count_of(const LaunchSpec& spec, const SpecArgument& a, const Names& names,
                       std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 46;  // bytes; far more than any machine has
  std::int64_t count = 1;
  for (const SpecText& extent : a.shape) {
    const std::int64_t value = spec.number(extent, names);
    if (value < 1 || value > kMost || count > kMost / value) {
      throw spec.error(extent.line, fmt::format("array '{}' cannot have an extent of {} ({})",
                                                a.name, value, extent.text));
    }
    shape.push_back(value);
    count *= value;
  }
  return static_cast<std::uint64_t>(count);
}

json resolved_fill(const LaunchSpec& spec, const SpecArgument& a, const Names& names) {
  json fill = a.fill;
  for (auto& [key, value] : fill.items()) {
    if (key == "kind" || key == "path" || !value.is_string()) continue;
    value = spec.number({value.get<std::string>(), a.line}, names);
  }
  if (fill.at("kind") == "integers" && !(fill.at("low") < fill.at("high"))) {
    throw spec.error(a.line, fmt::format("array '{}': integers from {} up to {} are none", a.name,
                                         fill.at("low").dump(), fill.at("high").dump()));
  }
  return fill;
}

json described_array(const LaunchSpec& spec, const SpecArgument& a, const Names& names) {
  std::vector<std::int64_t> shape;
  const std::uint64_t count = count_of(spec, a, names, shape);
  return {{"name", a.name},
          {"dtype", a.dtype},
          {"count", count},
          {"shape", shape},
          {"fill", resolved_fill(spec, a, names)}};
}

// ---- the launch ---------------------------------------------------------------------------------

std::array<std::int64_t, 3> extents(const LaunchSpec& spec, const std::vector<SpecText>& texts,
                                    const Names& names, const char* what) {
  std::array<std::int64_t, 3> result = {1, 1, 1};
  for (std::size_t k = 0; k < texts.size(); ++k) {
    result[k] = spec.number(texts[k], names);
    if (result[k] < 1 || result[k] > INT32_MAX) {
      throw spec.error(texts[k].line, fmt::format("the {} cannot have an extent of {} ({})", what,
                                                  result[k], texts[k].text));
    }
  }
  return result;
}

const SpecArgument* find_argument(const LaunchSpec& spec, const std::string& name) {
  const auto at = std::find_if(spec.arguments.begin(), spec.arguments.end(),
                               [&](const SpecArgument& a) { return a.name == name; });
  return at == spec.arguments.end() ? nullptr : &*at;
}

/// What compiling gave.
struct Compiled {
  fs::path module;
  std::string function;
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::int64_t shared_bytes = 0;
  json arguments = json::array();  ///< for the description, in the kernel's order
  Names constants;                 ///< whole-number constexprs that the compiler added
  std::vector<std::string> notes;
  std::optional<Unit> unit;  ///< of a HIP kernel
};

// ---- Triton -------------------------------------------------------------------------------------

json question_for_triton(const LaunchSpec& spec, const ProgramSpec& program, const Names& names,
                         const fs::path& ir_file) {
  json arguments = json::object();
  for (const SpecArgument& a : spec.arguments) {
    if (a.shape.empty()) {
      arguments[a.name] = {{"value", a.value}, {"line", a.line}};
      continue;
    }
    std::vector<std::int64_t> shape;
    count_of(spec, a, names, shape);
    arguments[a.name] = {
        {"dtype", find_element_type(a.dtype)->triton}, {"shape", shape}, {"line", a.line}};
  }
  json constexprs = json::object();
  for (const SpecConstant& c : spec.constexprs)
    constexprs[c.name] = {{"value", c.value}, {"line", c.line}};
  return {
      {"spec", spec.file.string()},
      {"kernel",
       fs::absolute(program.kernel_source.empty() ? spec.kernel : program.kernel_source).string()},
      {"shown", spec.kernel.string()},
      {"beside", fs::absolute(spec.kernel).parent_path().string()},
      {"function", spec.function},
      {"function_line", spec.function_line},
      {"arch", program.arch},
      {"config", spec.config},
      {"options", spec.options},
      {"constexprs", constexprs},
      {"arguments", arguments},
      {"ir_file", ir_file.string()}};
}

const ElementType* type_of_triton(const std::string& name) {
  for (const std::string_view known : element_type_names()) {
    const ElementType* const type = find_element_type(known);
    if (type->triton == name) return type;
  }
  return name == "u1" ? find_element_type("bool") : nullptr;
}

/// A value has the type that Triton's own specialisation gave it.
json described_value(const LaunchSpec& spec, const SpecArgument& a, const std::string& triton) {
  const ElementType* const type = type_of_triton(triton);
  if (!type) {
    throw spec.error(a.line, fmt::format("value '{}' is of Triton's type {}, which a spec cannot "
                                         "give",
                                         a.name, triton));
  }
  if (!a.dtype.empty() && a.dtype != type->name) {
    throw spec.error(a.line, fmt::format("value '{}' is passed as {} by Triton, not as {}: change "
                                         "the dtype, or annotate the parameter in the kernel",
                                         a.name, type->name, a.dtype));
  }
  json value = a.value;
  if (value.is_boolean()) value = value.get<bool>() ? 1 : 0;
  return {{"name", a.name}, {"dtype", type->name}, {"value", value}};
}

Compiled compile_triton(const LaunchSpec& spec, const ProgramSpec& program, const Names& names,
                        const fs::path& directory) {
  Compiled compiled;
  compiled.module = directory / "kernel.ll";
  const json answer = ask_python(
      "compile", question_for_triton(spec, program, names, compiled.module), program.time_limit_s);
  compiled.function = answer.at("function");
  compiled.block[0] = answer.at("threads");
  compiled.shared_bytes = answer.at("shared_bytes");
  compiled.constants = answer.at("constants").get<Names>();
  compiled.notes = answer.at("notes");
  for (const json& parameter : answer.at("parameters")) {
    const std::string name = parameter.at("name");
    const std::string type = parameter.at("type");
    const SpecArgument* const a = find_argument(spec, name);
    if (!a) {
      compiled.arguments.push_back({{"name", name}});  // Triton's own scratch pointers: unused
    } else if (a->shape.empty()) {
      compiled.arguments.push_back(described_value(spec, *a, type));
    } else {
      compiled.arguments.push_back(described_array(spec, *a, names));
    }
  }
  return compiled;
}

// ---- LLVM IR and HIP ----------------------------------------------------------------------------

/// A value for a kernel whose parameter types are known only to its code: the dtype decides.
json plain_value(const LaunchSpec& spec, const SpecArgument& a) {
  if (a.value.is_null()) return {{"name", a.name}};
  json value = a.value;
  if (value.is_boolean()) value = value.get<bool>() ? 1 : 0;
  const std::string dtype = !a.dtype.empty()          ? a.dtype
                            : value.is_number_float() ? "float32"
                                                      : "int32";
  const bool fits =
      value.is_number_float() || dtype != "int32" ||
      (value.get<std::int64_t>() >= INT32_MIN && value.get<std::int64_t>() <= INT32_MAX);
  if (!fits) {
    throw spec.error(a.line,
                     fmt::format("value '{}' does not fit into int32: give its dtype", a.name));
  }
  return {{"name", a.name}, {"dtype", dtype}, {"value", value}};
}

Compiled compile_plain(const LaunchSpec& spec, const ProgramSpec& program, const Names& names,
                       const fs::path& directory) {
  Compiled compiled;
  compiled.function = spec.function;
  compiled.block = extents(spec, spec.block, names, "block");
  compiled.shared_bytes = spec.number(spec.shared_bytes, names);
  compiled.module = fs::absolute(spec.kernel);
  if (spec.language == SpecLanguage::kHip) {
    ProgramSpec kernel = program;
    kernel.program = program.kernel_source.empty() ? spec.kernel : program.kernel_source;
    kernel.compile_options.insert(kernel.compile_options.end(), spec.compile_options.begin(),
                                  spec.compile_options.end());
    compiled.unit = source_unit(kernel);
    compiled.module = build_device(*compiled.unit, kernel.program, directory);
  }
  for (const SpecArgument& a : spec.arguments) {
    compiled.arguments.push_back(a.shape.empty() ? plain_value(spec, a)
                                                 : described_array(spec, a, names));
  }
  return compiled;
}

Compiled compile(const LaunchSpec& spec, const ProgramSpec& program, const Names& names,
                 const fs::path& directory) {
  return spec.language == SpecLanguage::kTriton ? compile_triton(spec, program, names, directory)
                                                : compile_plain(spec, program, names, directory);
}

}  // namespace

BuiltProgram build_spec_program(const ProgramSpec& program, const fs::path& directory) {
  LaunchSpec spec = read_launch_spec(program.program, program.arguments);
  Names names = settle(spec);
  Compiled compiled = compile(spec, program, names, directory);
  names.merge(compiled.constants);
  const json description = {
      {"spec", spec.file.string()},     {"module", compiled.module.string()},
      {"function", compiled.function},  {"grid", extents(spec, spec.grid, names, "grid")},
      {"block", compiled.block},        {"shared_bytes", compiled.shared_bytes},
      {"arguments", compiled.arguments}};
  const fs::path file = directory / "launch.json";
  write_file(file, description.dump(1));

  BuiltProgram built;
  built.directory = directory;
  built.executable = locate_pieces().launcher;
  built.arguments = {file.string()};
  if (!program.save_directory.empty()) {
    built.arguments->insert(built.arguments->end(),
                            {"--save", fs::absolute(program.save_directory).string()});
  }
  if (compiled.unit) built.units = {*compiled.unit};
  built.notes = std::move(compiled.notes);
  return built;
}

fs::path build_spec_device(const ProgramSpec& program, const fs::path& directory) {
  LaunchSpec spec = read_launch_spec(program.program, program.arguments);
  const Names names = settle(spec);
  return compile(spec, program, names, directory).module;
}

fs::path spliced_source(const ProgramSpec& program) {
  if (!is_launch_spec(program.program)) return program.program;
  return read_launch_spec(program.program, program.arguments).kernel;
}

std::vector<std::string> declared_outputs(const ProgramSpec& program) {
  std::vector<std::string> names;
  if (!is_launch_spec(program.program)) return names;
  for (const SpecArgument& a : read_launch_spec(program.program, program.arguments).arguments) {
    if (a.output) names.push_back(a.name);
  }
  return names;
}

}  // namespace swizzleperf::vgpu
