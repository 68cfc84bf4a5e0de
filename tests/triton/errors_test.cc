// Each kind of mistake in a Triton launch is one sentence and exit code 3, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/subprocess.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kKernel = R"(import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x + 1


@triton.jit
def add(x_ptr, n, amount, BLOCK: tl.constexpr, KIND: tl.constexpr = "plain"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == "twice":
        amount = 2 * amount
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, helper(x) + amount, mask=i < n)
)";

constexpr const char* kSpec = R"toml(kernel = "add.py"
function = "add"
grid = "cdiv(n, BLOCK)"

[constexprs]
BLOCK = 128

[[arguments]]
name = "x_ptr"
dtype = "float32"
shape = "n"

[[arguments]]
name = "n"
value = 1000

[[arguments]]
name = "amount"
value = 2.0
)toml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class TritonMistakes : public testing::Test {
 protected:
  ChildResult trace(const std::string& spec, const std::string& kernel,
                    const std::map<std::string, std::string>& environment = {}) {
    write_file(scratch.path() / "add.py", kernel);
    write_file(scratch.path() / "add.toml", spec);
    ChildSpec child;
    child.argv = {fs::read_symlink("/proc/self/exe").parent_path() / "swizzleperf", "trace",
                  "add.toml"};
    child.directory = scratch.path();
    child.environment = environment;
    return run_child(child);
  }

  std::string fault(const std::string& spec, const std::string& kernel = kKernel,
                    const std::map<std::string, std::string>& environment = {}) {
    const ChildResult result = trace(spec, kernel, environment);
    EXPECT_EQ(result.exit_status, 3) << result.out << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  }

  ScratchDirectory scratch;
};

TEST_F(TritonMistakes, NoneIsNoMistake) {
  const ChildResult result = trace(kSpec, kKernel);
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST_F(TritonMistakes, InTheSpec) {
  const std::string spec = kSpec;
  EXPECT_THAT(
      fault(replaced(spec, "\"add\"", "\"sub\"")),
      HasSubstr("add.toml:2: add.py has no @triton.jit function 'sub'; it has: add, helper"));
  EXPECT_THAT(
      fault(replaced(spec, "name = \"amount\"", "name = \"amonut\"")),
      HasSubstr(
          "add.toml:17: add has no parameter 'amonut'; it has: x_ptr, n, amount, BLOCK, KIND"));
  EXPECT_THAT(fault(spec.substr(0, spec.find("\n[[arguments]]\nname = \"amount\""))),
              HasSubstr("add.toml: parameter 'amount' of add is missing: give it under arguments"));
  EXPECT_THAT(fault(replaced(spec, "BLOCK = 128", "KIND = { text = \"twice\" }")),
              HasSubstr("parameter 'BLOCK' of add is missing: give it under constexprs"));
  EXPECT_THAT(fault(replaced(spec, "value = 2.0", "dtype = \"int64\"\nvalue = 2")),
              HasSubstr("add.toml:17: value 'amount' is passed as int32 by Triton, not as int64"));
  EXPECT_THAT(fault(replaced(spec, "cdiv(n, BLOCK)", "cdiv(n, BLOCKS)")),
              HasSubstr("add.toml:3: in the expression \"cdiv(n, BLOCKS)\": there is no 'BLOCKS'"));
  EXPECT_THAT(fault(replaced(spec, "grid =", "block = 64\ngrid =")),
              HasSubstr("add.toml:3: 'block' is decided by Triton's compiler"));
  EXPECT_THAT(fault(replaced(spec, "BLOCK = 128", "BLOCK = 128\nMORE = 1")),
              HasSubstr("add.toml:7: add has no parameter 'MORE'"));
}

TEST_F(TritonMistakes, AGridThatIsOneTileShortIsFoundByCheck) {
  const std::string whole = replaced(kSpec, "shape = \"n\"", "shape = \"n\"\noutput = true");
  write_file(scratch.path() / "add.py", kKernel);
  write_file(scratch.path() / "whole.toml", whole);
  write_file(scratch.path() / "short.toml", replaced(whole, "cdiv(n, BLOCK)", "n // BLOCK"));
  const auto check = [&](const char* spec) {
    ChildSpec child;
    child.argv = {fs::read_symlink("/proc/self/exe").parent_path() / "swizzleperf", "check", spec};
    child.directory = scratch.path();
    return run_child(child);
  };
  EXPECT_EQ(check("whole.toml").exit_status, 0) << check("whole.toml").out;
  const ChildResult found = check("short.toml");
  EXPECT_EQ(found.exit_status, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("x_ptr"));
}

TEST_F(TritonMistakes, InTheKernel) {
  const std::string kernel = kKernel;
  EXPECT_THAT(
      fault(kSpec, replaced(kernel, "mask=i < n)\n    tl.store", "mask=j < n)\n    tl.store")),
      testing::ContainsRegex("add.py:15: .*j"));
  EXPECT_THAT(
      fault(kSpec, replaced(kernel, "return x + 1", "return x + tl.zeros((3, 3), tl.float32)")),
      testing::ContainsRegex("add.py:7: "));
  EXPECT_THAT(fault(kSpec, replaced(kernel, "def add(", "def add((")), HasSubstr("add.py:11: "));
  EXPECT_THAT(fault(kSpec, "import triton\nimport no_such_module\n"),
              HasSubstr("add.py:2: No module named 'no_such_module'"));
  EXPECT_THAT(fault(kSpec, "import triton\n\nraise ValueError('oops')\n"),
              HasSubstr("add.py:3: ValueError: oops"));
}

TEST_F(TritonMistakes, InTheEnvironment) {
  // An interpreter that has no Triton.
  write_file(scratch.path() / "python", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");
  fs::permissions(scratch.path() / "python", fs::perms::owner_all);
  const std::string named = (scratch.path() / "python").string();
  EXPECT_THAT(fault(kSpec, kKernel, {{"SWIZZLEPERF_PYTHON", named}}),
              testing::AllOf(HasSubstr("Triton is not installed"), HasSubstr("./setup triton")));
  EXPECT_THAT(fault(kSpec, kKernel, {{"SWIZZLEPERF_PYTHON", "/no/such/python"}}),
              HasSubstr("/no/such/python"));
}

}  // namespace
}  // namespace swizzleperf
