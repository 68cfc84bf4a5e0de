// Where a kernel reads its block index: in its own body and in everything it reaches.
//
// "Reaches" follows every reference to a function, not calls alone, through templates and their
// instantiations, constructors, default arguments and member initialisers: a function too many
// makes a refusal, a function too few would make a wrong program.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <vector>

#include "splice/unit.h"

namespace swizzleperf::splice {

enum class UseKind {
  kObject,     ///< blockIdx itself: a field of it, the whole, or a reference to it
  kComponent,  ///< a call that yields one component: hipBlockIdx_x,
               ///< __builtin_amdgcn_workgroup_id_x()
  kIndex,      ///< a call that yields all three: thread_block::group_index()
};

/// One read of the block index, at its file position.
struct Use {
  UseKind kind = UseKind::kObject;
  Place place;
  Span span;               ///< kIndex: the whole call, in the source file
  std::string type;        ///< kObject: what it is converted to as a whole (dim3, uint3), or empty;
                           ///< kComponent: the type the original read has
  unsigned component = 0;  ///< kComponent: 0 x, 1 y, 2 z
  CXCursor function;       ///< where it was found
};

struct Reach {
  std::vector<CXCursor> functions;   ///< definitions, templates as their pattern, each once
  std::vector<Use> uses;             ///< in the order of the source, each once
  bool calls_helper = false;         ///< the function that reach() was told of
  std::vector<Place> patched_at;     ///< calls of a helper that an earlier patch has put there
  std::vector<std::string> outside;  ///< functions called but not defined in this translation unit
};

/// What to do with a read that no text of the source file can replace: one in another file, in
/// inline assembly, in the device library.
enum class Elsewhere {
  kRefuse,  ///< throw Error(kInput)
  kIgnore,  ///< for kernels that are not going to change
};

/// Everything that `kernel` reaches. `instances` are the kernel's instantiations; the arguments of
/// a function named `helper` are not looked at.
Reach reach(const Unit& unit, CXCursor kernel, const std::vector<CXCursor>& instances,
            const std::string& helper, Elsewhere elsewhere);

/// The text a function goes by in messages: its qualified name.
std::string qualified_name(CXCursor function);

/// The definition: of an instantiation that of its pattern.
CXCursor pattern_of(CXCursor function);

bool is_function(CXCursorKind kind);

}  // namespace swizzleperf::splice
