// Which launch to record is often not known before the program has run: it may have several
// kernels, and the one with the most traffic is wanted. So at the first launch the process forks.
// The copy goes on through the program without executing anything: of each kernel's first launch it
// traces a few blocks and reports an estimate of the traffic, and it is stopped when it has seen
// every kernel or a time limit has passed. The original waits, chooses, and continues from where it
// stands, so the program's start and its data are paid for once.
//
// The copy works on data that were never computed. That matters only to a program whose launches
// depend on results; such a program needs --kernel.
#include "vgpu/runtime/survey.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <regex>
#include <set>

#include "trace/recorder.h"
#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTimeLimit = std::chrono::seconds(5);
constexpr std::uint64_t kMostAccesses = 1 << 17;  // looked at of a block

/// What the copy reports of a kernel's first launch.
struct Sighting {
  std::uint64_t kernel;  ///< index into Modules::kernels()
  std::uint64_t traffic_bytes;
};

int report_descriptor = -1;  // where sightings go, in the copy

std::string names_of(const std::vector<Kernel>& kernels) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const Kernel& kernel : kernels) names.push_back(kernel.info->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "void ns::scale<4>(float*)" is scale.
std::string_view base_name(std::string_view name) {
  name = name.substr(0, std::min(name.find('<'), name.find('(', name.starts_with('(') ? 1 : 0)));
  const std::size_t before = name.find_last_of(" :");
  return before == std::string_view::npos ? name : name.substr(before + 1);
}

bool is_called(const Kernel& kernel, const std::string& name) {
  return kernel.info->name == name || base_name(kernel.info->name) == name;
}

/// A kernel's name, whole or bare, means that kernel; anything else is a regular expression.
bool matches(const Kernel& kernel) {
  const std::string& asked = state().request.kernel_regex;
  if (asked.empty()) return true;
  const std::vector<Kernel> all = state().modules.kernels();
  const bool named =
      std::any_of(all.begin(), all.end(), [&](const Kernel& k) { return is_called(k, asked); });
  return named ? is_called(kernel, asked) : std::regex_search(kernel.info->name, std::regex(asked));
}

// ---- the copy -----------------------------------------------------------------------------------

std::uint64_t traffic_of(const RawBlock& block, const PatternTable& patterns) {
  std::uint64_t bytes = 0;
  for (const RawEvent& event : block.events) {
    for (const ByteRange& range : patterns.patterns()[event.pattern]) bytes += range.size;
  }
  return bytes;
}

/// A block that faults, since its data were never computed, has done what it did until then.
void run_as_far_as_possible(const Kernel& kernel, const Launch& launch, std::uint64_t block,
                            BlockRecorder& recorder) {
  try {
    // Blocks that depend on each other cannot be run lightly; here they may write, it is a copy.
    const bool ordered = kernel.module->needs_order(*kernel.info, launch, state().heap.memory());
    run_recorded(kernel, launch, unlinear(block, launch.grid),
                 ordered ? Mode::kFunctional : Mode::kAddress, recorder);
  } catch (const Error&) {
    return;
  }
}

/// Mean over the first, middle and last block, times the grid.
std::uint64_t estimate_traffic(const Kernel& kernel, const Launch& launch) {
  const std::uint64_t blocks = launch.grid.count();
  const std::set<std::uint64_t> samples = {0, blocks / 2, blocks - 1};
  std::uint64_t bytes = 0;
  for (const std::uint64_t sample : samples) {
    PatternTable patterns;
    BlockRecorder recorder(patterns);
    // A block that waits for another one would poll its flag for ever.
    recorder.stop_after(kMostAccesses);
    run_as_far_as_possible(kernel, launch, sample, recorder);
    bytes += traffic_of(recorder.finish(), patterns);
  }
  return bytes / samples.size() * blocks;
}

void become_survey(int descriptor) {
  report_descriptor = descriptor;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) _exit(1);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

// ---- the original -------------------------------------------------------------------------------

/// Sightings until the copy ends or, once it launched something, its time is up: behind its
/// launches a program may check results that were never computed for as long as it likes.
std::map<std::uint64_t, std::uint64_t> read_sightings(int descriptor) {
  std::map<std::uint64_t, std::uint64_t> traffic;
  Clock::time_point deadline{};
  for (;;) {
    // The first launch is waited for as long as the program may take at all.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const int wait = traffic.empty() ? -1 : static_cast<int>(std::max<long>(0, left.count()));
    pollfd waiting{descriptor, POLLIN, 0};
    if (poll(&waiting, 1, wait) <= 0) break;
    Sighting sighting{};
    if (read(descriptor, &sighting, sizeof sighting) != sizeof sighting) break;
    if (traffic.empty()) deadline = Clock::now() + kTimeLimit;
    traffic[sighting.kernel] = sighting.traffic_bytes;
  }
  return traffic;
}

std::string choose_from(const std::map<std::uint64_t, std::uint64_t>& traffic) {
  const Request& request = state().request;
  const std::vector<Kernel> all = state().modules.kernels();
  std::vector<Kernel> launched;
  std::vector<Kernel> matching;
  std::uint64_t most = 0;
  std::string chosen;
  for (const auto& [index, bytes] : traffic) {
    launched.push_back(all[index]);
    if (!matches(all[index])) continue;
    matching.push_back(all[index]);
    if (matching.size() > 1 && bytes <= most) continue;
    most = bytes;
    chosen = all[index].info->symbol;
  }
  if (matching.empty()) {
    fail(fmt::format("{} launches no kernel that matches '{}'; it launches: {}", request.program,
                     request.kernel_regex, names_of(launched)));
  }
  if (matching.size() > 1 && !request.kernel_regex.empty()) {
    fail(fmt::format("'{}' matches {} kernels that {} launches: {}; name one of them",
                     request.kernel_regex, matching.size(), request.program, names_of(matching)));
  }
  return chosen;
}

/// Forks the copy. In the original: the kernel to take. In the copy: "".
std::string look_ahead() {
  int ends[2];
  if (pipe(ends) != 0) fail("cannot open a pipe to look at the program's launches");
  const pid_t copy = fork();
  if (copy < 0) fail("cannot fork to look at the program's launches");
  if (copy == 0) {
    close(ends[0]);
    become_survey(ends[1]);
    return "";
  }
  close(ends[1]);
  const std::map<std::uint64_t, std::uint64_t> traffic = read_sightings(ends[0]);
  close(ends[0]);
  kill(copy, SIGKILL);
  waitpid(copy, nullptr, 0);
  return choose_from(traffic);
}

}  // namespace

