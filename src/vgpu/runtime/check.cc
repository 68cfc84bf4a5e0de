// The blocks run one after the other in dispatch order on one thread. So what is reported is the
// same on every machine and in every run, and blocks that wait for earlier ones find them done.
//
// That same order hides waiting: a look-back scan never spins here, since what it waits for is
// always there. So a copy of the process is set aside before the launch, and a block that reads
// another one's bytes is run once more in it, alone: if it does not end, it waits.
#include "vgpu/runtime/check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <set>

#include "base/fd.h"
#include "base/files.h"
#include "check/findings_json.h"
#include "check/watch.h"
#include "vgpu/runtime/jobs.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

// ---- progress ----------------------------------------------------------------------------------

/// Progress that another process reads from a file while we count.
class Counter {
 public:
  Counter(const std::filesystem::path& file, std::uint64_t blocks) {
    const Fd fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
    void* const place =
        mmap(nullptr, sizeof(CheckProgress), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (place == MAP_FAILED) throw input_error("cannot map the file for the check's progress");
    progress_ = static_cast<volatile CheckProgress*>(place);
    progress_->blocks = blocks;
  }
  ~Counter() { munmap(const_cast<CheckProgress*>(progress_), sizeof *progress_); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  void increment() { progress_->done = progress_->done + 1; }

 private:
  volatile CheckProgress* progress_;
};

// ---- from lanes to ranges ----------------------------------------------------------------------

/// Hands accesses to the watch, with the lines of the source numbered.
class Observer final : public GridObserver {
 public:
  Observer(LaunchWatch& watch, Counter& progress) : watch_(watch), progress_(progress) {}

  void turn(std::uint64_t block) override { watch_.turn(block); }
  void ended() override {
    watch_.end();
    progress_.increment();
  }

  void access(const Access& access) override {
    sort_lanes(access.mask, access.addresses, sorted_);
    ranges_.clear();
    for (const std::uint64_t address : sorted_) {
      if (!ranges_.empty() && address <= ranges_.back().end) {
        ranges_.back().end = std::max(ranges_.back().end, address + access.bytes);
      } else {
        ranges_.push_back({address, address + access.bytes});
      }
    }
    watch_.access({.kind = access.kind,
                   .atomic = access.atomic,
                   .returns = access.returns,
                   .line = number_of(access.file, access.line),
                   .ranges = ranges_});
  }

  [[nodiscard]] const std::vector<SourceLine>& lines() const { return lines_; }

 private:
  std::uint32_t number_of(std::string_view file, std::uint32_t line) {
    if (line == 0) return 0;
    // Files are few and named by the same characters: the address tells them apart.
    const auto [known, fresh] =
        numbers_.try_emplace({file.data(), line}, static_cast<std::uint32_t>(lines_.size()));
    if (fresh) lines_.push_back({std::string(file), line});
    return known->second;
  }

  LaunchWatch& watch_;
  Counter& progress_;
  std::vector<std::uint64_t> sorted_;
  std::vector<Range> ranges_;
  std::vector<SourceLine> lines_ = {SourceLine{}};
  std::map<std::pair<const char*, std::uint32_t>, std::uint32_t> numbers_;
};

// ---- does a block wait? ------------------------------------------------------------------------

/// Ends a block that makes more accesses than it could if it did not wait.
class Patience final : public AccessObserver {
 public:
  struct Exhausted {};
  explicit Patience(std::uint64_t accesses) : left_(accesses) {}
  void access(const Access& /*access*/) override {
    if (left_-- == 0) throw Exhausted{};
  }

 private:
  std::uint64_t left_;
};

/// This process as it is before the launch.
class Before {
 public:
  Before(const Kernel& kernel, const Launch& launch) : kernel_(kernel), launch_(launch) {
    int ask[2];
    int answer[2];
    if (pipe2(ask, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0)
      throw input_error("cannot open a pipe to check the launch");
    Fd ask_read(ask[0]);
    Fd answer_write(answer[1]);
    ask_ = Fd(ask[1]);
    answer_ = Fd(answer[0]);
    process_ = fork();
    if (process_ < 0) throw input_error("cannot fork to check the launch");
    if (process_ == 0) {
      ask_.reset();
      serve(ask_read, answer_write);
    }
  }
  ~Before() {
    ask_.reset();
    waitpid(process_, nullptr, 0);
  }
  Before(const Before&) = delete;
  Before& operator=(const Before&) = delete;

  /// Does the block, alone, make more than `accesses`? Nothing if it cannot run at all.
  std::optional<bool> waits(std::uint64_t block, std::uint64_t accesses) {
    const Question question = {block, accesses};
    char answer = kFaulted;
    if (!write_all(ask_, {reinterpret_cast<const char*>(&question), sizeof question}) ||
        read_some(answer_, &answer, 1) != 1 || answer == kFaulted) {
      return std::nullopt;
    }
    return answer == kWaited;
  }

 private:
  struct Question {
    std::uint64_t block;
    std::uint64_t accesses;
  };
  static constexpr char kEnded = 0;
  static constexpr char kWaited = 1;
  static constexpr char kFaulted = 2;

  [[noreturn]] void serve(const Fd& questions, const Fd& answers) const {
    Question question{};
    char* const bytes = reinterpret_cast<char*>(&question);
    while (read_some(questions, bytes, sizeof question) == sizeof question) {
      const pid_t child = fork();
      if (child == 0) _exit(run_alone(question));
      int status = 0;
      const bool exited = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
      const char answer = exited ? static_cast<char>(WEXITSTATUS(status)) : kFaulted;
      if (!write_all(answers, {&answer, 1})) break;
    }
    _exit(0);
  }

  [[nodiscard]] char run_alone(const Question& question) const {
    Patience patience(question.accesses);
    try {
      kernel_.module->watch_block(*kernel_.info, launch_, unlinear(question.block, launch_.grid),
                                  state().heap.memory(), patience);
    } catch (const Patience::Exhausted&) {
      return kWaited;
    } catch (const WaitsForEver&) {
      return kWaited;
    } catch (const Error&) {
      return kFaulted;
    }
    return kEnded;
  }

  const Kernel& kernel_;
  const Launch& launch_;
  Fd ask_;
  Fd answer_;
  pid_t process_ = -1;
};

/// Tries the first few readers. True if one of them waits.
bool try_alone(Before& before, std::uint64_t longest_block, std::vector<Meeting>& meetings) {
  constexpr std::size_t kTried = 3;
  const std::uint64_t plenty = 4 * longest_block + 10000;
  std::set<std::uint64_t> tried;
  bool any = false;
  for (Meeting& meeting : meetings) {
    if (tried.contains(meeting.reader)) continue;
    if (tried.size() == kTried) break;
    tried.insert(meeting.reader);
    meeting.waits = before.waits(meeting.reader, plenty);
    any |= meeting.waits.value_or(false);
  }
  return any;
}

void add(Meetings& to, Meetings& from) {
  to.blocks += from.blocks;
  to.pairs += from.pairs;
  to.bytes += from.bytes;
  to.examples.insert(to.examples.end(), from.examples.begin(), from.examples.end());
  from = {};
}

}  // namespace

LaunchFindings check_launch(const Request& request, const Kernel& kernel, const Launch& launch) {
  const auto start = std::chrono::steady_clock::now();
  Before before(kernel, launch);
  Counter progress(request.progress_file, launch.grid.count());
  LaunchWatch watch(/*values=*/true);
  Observer observer(watch, progress);
  kernel.module->watch_grid(*kernel.info, launch, state().heap.memory(), observer);
  LaunchFindings findings;
  findings.kernel = kernel.info->name;
  findings.grid = launch.grid;
  findings.block = launch.block;
  findings.buffers = buffers_of(kernel, launch);
  findings.arguments = pointer_arguments(kernel, launch);
  // Neighbouring allocations may share a buffer.
  for (PointerArgument& argument : findings.arguments) {
    const auto behind = std::upper_bound(
        findings.buffers.begin(), findings.buffers.end(), argument.address,
        [](std::uint64_t address, const Buffer& buffer) { return address < buffer.base; });
    argument.buffer = static_cast<std::uint32_t>(behind - findings.buffers.begin() - 1);
  }
  watch.finish(observer.lines(), findings);
  try_alone(before, watch.longest_block(), findings.communication.examples);
  if (try_alone(before, watch.longest_block(), findings.ordered.examples))
    add(findings.communication, findings.ordered);
  write_file(request.written_file, written_bytes(findings.written));
  findings.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return findings;
}

}  // namespace swizzleperf::vgpu::runtime
