// See study.h.
#include "study/study.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>

#include "base/files.h"
#include "base/parallel.h"
#include "base/words.h"
#include "report/metrics.h"
#include "report/progress.h"

namespace swizzleperf::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// --- Names --------------------------------------------------------------------------------------

/// What any file system takes.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_';
    if (keep) out += c;
    if (!keep && !out.ends_with('-')) out += '-';
  }
  constexpr std::size_t kLongest = 40;
  return out.substr(0, kLongest);
}

/// The number makes it unique; the rest is for people.
std::string directory_name(const StudyFile& study, const Configuration& c, std::size_t number) {
  std::string name = fmt::format("{:04}-{}", number, plain(study.programs[c.program].name));
  if (!c.size.empty()) name += "-" + plain(c.size);
  name += "-" + plain(fs::path(c.machine).stem().string());
  if (c.context) name += fmt::format("-{}", context_name(*c.context));
  name += "-" + plain(study.proposers[c.proposer].name);
  if (!c.model.empty()) name += "-" + plain(c.model);
  return name + fmt::format("-{}", c.trial);
}

std::string words_of(const StudyFile& study, const Configuration& c) {
  std::string words = study.programs[c.program].name;
  if (!c.size.empty()) words += " " + c.size;
  if (c.context) words += fmt::format(", {}", context_name(*c.context));
  return words + ", " + study.proposers[c.proposer].name +
         (c.model.empty() ? "" : " (" + c.model + ")");
}

// --- The directory ------------------------------------------------------------------------------

/// Ours for as long as the descriptor is open.
Fd open_directory(const StudyRequest& r) {
  const fs::path file = r.directory / "study.json";
  const json now = {{"schema_version", kSchemaVersion}, {"text", r.study.text}};
  if (!r.resume) {
    if (fs::exists(file)) {
      throw usage_error(fmt::format(
          "{} already holds a study: continue it with --resume, or name another directory",
          r.directory.string()));
    }
    make_directories(r.directory / "runs");
    Fd lock = lock_directory(r.directory);
    write_file(file, now.dump(1) + "\n");
    return lock;
  }
  Fd lock = lock_directory(r.directory);
  if (json::parse(read_file(file), nullptr, false) != now) {
    throw usage_error(fmt::format(
        "{}: the study was started from another study file, or from this one before it was "
        "changed; start a new directory",
        r.directory.string()));
  }
  return lock;
}

OptimizeRequest request_of(const StudyRequest& r, const Configuration& c,
                           const fs::path& directory) {
  const Program& p = r.study.programs[c.program];
  OptimizeRequest request;
  request.program.program = p.program;
  request.program.arguments = split_words(c.size);
  request.program.compile_options = p.compile_options;
  request.program.kernel_regex = p.kernel;
  request.program.launch_index = p.launch;
  request.program.threads = 1;
  set_target(request.program, load_machine(c.machine));
  request.machine = c.machine;
  request.objective = r.study.objective;
  request.proposers = r.study.proposers[c.proposer].settings;
  if (c.context) request.proposers.context = *c.context;
  if (!c.model.empty()) request.proposers.endpoint.model = c.model;
  request.seed = r.study.seed + c.trial - 1;
  request.threads = 1;
  request.run_directory = directory;
  request.resume = fs::exists(directory / "config.json");
  request.quiet = true;
  return request;
}

json result_in(const fs::path& directory) {
  const fs::path file = directory / "result.json";
  if (!fs::exists(file)) return {};
  json result = json::parse(read_file(file), nullptr, false);
  const bool whole =
      result.is_object() && result.contains("baseline") && result.contains("attempts");
  return whole ? result : json();
}

/// Only what is wrong with this configuration; a signal or a full memory ends the study.
void run_one(const StudyRequest& r, Finished& f) {
  f.result = result_in(f.directory);
  if (!f.result.is_null()) return;
  try {
    optimize(request_of(r, f.configuration, f.directory));
    f.result = result_in(f.directory);
  } catch (const Error& error) {
    f.reason = error.what();
  }
}

}  // namespace

std::vector<Configuration> plan(const StudyFile& study) {
  std::vector<Configuration> all;
  Configuration c;
  const auto trials = [&] {
    for (c.trial = 1; c.trial <= study.trials; ++c.trial) all.push_back(c);
  };
  const auto models = [&](const Asked& asked) {
    for (const std::string& model : asked.models) {
      c.model = model;
      trials();
    }
    c.model.clear();
    if (asked.models.empty()) trials();
  };
  const auto contexts = [&](const Asked& asked) {
    c.context.reset();
    if (!asked.reads_context()) return models(asked);
    for (const ContextKind kind : study.contexts) {
      c.context = kind;
      models(asked);
    }
  };
  for (c.program = 0; c.program < study.programs.size(); ++c.program) {
    for (const std::string& size : study.programs[c.program].sizes) {
      c.size = size;
      for (const std::string& machine : study.machines) {
        c.machine = machine;
        for (c.proposer = 0; c.proposer < study.proposers.size(); ++c.proposer) {
          contexts(study.proposers[c.proposer]);
        }
      }
    }
  }
  return all;
}

std::vector<Finished> run_study(const StudyRequest& request) {
  const Fd lock = open_directory(request);
  std::vector<Finished> all;
  for (const Configuration& c : plan(request.study)) {
    const std::string name = directory_name(request.study, c, all.size() + 1);
    all.push_back({c, request.directory / "runs" / name, {}, ""});
  }
  Progress progress(request.quiet);
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(all.size(), request.threads, [&](std::uint64_t i, unsigned) {
    run_one(request, all[i]);
    const std::lock_guard lock(mutex);
    ++done;
    progress.update(fmt::format("study: {} of {} done, last {}", done, all.size(),
                                words_of(request.study, all[i].configuration)),
                    static_cast<double>(done) / static_cast<double>(all.size()));
  });
  progress.finish(fmt::format("study: {} configurations done", all.size()));
  return all;
}

}  // namespace swizzleperf::study
