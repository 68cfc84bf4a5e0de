// swizzleperf-launch DESCRIPTION.json [--save DIRECTORY]
//
// The host half of a kernel that comes without one (Triton, LLVM IR, a source without a main): an
// ordinary HIP program that does what a launch spec says. Allocate and fill the arguments in order,
// load the module, launch once. So the virtual GPU needs no second way in: a spec is traced, run
// and compared as any program is. The description is written by vgpu/toolchain/build_spec.cc, which
// has checked it. --save writes the description and, before and after the launch, each array.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hip/hip_runtime_api.h>

#include <array>
#include <cstring>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "swizzleperf/error.h"
#include "vgpu/launcher/element.h"
#include "vgpu/launcher/fill.h"
#include "vgpu/runtime/launcher_api.h"

namespace swizzleperf::vgpu {
namespace {

using nlohmann::json;

void must(hipError_t result, const std::string& what) {
  if (result == hipSuccess) return;
  throw input_error(fmt::format("{}: {}", what, hipGetErrorString(result)));
}

struct Array {
  std::string name;
  void* memory = nullptr;
  std::size_t bytes = 0;
};

/// The values that a launch hands over, each in memory of its own.
class Arguments {
 public:
  explicit Arguments(const json& description) {
    for (const json& argument : description) add(argument);
  }

  [[nodiscard]] void** pointers() { return pointers_.data(); }
  [[nodiscard]] const std::deque<Array>& arrays() const { return arrays_; }

 private:
  void add(const json& argument) {
    auto& value = values_.emplace_back();
    value.fill(std::byte{0});
    pointers_.push_back(value.data());
    if (argument.contains("count")) {
      const Array& array = arrays_.emplace_back(allocate(argument));
      std::memcpy(value.data(), static_cast<const void*>(&array.memory), sizeof array.memory);
    } else if (argument.contains("value")) {
      const ElementType& type = *find_element_type(argument.at("dtype").get<std::string>());
      if (argument.at("value").is_number_float()) {
        encode(type, argument.at("value").get<double>(), value.data());
      } else {
        encode(type, argument.at("value").get<std::int64_t>(), value.data());
      }
    }  // else a null pointer
  }

  static Array allocate(const json& argument) {
    const ElementType& type = *find_element_type(argument.at("dtype").get<std::string>());
    Array array{argument.at("name"), nullptr, argument.at("count").get<std::size_t>() * type.bytes};
    must(hipMalloc(&array.memory, array.bytes),
         fmt::format("argument '{}' of {} bytes", array.name, array.bytes));
    fill_array({static_cast<std::byte*>(array.memory), array.bytes}, type, argument.at("fill"));
    return array;
  }

  std::deque<std::array<std::byte, 8>> values_;
  std::vector<void*> pointers_;
  std::deque<Array> arrays_;
};

/// As DIRECTORY/NAME.before or NAME.after.
void save(const std::deque<Array>& arrays, const std::filesystem::path& directory,
          const char* when) {
  for (const Array& array : arrays) {
    write_file(directory / (array.name + when),
               {static_cast<const char*>(array.memory), array.bytes});
  }
}

/// "void f<4>(float*)" is called f in a spec, as in its source.
std::string source_name(const std::string& demangled) {
  std::string name = demangled.substr(0, demangled.find_first_of("<("));
  const std::size_t begin = name.find_last_of(" :");
  return begin == std::string::npos ? name : name.substr(begin + 1);
}

const KernelInfo& find_kernel(const std::vector<KernelInfo>& kernels, const std::string& name) {
  std::vector<const KernelInfo*> found;
  std::vector<std::string> known;
  for (const KernelInfo& kernel : kernels) {
    known.push_back(kernel.name);
    if (kernel.symbol == name) return kernel;
    if (kernel.name == name || source_name(kernel.name) == name) found.push_back(&kernel);
  }
  if (found.size() == 1) return *found[0];
  throw input_error(fmt::format("{} kernel '{}'; there are: {}",
                                found.empty() ? "there is no" : "there is more than one", name,
                                known.empty() ? "none" : fmt::to_string(fmt::join(known, ", "))));
}

/// The kernel's parameters are known only to its code, so this is the first who can tell.
void check_arguments(const KernelInfo& kernel, const json& arguments) {
  if (kernel.arg_bytes.size() != arguments.size()) {
    throw input_error(fmt::format("{} takes {} arguments, but the spec gives {}", kernel.name,
                                  kernel.arg_bytes.size(), arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const json& a = arguments[i];
    const bool is_value = a.contains("value");
    const std::uint32_t bytes =
        is_value ? find_element_type(a.at("dtype").get<std::string>())->bytes : 8;
    if (kernel.arg_bytes[i] == bytes && kernel.arg_is_pointer[i] != is_value) continue;
    const auto words = [](bool pointer, std::uint32_t size) {
      return pointer ? std::string("a pointer") : fmt::format("a value of {} bytes", size);
    };
    throw input_error(fmt::format("argument {} of {} ('{}') is {}, but the spec gives {}", i,
                                  kernel.name, a.at("name").get<std::string>(),
                                  words(kernel.arg_is_pointer[i], kernel.arg_bytes[i]),
                                  words(!is_value, bytes)));
  }
}

void launch(const json& description, Arguments& arguments) {
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  const std::string file = description.at("module");
  const std::string name = description.at("function");
  must(hipModuleLoad(&module, file.c_str()), file);
  const KernelInfo& kernel = find_kernel(*__hipLoadedKernels(), name);
  check_arguments(kernel, description.at("arguments"));
  must(hipModuleGetFunction(&function, module, kernel.symbol.c_str()), name);
  const std::array<unsigned, 3> grid = description.at("grid");
  const std::array<unsigned, 3> block = description.at("block");
  must(
      hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                            description.at("shared_bytes"), nullptr, arguments.pointers(), nullptr),
      fmt::format("the launch of '{}'", name));
}

int run(int argc, char** argv) {
  const bool saves = argc == 4 && std::strcmp(argv[2], "--save") == 0;
  if (argc != 2 && !saves) {
    throw usage_error("usage: swizzleperf-launch DESCRIPTION.json [--save DIRECTORY]");
  }
  const json description = json::parse(read_file(argv[1]));
  try {
    Arguments arguments(description.at("arguments"));
    if (saves) {
      write_file(std::filesystem::path(argv[3]) / "launch.json", description.dump());
      save(arguments.arrays(), argv[3], ".before");
    }
    launch(description, arguments);
    if (saves) save(arguments.arrays(), argv[3], ".after");
  } catch (const Error& error) {
    throw Error(error.exit(),
                fmt::format("{}: {}", description.at("spec").get<std::string>(), error.what()));
  }
  return 0;
}

}  // namespace
}  // namespace swizzleperf::vgpu

int main(int argc, char** argv) {
  try {
    return swizzleperf::vgpu::run(argc, argv);
  } catch (const std::exception& error) {
    __hipEnd(error.what());
  }
}
