// A library that may not be there, opened for as long as the object lives.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <memory>

namespace swizzleperf::measure {

class SharedLibrary {
 public:
  /// The first of the names that the loader finds.
  explicit SharedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (!handle_) handle_.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
  }
  [[nodiscard]] bool opened() const { return handle_ != nullptr; }

  /// Null where the library has no such function.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return handle_ ? reinterpret_cast<Function*>(::dlsym(handle_.get(), name)) : nullptr;
  }

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Close> handle_;
};

}  // namespace swizzleperf::measure
