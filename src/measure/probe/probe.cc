// See probe.h.
//
// One lock is taken by whoever tells something, and by the serving thread for as long as it serves:
// so the program's other threads neither allocate nor launch meanwhile. What they copy is not held
// up, which a program that copies into a kernel's inputs while it is about to launch it would have
// to be blamed for itself.
//
// A launch is told by its symbol, one line each, without waiting for an answer. That costs a
// microsecond a launch, before anything is measured, and lets the session say what a program did
// launch however it ended.
//
// The state is never destroyed: programs call us from their own destructors. A process that was
// forked off has the state but not the session.
#include "measure/probe/probe.h"

#include <cxxabi.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <regex>

#include "measure/probe/channel.h"
#include "measure/probe/held.h"
#include "measure/probe/quietly.h"

namespace swizzleperf::measure::probe {
namespace {

/// What the session waits for.
struct Wanted {
  std::string symbol;  ///< empty: any whose name matches
  std::regex name;
  bool mangled = false;  ///< the name that is to match
  std::int64_t index = 0;
};

struct State {
  std::mutex mutex;
  Channel session;
  Wanted wanted;
  pid_t process = 0;
  std::int64_t seen = 0;  ///< launches of the wanted kernel
  std::vector<Region> regions;
  std::atomic<bool> waiting = false;
};

State& state() {
  static State* const the_state = new State;
  return *the_state;
}

thread_local bool serving = false;

std::string demangled(const std::string& symbol) {
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), std::free);
  return name ? name.get() : symbol;
}

bool matches(const Wanted& wanted, const std::string& symbol) {
  if (!wanted.symbol.empty()) return wanted.symbol == symbol;
  return std::regex_search(wanted.mangled ? symbol : demangled(symbol), wanted.name);
}

Fd socket_of(const char* path) {
  const auto address = address_of(path);
  if (!address) return {};
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool connected =
      socket.valid() &&
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
  return connected ? std::move(socket) : Fd();
}

Wanted wanted_of(const nlohmann::json& line) {
  Wanted wanted{.symbol = line.at("symbol"),
                .name = {},
                .mangled = line.at("mangled"),
                .index = line.at("index")};
  if (wanted.symbol.empty()) wanted.name = line.at("name").get<std::string>();
  return wanted;
}

/// Locked. Nobody waits any more when it cannot be told.
void tell(nlohmann::json line) {
  State& s = state();
  s.waiting = s.session.send(std::move(line));
}

void shake_hands(const char* path, const char* library) {
  State& s = state();
  s.session = Channel(socket_of(path));
  if (!s.session.valid()) return;
  s.session.send({{"hello", kVersion}, {"library", library}});
  const auto reply = s.session.receive();
  if (!reply) return;
  s.wanted = wanted_of(reply->line.at("wait"));
  s.process = ::getpid();
  s.waiting = true;
}

/// Locked. Counts and tells the launch.
bool is_wanted(const std::string& symbol) {
  State& s = state();
  if (!s.waiting || s.process != ::getpid()) return false;
  const bool matched = matches(s.wanted, symbol);
  tell({{"launched", symbol}, {"wanted", matched}});
  return matched && s.seen++ == s.wanted.index && s.waiting;
}

bool overlaps(const Region& a, const Region& b) {
  return a.base < b.base + b.bytes && b.base < a.base + a.bytes;
}

/// Locked. What was told, and of the others what is not part of it.
std::vector<Region> all_regions(const MoreRegions& more) {
  std::vector<Region> all = state().regions;
  for (const Region& region : more ? more() : std::vector<Region>{})
    if (std::none_of(all.begin(), all.end(), [&](const Region& r) { return overlaps(r, region); }))
      all.push_back(region);
  return all;
}

/// Locked. Empty: all is done.
void leave(const std::string& why) {
  State& s = state();
  if (!why.empty()) (void)fault_of([&] { s.session.send({{"failed", why}}); });
  s.waiting = false;
  s.session.close();
}

}  // namespace

void connect(const char* library) {
  const char* const path = std::getenv(kSocketVariable);
  if (!path) return;
  const std::string fault = fault_of([&] { shake_hands(path, library); });
  if (!fault.empty()) give_up(fault);
}

void give_up(const std::string& why) {
  const std::lock_guard lock(state().mutex);
  leave(why);
}

bool unobserved() { return serving || !state().waiting; }

void allocated(void* base, std::uint64_t bytes) {
  if (unobserved() || !base || bytes == 0) return;
  const std::lock_guard lock(state().mutex);
  (void)fault_of([&] { state().regions.push_back({static_cast<std::byte*>(base), bytes}); });
}

void freed(void* base) {
  if (unobserved() || !base) return;
  const std::lock_guard lock(state().mutex);
  std::vector<Region>& all = state().regions;
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&](const Region& r) { return r.base == base; });
  if (found != all.rend()) all.erase(std::next(found).base());
}

void captured(const std::string& symbol) {
  if (unobserved()) return;
  const std::lock_guard lock(state().mutex);
  (void)fault_of([&] {
    if (state().waiting && matches(state().wanted, symbol)) tell({{"captured", symbol}});
  });
}

void launching(const LaunchInfo& launch, const MakeDevice& make_device, const MoreRegions& more) {
  if (unobserved()) return;
  const std::lock_guard lock(state().mutex);
  serving = true;
  State& s = state();
  const std::string fault = fault_of([&] {
    if (!is_wanted(launch.symbol)) return;
    const std::unique_ptr<Device> device = make_device();
    serve(s.session, *device, launch, all_regions(more));
    leave("");
  });
  if (!fault.empty()) leave(fault);
  serving = false;
}

}  // namespace swizzleperf::measure::probe
