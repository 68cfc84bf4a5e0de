// Where nothing may be thrown: what a body throws comes back as a sentence. (In a destructor it is
// of no interest: what fails to be released belongs to a device that is lost.)
#pragma once

#include <exception>
#include <new>
#include <string>

namespace swizzleperf::measure::probe {

/// Empty when nothing was thrown.
template <class Body>
std::string fault_of(const Body& body) {
  try {
    body();
    return "";
  } catch (const std::bad_alloc&) {
    return "the host has no memory left";
  } catch (const std::exception& fault) {
    return fault.what();
  }
}

}  // namespace swizzleperf::measure::probe
