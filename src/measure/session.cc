// See session.h. This is the side that asks; measure/probe/ is the side that answers.
//
// The program is run by run_child in a thread of its own, which owns its output, its limits and its
// end; here we only wait: for the socket, for the program's end, or for the time to be up,
// whichever comes first. So no way in which a program fails makes us wait longer than we said, and
// each has its own sentence.
//
// A program may be a script or a launcher, and then every process of it says hello. All are
// listened to; the first that reaches the launch is the one, and the others are let go.
#include "measure/session.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/files.h"
#include "measure/kernel_names.h"
#include "measure/probe/channel.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using probe::Channel;
using probe::Message;
using Clock = std::chrono::steady_clock;

constexpr double kEndSeconds = 5;  // between a closed connection and the end of the program

const char* library_name(Language language) {
  return language == Language::kHip ? "libswizzleperf_probe_hip.so"
                                    : "libswizzleperf_probe_cuda.so";
}

/// Beside the executable in a build folder, or where it is installed.
std::optional<fs::path> find_library(Language language) {
  std::error_code ignored;
  const fs::path home = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* place : {".", "../lib", "../lib64"}) {
    fs::path candidate = (home / place / library_name(language)).lexically_normal();
    if (fs::exists(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e9)));
}

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

Fd make_event() {
  Fd event(::eventfd(0, EFD_CLOEXEC));
  if (!event.valid()) throw input_error("cannot make an event descriptor: too many are open");
  return event;
}

void signal_event(const Fd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

Fd listen_at(const fs::path& path) {
  const auto address = probe::address_of(path.native());
  if (!address)
    throw input_error(
        fmt::format("{} is too long a name for a socket: set TMPDIR to a folder with a shorter one",
                    path.string()));
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::listen(socket.get(), 64) != 0)
    throw input_error(fmt::format("cannot open a socket at {}: {}", path.string(),
                                  std::generic_category().message(errno)));
  return socket;
}

// --- Words --------------------------------------------------------------------------------------

/// "void scale<4>(float*)" is scale<4>.
std::string kernel_name(const std::string& symbol) {
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), std::free);
  std::string name = demangled ? demangled.get() : symbol;
  if (name.starts_with("void ")) name.erase(0, 5);
  return name.substr(0, name.find('(', 1));
}

/// Compilers do not agree on how an anonymous namespace is called, so there the mangled name is
/// matched; without any, the one that people write.
json what_to_wait_for(const Target& target) {
  const bool anonymous = is_in_anonymous_namespace(target.symbol);
  return {{"symbol", anonymous ? "" : target.symbol},
          {"mangled", anonymous},
          {"name", anonymous ? symbol_pattern(target.symbol) : target.kernel},
          {"index", target.index}};
}

std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return std::string(text.substr(text.find_last_of('\n') + 1));
}

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string how_it_ended(const ChildResult& result, const ChildSpec& spec) {
  constexpr int kShellSignal = 128;  // what a shell or a sandbox adds to the signal of its child
  if (result.over_memory)
    return fmt::format("it was stopped since it held more than {} MB of the host's memory",
                       spec.resident_limit_bytes >> 20);
  if (result.timed_out) return fmt::format("it was stopped after {} s", spec.time_limit_s);
  if (result.signal) return fmt::format("it was ended by {}", signal_name(result.signal));
  if (result.exit_status > kShellSignal && ::sigabbrev_np(result.exit_status - kShellSignal))
    return fmt::format("it was ended by {} (exit status {})",
                       signal_name(result.exit_status - kShellSignal), result.exit_status);
  return fmt::format("it ended with exit status {}", result.exit_status);
}

// --- Answers ------------------------------------------------------------------------------------

Dim3 to_dim3(const json& j) { return {j.at(0), j.at(1), j.at(2)}; }

Held to_held(const json& j) {
  Held held{.device = j.at("device"),
            .grid = to_dim3(j.at("grid")),
            .block = to_dim3(j.at("block")),
            .dynamic_lds_bytes = j.at("dynamic_lds_bytes"),
            .allocations = {}};
  for (const json& bytes : j.at("allocations")) held.allocations.push_back({bytes});
  return held;
}

const char* to_string(Start start) {
  switch (start) {
    case Start::kAsIs:
      return "as it is";
    case Start::kAsLeft:
      return "as left";
    case Start::kPoisoned:
      return "poisoned";
    case Start::kFresh:
      return "fresh";
  }
  return "";
}

/// Runs `read`; what an answer of another shape throws becomes a Refusal.
template <class Read>
auto understood(const Read& read) {
  try {
    return read();
  } catch (const Refusal&) {
    throw;
  } catch (const std::exception& fault) {
    throw Refusal(fmt::format("its library's answer was not understood: {}", fault.what()));
  }
}

}  // namespace