bool surveying() { return report_descriptor >= 0; }

std::string choose_kernel() {
  const Request& request = state().request;
  const std::vector<Kernel> all = state().modules.kernels();
  std::vector<Kernel> matching;
  std::copy_if(all.begin(), all.end(), std::back_inserter(matching), matches);
  if (matching.empty()) {
    fail(fmt::format("no kernel of {} matches '{}'; it has: {}", request.program,
                     request.kernel_regex, names_of(all)));
  }
  if (matching.size() == 1) return matching[0].info->symbol;
  const bool counts_all = request.launch_index >= 0 && request.kernel_regex.empty();
  return counts_all ? "" : look_ahead();
}

void survey(const Kernel& kernel, const Launch& launch) {
  State& s = state();
  if (++s.launched[kernel.info->symbol] > 1) return;
  const std::vector<Kernel> all = s.modules.kernels();
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Kernel& k) { return k.info == kernel.info; });
  const Sighting sighting{static_cast<std::uint64_t>(known - all.begin()),
                          estimate_traffic(kernel, launch)};
  const bool reported = write(report_descriptor, &sighting, sizeof sighting) == sizeof sighting;
  const bool complete = std::all_of(all.begin(), all.end(), [&](const Kernel& k) {
    return !matches(k) || s.launched.contains(k.info->symbol);
  });
  if (!reported || complete) _exit(0);
}

}  // namespace swizzleperf::vgpu::runtime
