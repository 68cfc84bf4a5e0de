// A person as a proposer: the question lies in a file, the run ends, and goes on when it is
// resumed.
//
// Not waiting is the point. A person who asks a chat window, or an agent that works on files, takes
// minutes or a day; a process that polls for the answer would read half-written ones, hold the run
// directory meanwhile and die with the terminal. A run costs seconds to take up again.
#include <fmt/format.h>

#include "base/files.h"
#include "propose/proposer.h"
#include "propose/reply.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

class Manual : public Proposer {
 public:
  [[nodiscard]] std::string name() const override { return "manual"; }

  Answer ask(const Question& question) override {
    const std::string files = question.files.string();
    for (const char* ending : {".reply.json", ".reply.txt", ".reply.md"}) {
      const fs::path file = files + ending;
      if (!fs::is_regular_file(file)) continue;
      if (fs::file_size(file) > kMostReplyBytes) {
        return {
            "", fmt::format("{} has more than {} bytes", file.string(), kMostReplyBytes), {}, ""};
      }
      return {read_file(file), "", {}, ""};
    }
    throw ProposerEnds(
        ProposerEnds::Why::kWaiting,
        fmt::format("waiting for a reply to {0}.txt (as JSON: {0}.request.json): write "
                    "it to {0}.reply.txt and go on with --resume",
                    files));
  }
};

}  // namespace

std::unique_ptr<Proposer> manual_proposer() { return std::make_unique<Manual>(); }

}  // namespace swizzleperf