// --- The session --------------------------------------------------------------------------------

struct Session::Impl {
  Impl(ChildSpec child, Language child_language, Target wanted, double command_seconds)
      : spec(std::move(child)),
        language(child_language),
        target(std::move(wanted)),
        command_s(command_seconds) {}
  ~Impl() { kill(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  ChildSpec spec;
  Language language;
  Target target;
  double command_s;
  Held held;

  ScratchDirectory scratch;
  Fd listener;
  Fd cancel = make_event();
  Fd ended = make_event();
  std::thread runner;
  ChildResult result;       ///< once the runner is joined
  std::string start_fault;  ///< likewise: why there was no child

  std::list<Channel> processes;  ///< that said hello
  Channel channel;               ///< to the one that is held

  // What was told on the way to the launch.
  bool connected = false;
  bool captured = false;
  std::uint64_t wanted_launches = 0;
  std::vector<std::pair<std::string, std::uint64_t>> launches;  ///< by kernel, the first first

  void start();
  void reach(double seconds);
  /// What `read` makes of the answer. `deed` is what the command does, for sentences: "the launch".
  /// After a Refusal the program is gone.
  template <class Read>
  auto ask(const json& command, const std::string& deed, double seconds, const Read& read) {
    try {
      const Message reply = exchange(command, deed, seconds);
      return understood([&] { return read(reply); });
    } catch (const Refusal&) {
      channel.close();
      kill();
      throw;
    }
  }
  ChildResult join();
  void kill();

 private:
  Message exchange(const json& command, const std::string& deed, double seconds);
  void accept();
  bool listen_to(Channel& process);
  void hear(Channel& process, const Message& message);
  void read_processes(const std::vector<pollfd>& watched);
  [[nodiscard]] std::string launched() const;
  [[nodiscard]] std::string wanted_launch() const;
  [[nodiscard]] std::string why_not_reached() const;
  [[noreturn]] void fail_in(const std::string& deed);
};

void Session::Impl::start() {
  const auto file = find_library(language);
  if (!file) throw Refusal(missing_probe(language));
  const fs::path socket = scratch.path() / "probe";
  listener = listen_at(socket);
  spec.environment[probe::kSocketVariable] = socket.string();
  const std::string library = file->string();
  if (language == Language::kCuda) {
    spec.environment["CUDA_INJECTION64_PATH"] = library;
  } else {
    const char* const inherited = std::getenv("LD_PRELOAD");
    std::string& preloaded =
        spec.environment.try_emplace("LD_PRELOAD", inherited ? inherited : "").first->second;
    preloaded = preloaded.empty() ? library : library + ":" + preloaded;
  }
  spec.cancel_fd = cancel.get();
  runner = std::thread([this] {
    try {
      result = run_child(spec);
    } catch (const std::exception& fault) {
      start_fault = fault.what();
    }
    signal_event(ended);
  });
}

ChildResult Session::Impl::join() {
  if (runner.joinable()) runner.join();
  return result;
}

void Session::Impl::kill() {
  signal_event(cancel);
  join();
}

void Session::Impl::accept() {
  Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.valid()) processes.emplace_back(std::move(socket));
}

void Session::Impl::hear(Channel& process, const Message& message) {
  const json& line = message.line;
  if (line.contains("hello")) {
    if (line.at("hello") != probe::kVersion)
      throw Refusal(fmt::format("{} is of another build than this executable: build both again",
                                library_name(language)));
    connected = true;
    process.send({{"wait", what_to_wait_for(target)}});
  } else if (line.contains("launched")) {
    const std::string name = kernel_name(line.at("launched"));
    wanted_launches += line.value("wanted", false) ? 1 : 0;
    const auto known = std::find_if(launches.begin(), launches.end(),
                                    [&](const auto& l) { return l.first == name; });
    if (known == launches.end())
      launches.emplace_back(name, 1);
    else
      ++known->second;
  } else if (line.contains("captured")) {
    captured = true;
  } else if (line.contains("failed")) {
    throw Refusal(line.at("failed"));
  } else if (line.contains("error")) {
    throw Refusal(line.at("error"));
  } else if (line.contains("held")) {
    held = to_held(line.at("held"));
    channel = std::move(process);
  }
}

/// Reads what a process has sent; false when it will send no more.
bool Session::Impl::listen_to(Channel& process) {
  const bool open = process.fill();
  while (process.valid()) {
    const auto message = process.take();
    if (!message) break;
    hear(process, *message);
  }
  return open && process.valid();
}

void Session::Impl::reach(double seconds) {
  const Clock::time_point deadline = after(seconds);
  bool over = false;
  while (!channel.valid()) {
    if (Clock::now() >= deadline) {
      kill();
      throw Refusal(fmt::format("it did not come to {} within {} s; {}", wanted_launch(), seconds,
                                launched()));
    }
    // What a program said before it ended is read before its end is looked at.
    const bool silent = over && processes.empty();
    std::vector<pollfd> watched{{over ? -1 : ended.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
    for (const Channel& process : processes) watched.push_back({process.fd(), POLLIN, 0});
    const int ready =
        ::poll(watched.data(), watched.size(), silent ? 0 : milliseconds_until(deadline));
    if (ready <= 0 && silent) {
      join();
      throw Refusal(why_not_reached());
    }
    if (ready <= 0) continue;
    read_processes(watched);
    if (watched[1].revents) accept();
    if (watched[0].revents) over = true;
  }
  // The others find nobody, and go on.
  processes.clear();
  listener.reset();
}

void Session::Impl::read_processes(const std::vector<pollfd>& watched) {
  std::size_t i = 2;
  for (auto process = processes.begin(); process != processes.end() && !channel.valid(); ++i) {
    const bool open = !watched[i].revents || listen_to(*process);
    process = open ? std::next(process) : processes.erase(process);
  }
}

std::string Session::Impl::launched() const {
  if (launches.empty()) return "it launched no kernel";
  constexpr std::size_t kMostNamed = 6;
  std::vector<std::string> parts;
  for (const auto& [name, count] : launches) {
    if (parts.size() == kMostNamed) break;
    parts.push_back(fmt::format("{} {}", name, times(count)));
  }
  if (launches.size() > kMostNamed)
    parts.push_back(fmt::format("{} other kernels", launches.size() - kMostNamed));
  const std::string last = parts.back();
  parts.pop_back();
  return parts.empty() ? fmt::format("it launched {}", last)
                       : fmt::format("it launched {} and {}", fmt::join(parts, ", "), last);
}

std::string Session::Impl::wanted_launch() const {
  const std::string name = target.kernel.empty() ? kernel_name(target.symbol) : target.kernel;
  return target.index == 0 ? fmt::format("the launch of {}", name)
                           : fmt::format("launch {} of {} (they count from 0)", target.index, name);
}

std::string Session::Impl::why_not_reached() const {
  if (!start_fault.empty()) {
    constexpr std::string_view kSaid = "cannot start ";
    const std::size_t said = start_fault.starts_with(kSaid) ? kSaid.size() : 0;
    return fmt::format("it cannot be started: {}", start_fault.substr(said));
  }
  const std::string name = target.kernel.empty() ? kernel_name(target.symbol) : target.kernel;
  const std::string ending = how_it_ended(result, spec);
  const std::string line = last_line(result.err);
  if (!result.ok())
    return fmt::format("{} before {}{}{}", ending, wanted_launch(), line.empty() ? "" : ": ", line);
  if (!connected)
    return fmt::format(
        "it ended without {} in it, which {}", library_name(language),
        language == Language::kHip
            ? "LD_PRELOAD brings into no static executable and none with special privileges"
            : "the CUDA driver loads at the first call, and for none with special privileges");
  if (captured)
    return fmt::format("it makes {} a part of a graph (stream capture), which cannot be held",
                       name);
  if (wanted_launches > 0)
    return fmt::format("it launched {} {}, so there is no launch {} (they count from 0)", name,
                       times(wanted_launches), target.index);
  return fmt::format("{}{} never {}", launched(), launches.empty() ? "," : ", but", name);
}

/// The connection is closed: the program has ended, or does so now.
void Session::Impl::fail_in(const std::string& deed) {
  pollfd end{ended.get(), POLLIN, 0};
  const bool by_itself = ::poll(&end, 1, static_cast<int>(kEndSeconds * 1000)) > 0;
  kill();
  if (!by_itself) throw Refusal(fmt::format("it closed the connection to us in {}", deed));
  const std::string line = last_line(result.err);
  throw Refusal(fmt::format("{} in {}{}{}", how_it_ended(result, spec), deed,
                            line.empty() ? "" : ": ", line));
}

Message Session::Impl::exchange(const json& command, const std::string& deed, double seconds) {
  if (!channel.valid()) throw Refusal("it is held no longer");
  if (!channel.send(command)) fail_in(deed);
  const Clock::time_point deadline = after(seconds);
  while (true) {
    if (auto message = understood([&] { return channel.take(); })) {
      const auto fault = message->line.find("error");
      if (fault == message->line.end()) return std::move(*message);
      throw Refusal(fmt::format("{} failed: {}", deed,
                                understood([&] { return fault->get<std::string>(); })));
    }
    pollfd ready{channel.fd(), POLLIN, 0};
    const int answered = ::poll(&ready, 1, milliseconds_until(deadline));
    if (answered > 0 && !channel.fill()) fail_in(deed);
    if (answered <= 0 && Clock::now() >= deadline)
      throw Refusal(fmt::format("{} did not end within {} s", deed, seconds));
  }
}

namespace {

MemoryHash to_hash(const Held& held, const std::string& payload) {
  MemoryHash result;
  std::size_t at = 0;
  for (const Allocation& allocation : held.allocations) {
    const std::size_t chunks = (allocation.bytes + kChunkBytes - 1) / kChunkBytes;
    if ((payload.size() - at) / sizeof(std::uint64_t) < chunks)
      throw std::runtime_error("too few hashes");
    std::vector<std::uint64_t> hashes(chunks);
    if (chunks) std::memcpy(hashes.data(), payload.data() + at, chunks * sizeof hashes[0]);
    at += chunks * sizeof hashes[0];
    result.push_back(std::move(hashes));
  }
  return result;
}

}  // namespace

Session::Session(ChildSpec spec, Language language, const Target& target, double reach_s,
                 double command_s)
    : impl_(std::make_unique<Impl>(std::move(spec), language, target, command_s)) {
  impl_->start();
  understood([&] { impl_->reach(reach_s); });
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const Held& Session::held() const { return impl_->held; }
bool Session::alive() const { return impl_->channel.valid(); }

MemoryHash Session::before() {
  return impl_->ask({{"command", "before"}}, "hashing its memory", impl_->command_s,
                    [&](const Message& reply) { return to_hash(held(), reply.payload); });
}

MemoryHash Session::state(Start start, const Written& written, std::uint64_t seed) {
  const json command = {
      {"command", "state"}, {"start", to_string(start)}, {"written", written}, {"seed", seed}};
  return impl_->ask(command, "hashing its memory", impl_->command_s,
                    [&](const Message& reply) { return to_hash(held(), reply.payload); });
}

MemoryHash Session::launch(Start start, const Written& written, std::uint64_t seed) {
  const json command = {
      {"command", "launch"}, {"start", to_string(start)}, {"written", written}, {"seed", seed}};
  return impl_->ask(command, "the launch", impl_->command_s,
                    [&](const Message& reply) { return to_hash(held(), reply.payload); });
}

std::string Session::read(std::uint32_t allocation, std::uint64_t offset, std::uint64_t bytes) {
  const json command = {
      {"command", "read"}, {"allocation", allocation}, {"offset", offset}, {"bytes", bytes}};
  return impl_->ask(command, "reading its memory", impl_->command_s, [&](const Message& reply) {
    if (reply.payload.size() != bytes) throw std::runtime_error("another number of bytes");
    return reply.payload;
  });
}

std::vector<double> Session::time(int warm_up, int repetitions, bool restore, bool flush,
                                  const Written& written) {
  const json command = {{"command", "time"},  {"warm_up", warm_up}, {"repetitions", repetitions},
                        {"restore", restore}, {"flush", flush},     {"written", written}};
  const std::string deed = fmt::format("timing {} launches", warm_up + repetitions);
  return impl_->ask(command, deed, impl_->command_s, [&](const Message& reply) {
    std::vector<double> milliseconds = reply.line.at("milliseconds");
    if (milliseconds.size() != static_cast<std::size_t>(repetitions))
      throw std::runtime_error("another number of times");
    return milliseconds;
  });
}

Session::Burst Session::burst(double seconds) {
  const json command = {{"command", "burst"}, {"seconds", seconds}};
  return impl_->ask(command, "launching for a reading of energy", impl_->command_s + 2 * seconds,
                    [](const Message& reply) {
                      return Burst{.launches = reply.line.at("launches"),
                                   .seconds = reply.line.at("seconds")};
                    });
}

ChildResult Session::finish() {
  impl_->ask({{"command", "finish"}}, "restoring its memory", impl_->command_s,
             [](const Message&) { return true; });
  impl_->channel.close();
  return impl_->join();
}

Written differing(const MemoryHash& a, const MemoryHash& b) {
  if (a.size() != b.size())
    throw Refusal(fmt::format("it has {} allocations where the other has {}", b.size(), a.size()));
  Written result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size())
      throw Refusal(fmt::format("its allocation {} is of another size than the other's", i));
    if (a[i] != b[i]) result.push_back(static_cast<std::uint32_t>(i));
  }
  return result;
}

std::string missing_probe(Language language) {
  if (find_library(language)) return "";
  return fmt::format("{} is not beside swizzleperf: build it where {} is installed",
                     library_name(language),
                     language == Language::kHip ? "HIP (its headers)" : "the CUDA toolkit");
}

}  // namespace swizzleperf::measure
