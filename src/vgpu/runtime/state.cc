// See state.h. Answers leave through _exit: the program's destructors and buffers are of no
// interest once the launch we came for is recorded.
#include "vgpu/runtime/state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "vgpu/runtime/jobs.h"
#include "vgpu/runtime/survey.h"

namespace swizzleperf::vgpu::runtime {
namespace {

/// What is left to say when the program has ended by itself.
void say_farewell() {
  State& s = state();
  if (surveying()) _exit(0);
  if (s.request.job == Job::kNone) return;
  Response response;
  switch (s.request.job) {
    case Job::kNone:
    case Job::kRun:
      response.digest = s.heap.digest();
      break;
    case Job::kTrace:
    case Job::kCompare:
    case Job::kCheck:
      response.error = launch_not_reached();
      break;
  }
  write_response(response, s.request.response_file);
}

void at_program_end() {
  try {
    say_farewell();
  } catch (const Error& error) {
    fmt::print(stderr, "swizzleperf: {}\n", error.what());
    _exit(static_cast<int>(error.exit()));
  }
}

}  // namespace

State::State() {
  const char* const file = std::getenv(kRequestVariable);
  if (!file) return;
  request = read_request(file);
  if (request.job == Job::kRun) heap.keep_digests();
}

State& state() {
  static State* const the_state = [] {
    std::atexit(at_program_end);
    try {
      return new State;
    } catch (const Error& error) {
      fmt::print(stderr, "swizzleperf: {}\n", error.what());
      _exit(static_cast<int>(error.exit()));
    }
  }();
  return *the_state;
}

void answer(const Response& response) {
  write_response(response, state().request.response_file);
  _exit(0);
}

void fail(const std::string& sentence) {
  const State& s = state();
  if (surveying()) _exit(1);
  std::fflush(stdout);
  if (s.request.job != Job::kNone) {
    Response response;
    response.error = sentence;
    write_response(response, s.request.response_file);
  } else {
    fmt::print(stderr, "swizzleperf: {}\n", sentence);
  }
  _exit(static_cast<int>(Exit::kInput));
}

}  // namespace swizzleperf::vgpu::runtime
