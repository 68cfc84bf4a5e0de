// One way to use all cores: a range of independent items, handed out one at a time.
//
// Threads are started per call: the items here take milliseconds, a thread start takes ten
// microseconds. The first exception stops the hand-out and is rethrown in the caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace swizzleperf {

/// Threads to use when the user did not say.
inline unsigned default_threads() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : n;
}

/// Calls body(item, thread) for every item in [0, count); thread < threads.
template <typename Body>
void parallel_for(std::uint64_t count, unsigned threads, const Body& body) {
  if (threads <= 1 || count <= 1) {
    for (std::uint64_t i = 0; i < count; ++i) body(i, 0U);
    return;
  }
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](unsigned thread) {
    try {
      for (std::uint64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i, thread);
    } catch (...) {
      next.store(count);
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t) pool.emplace_back(work, t);
  work(0);
  for (std::thread& t : pool) t.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace swizzleperf
