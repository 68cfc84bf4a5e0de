// A program as a proposer: one process a question, JSON in, text out.
//
// Whatever it is (a script, an agent, a wrapper around somebody's own model server), it is started
// from an argv without a shell, its group ends with it, and a reply that does not come in time is
// an attempt like one that cannot be read.
#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/subprocess.h"
#include "propose/proposer.h"
#include "propose/reply.h"

namespace swizzleperf {
namespace {

class Command : public Proposer {
 public:
  Command(const CommandSettings& settings, Purse purse)
      : settings_(settings), purse_(std::move(purse)) {
    purse_.spent.usage_unknown = true;
  }

  [[nodiscard]] std::string name() const override { return "command"; }

  Answer ask(const Question& question) override {
    check_budget();
    ++purse_.spent.calls;
    tell();
    ChildSpec spec;
    spec.argv = settings_.argv;
    spec.input = question.request.dump() + "\n";
    spec.time_limit_s = std::min(settings_.time_limit_s, seconds_left());
    spec.capture_bytes = kMostReplyBytes + 1;
    const ChildResult child = run(spec);
    purse_.spent.seconds += child.seconds;
    tell();
    if (!child.err.empty()) {
      write_file(question.files.string() + ".stderr.txt", child.err);
    }
    return {child.out, problem_of(child), {}, ""};
  }

 private:
  [[nodiscard]] double seconds_left() const {
    return purse_.limits.seconds ? std::max(0.0, *purse_.limits.seconds - purse_.spent.seconds)
                                 : settings_.time_limit_s;
  }

  void check_budget() const {
    if (purse_.limits.calls && purse_.spent.calls >= *purse_.limits.calls) {
      throw ProposerEnds(ProposerEnds::Why::kBudget, "the limit of --max-calls is reached");
    }
    if (seconds_left() <= 0) {
      throw ProposerEnds(ProposerEnds::Why::kBudget, "the limit of --max-time is reached");
    }
  }

  void tell() const {
    if (purse_.on_spent) purse_.on_spent(purse_.spent);
  }

  static ChildResult run(const ChildSpec& spec) {
    try {
      return run_child(spec);
    } catch (const Error& error) {  // not there, not executable: no second try will help
      throw ProposerEnds(ProposerEnds::Why::kFailed, error.what());
    }
  }

  [[nodiscard]] std::string problem_of(const ChildResult& child) const {
    const std::string& name = settings_.argv.front();
    if (child.timed_out) {
      return fmt::format("{} did not answer within {:.0f} s and was ended", name,
                         std::min(settings_.time_limit_s, child.seconds));
    }
    if (child.signal != 0) return fmt::format("{} was ended by signal {}", name, child.signal);
    if (child.exit_status != 0) {
      return fmt::format("{} ended with exit status {}", name, child.exit_status);
    }
    if (child.out.empty()) return fmt::format("{} wrote nothing", name);
    if (child.out.size() > kMostReplyBytes) {
      return fmt::format("{} wrote more than {} bytes", name, kMostReplyBytes);
    }
    return "";
  }

  CommandSettings settings_;
  Purse purse_;
};

}  // namespace

std::unique_ptr<Proposer> command_proposer(const CommandSettings& settings, Purse purse) {
  return std::make_unique<Command>(settings, std::move(purse));
}

}  // namespace swizzleperf
