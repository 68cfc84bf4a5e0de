// The walk over the syntax tree.
//
// What reads the block index is known by name: the object blockIdx of the HIP and CUDA headers, the
// device library's and the compiler's own functions below it, and the two accessors of cooperative
// groups. The headers' implementation of blockIdx is not entered (its use is the use), and
// grid-wide barriers are not either: they elect one block, and any block will do.
#include "splice/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "swizzleperf/error.h"

namespace swizzleperf::splice {

bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
         kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

namespace {

CXCursor definition_or_self(CXCursor function) {
  const CXCursor definition = clang_getCursorDefinition(function);
  return clang_Cursor_isNull(definition) != 0 ? function : definition;
}

}  // namespace

CXCursor pattern_of(CXCursor function) {
  function = definition_or_self(function);
  for (;;) {
    const CXCursor primary = clang_getSpecializedCursorTemplate(function);
    if (clang_Cursor_isNull(primary) != 0) return function;
    const CXCursor pattern = definition_or_self(primary);
    // An instantiation stands where its pattern does; a specialisation has a text of its own.
    const unsigned at = Unit::place(function).offset;
    if (at != Unit::place(pattern).offset && at != Unit::place(primary).offset) return function;
    function = pattern;
  }
}

std::string qualified_name(CXCursor function) {
  std::string name = take(clang_getCursorSpelling(function));
  for (CXCursor scope = clang_getCursorSemanticParent(function);
       clang_Cursor_isNull(scope) == 0 && clang_getCursorKind(scope) != CXCursor_TranslationUnit;
       scope = clang_getCursorSemanticParent(scope)) {
    if (clang_getCursorKind(scope) == CXCursor_LinkageSpec) continue;
    std::string outer = take(clang_getCursorSpelling(scope));
    if (outer.empty() || outer.starts_with("(")) outer = "(anonymous namespace)";
    name.insert(0, outer.append("::"));
  }
  return name;
}

namespace {

struct Hash {
  std::size_t operator()(CXCursor cursor) const { return clang_hashCursor(cursor); }
};
struct Equal {
  bool operator()(CXCursor a, CXCursor b) const { return clang_equalCursors(a, b) != 0; }
};
using CursorSet = std::unordered_set<CXCursor, Hash, Equal>;

bool in_namespace(CXCursor cursor, std::string_view name) {
  for (;
       clang_Cursor_isNull(cursor) == 0 && clang_getCursorKind(cursor) != CXCursor_TranslationUnit;
       cursor = clang_getCursorSemanticParent(cursor))
    if (clang_getCursorKind(cursor) == CXCursor_Namespace &&
        take(clang_getCursorSpelling(cursor)) == name)
      return true;
  return false;
}

/// The member functions through which the headers implement blockIdx and its fellows.
bool implements_builtin(CXCursor function) {
  for (CXCursor scope = clang_getCursorSemanticParent(function); clang_Cursor_isNull(scope) == 0;
       scope = clang_getCursorSemanticParent(scope)) {
    const std::string name = take(clang_getCursorSpelling(scope));
    if (name == "__HIP_Coordinates" || name == "__HIP_BlockIdx" ||
        name.starts_with("__cuda_builtin_"))
      return true;
    if (clang_getCursorKind(scope) == CXCursor_TranslationUnit) break;
  }
  return false;
}

bool is_block_index_object(CXCursor referenced) {
  if (clang_getCursorKind(referenced) != CXCursor_VarDecl) return false;
  if (take(clang_getCursorSpelling(referenced)) != "blockIdx") return false;
  return clang_getCursorKind(clang_getCursorSemanticParent(referenced)) == CXCursor_TranslationUnit;
}

/// 0, 1, 2 for a function that yields one component and takes no argument; -1 for any other.
int component_function(std::string_view name) {
  constexpr std::array<std::string_view, 2> kStems = {"__builtin_amdgcn_workgroup_id_",
                                                      "__nvvm_read_ptx_sreg_ctaid_"};
  for (const std::string_view stem : kStems)
    if (name.size() == stem.size() + 1 && name.starts_with(stem) && name.back() >= 'x' &&
        name.back() <= 'z')
      return name.back() - 'x';
  return -1;
}

/// Functions of the device library that read the block index and give back something else.
bool mixes_block_index(std::string_view name) {
  return name == "__ockl_get_global_id" || name == "__ockl_get_global_linear_id";
}

class Walk {
 public:
  Walk(const Unit& unit, std::string helper, Elsewhere elsewhere)
      : unit_(unit), helper_(std::move(helper)), elsewhere_(elsewhere) {}

  Reach run(CXCursor kernel, const std::vector<CXCursor>& instances) {
    instantiated_ = !instances.empty() || clang_getCursorKind(kernel) != CXCursor_FunctionTemplate;
    enter(kernel);
    for (const CXCursor& instance : instances) enter(instance);
    while (!pending_.empty()) {
      function_ = pending_.back();
      pending_.pop_back();
      walk_children(function_, "");
    }
    std::sort(found_.uses.begin(), found_.uses.end(), [](const Use& a, const Use& b) {
      return std::pair(a.place.offset, a.type.size()) < std::pair(b.place.offset, b.type.size());
    });
    return std::move(found_);
  }

 private:
  void enter(CXCursor function) {
    if (clang_Cursor_isNull(function) != 0 || !is_function(clang_getCursorKind(function))) return;
    if (implements_builtin(function)) return;
    // Default arguments may stand on an earlier declaration. An instantiation lacks the branches
    // that `if constexpr` left out, and has no body where only a template refers to it; its pattern
    // has all there is.
    const CXCursor definition = definition_or_self(function);
    const CXCursor pattern = pattern_of(function);
    for (const CXCursor& one : {clang_getCanonicalCursor(function), function, definition, pattern})
      if (entered_.insert(one).second) pending_.push_back(one);
    if (clang_isCursorDefinition(pattern) == 0) note_outside(function);
  }

  void note_outside(CXCursor function) {
    const CXSourceLocation at = clang_getCursorLocation(function);
    if (clang_Location_isInSystemHeader(at) != 0 || Unit::place(at).file == nullptr) return;
    const std::string name = qualified_name(function);
    if (name.starts_with("__")) return;
    if (std::find(found_.outside.begin(), found_.outside.end(), name) == found_.outside.end())
      found_.outside.push_back(name);
  }

  /// `converted` is the type that an enclosing conversion gives the whole object.
  void walk_children(CXCursor parent, const std::string& converted) {
    for_children(parent, [&](CXCursor child) { look(child, converted); });
  }

  void look(CXCursor cursor, const std::string& converted) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    enter_class_of_object(cursor, kind);
    switch (kind) {
      case CXCursor_CallExpr:
        if (look_at_call(cursor)) return;
        break;
      case CXCursor_DeclRefExpr:
      case CXCursor_MemberRefExpr:
        if (is_block_index_object(clang_getCursorReferenced(cursor))) {
          add({UseKind::kObject, unit_.place(cursor), {}, converted, 0, function_});
          return;
        }
        look_at_reference(cursor);
        break;
      case CXCursor_OverloadedDeclRef:
        for (unsigned i = 0; i < clang_getNumOverloadedDecls(cursor); ++i)
          enter(clang_getOverloadedDecl(cursor, i));
        return;
      case CXCursor_GCCAsmStmt:
        check_assembly(cursor);
        break;
      default:
        break;
    }
    walk_children(cursor, conversion_under(cursor, converted));
  }

  /// What the children of this cursor, if one is blockIdx as a whole, are converted to.
  static std::string conversion_under(CXCursor cursor, const std::string& converted) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    const CXCursor referenced = clang_getCursorReferenced(cursor);
    if (clang_getCursorKind(referenced) == CXCursor_ConversionFunction &&
        implements_builtin(referenced)) {
      const std::string name = take(clang_getCursorSpelling(referenced));
      if (name == "operator dim3") return "dim3";
      if (name == "operator uint3") return "uint3";
    }
    const bool transparent = kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr;
    return transparent ? converted : "";
  }

  /// True if the call is a use by itself and its callee needs no look.
  bool look_at_call(CXCursor call) {
    const CXCursor callee = clang_getCursorReferenced(call);
    const std::string name = take(clang_getCursorSpelling(callee));
    if (clang_getCursorKind(callee) == CXCursor_Constructor) enter(callee);
    if (name.empty()) {
      if (!instantiated_) enter_methods_named(unit_.root(), "operator()");
      return false;
    }
    if (!helper_.empty() && name == helper_) {
      found_.calls_helper = true;
      return true;
    }
    if (const int component = component_function(name); component >= 0) {
      add_component(call, static_cast<unsigned>(component));
      return true;
    }
    if (name == "__ockl_get_group_id") {
      const int component = literal_argument(call);
      if (component >= 0) add_component(call, static_cast<unsigned>(component));
      return true;
    }
    if (mixes_block_index(name) && elsewhere_ == Elsewhere::kRefuse)
      throw input_error(fmt::format(
          "{}: {} reads the block index inside the device library, where it cannot be replaced; "
          "compute the value from blockIdx instead.",
          unit_.where(unit_.place(call)), name));
    if (!in_namespace(callee, "cooperative_groups")) {
      look_for_earlier_patch(call, callee, name);
      return false;
    }
    if (name == "group_index" || name == "block_index") {
      const Span whole = unit_.span(call);
      add({UseKind::kIndex, unit_.place(call), whole, "dim3", 0, function_});
      return true;
    }
    return name == "sync" || name == "barrier_arrive" || name == "barrier_wait";
  }

  // What print_cpp prints: NAME_index NAME(unsigned x, y, z, nx, ny, nz).
  void look_for_earlier_patch(CXCursor call, CXCursor callee, const std::string& name) {
    if (clang_Cursor_getNumArguments(callee) != 6) return;
    const std::string type = take(clang_getTypeSpelling(clang_getCursorResultType(callee)));
    if (type == name + "_index" || type.ends_with("::" + name + "_index"))
      found_.patched_at.push_back(unit_.place(call));
  }

  void look_at_reference(CXCursor reference) {
    const CXCursor referenced = clang_getCursorReferenced(reference);
    if (clang_Cursor_isNull(referenced) != 0) {
      if (!instantiated_) enter_by_name(reference);
      return;
    }
    enter(referenced);
  }

  // A member call that depends on a template parameter, in a kernel of which this file shows no
  // instantiation: any method of that name in this file may be meant.
  void enter_by_name(CXCursor reference) {
    const std::size_t token = unit_.token_at(unit_.place(reference).offset);
    if (token == unit_.tokens().size()) return;
    std::string_view name = unit_.text(unit_.tokens()[token]);
    for (std::size_t i = token; i < unit_.tokens().size(); i = unit_.next(i)) {
      const std::string_view text = unit_.text(unit_.tokens()[i]);
      if (unit_.tokens()[i].span.begin >= unit_.span(reference).end) break;
      if (unit_.tokens()[i].kind == CXToken_Identifier) name = text;
    }
    enter_methods_named(unit_.root(), name);
  }

  void enter_methods_named(CXCursor scope, std::string_view name) {
    for_children(scope, [&](CXCursor child) {
      if (!unit_.in_main(child)) return;
      const CXCursorKind kind = clang_getCursorKind(child);
      if (is_function(kind)) {
        if (take(clang_getCursorSpelling(child)) == name) enter(child);
      } else if (clang_isDeclaration(kind) != 0) {
        enter_methods_named(child, name);
      }
    });
  }

  // Making an object runs its class's member initialisers and, some time, its destructor, none of
  // which need be written where the object is.
  void enter_class_of_object(CXCursor cursor, CXCursorKind kind) {
    if (kind != CXCursor_VarDecl && kind != CXCursor_FieldDecl && kind != CXCursor_CallExpr &&
        kind != CXCursor_InitListExpr && kind != CXCursor_CXXFunctionalCastExpr &&
        kind != CXCursor_CXXNewExpr && kind != CXCursor_CXXBaseSpecifier)
      return;
    CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
    while (type.kind == CXType_ConstantArray) type = clang_getArrayElementType(type);
    CXCursor declared = clang_getTypeDeclaration(type);
    while (clang_Cursor_isNull(declared) == 0 && entered_.insert(declared).second) {
      const CXCursor outer_function = function_;
      for_children(declared, [&](CXCursor member) {
        const CXCursorKind member_kind = clang_getCursorKind(member);
        if (member_kind == CXCursor_Destructor) enter(member);
        if (member_kind == CXCursor_Constructor && !instantiated_) enter(member);
        if (member_kind != CXCursor_FieldDecl && member_kind != CXCursor_CXXBaseSpecifier) return;
        function_ = declared;
        look(member, "");
      });
      function_ = outer_function;
      declared = clang_getSpecializedCursorTemplate(declared);
    }
  }

  void check_assembly(CXCursor statement) {
    const std::string code = take(clang_Cursor_getGCCAssemblyTemplate(statement));
    bool reads = code.find("ttmp") != std::string::npos;
    for (std::size_t at = code.find("ctaid"); at != std::string::npos;
         at = code.find("ctaid", at + 1))
      reads = reads || at == 0 || code[at - 1] != 'n';  // %nctaid is the grid's size
    if (reads && elsewhere_ == Elsewhere::kRefuse)
      throw input_error(fmt::format(
          "{}: inline assembly in {} reads the block index, where it cannot be replaced; "
          "use blockIdx there.",
          unit_.where(unit_.place(statement)), qualified_name(function_)));
  }

  /// 0, 1 or 2; -1 for a call that cannot be read and need not be.
  int literal_argument(CXCursor call) {
    const CXEvalResult value = clang_Cursor_Evaluate(clang_Cursor_getArgument(call, 0));
    const int component = value != nullptr && clang_EvalResult_getKind(value) == CXEval_Int
                              ? clang_EvalResult_getAsInt(value)
                              : -1;
    if (value != nullptr) clang_EvalResult_dispose(value);
    if (component >= 0 && component <= 2) return component;
    if (elsewhere_ == Elsewhere::kRefuse)
      throw input_error(fmt::format(
          "{}: __ockl_get_group_id is called with an argument that is not 0, 1 or 2; use blockIdx.",
          unit_.where(unit_.place(call))));
    return -1;
  }

  void add_component(CXCursor call, unsigned component) {
    const CXType type = clang_getCanonicalType(clang_getCursorType(call));
    add({UseKind::kComponent,
         unit_.place(call),
         {},
         take(clang_getTypeSpelling(type)),
         component,
         function_});
  }

  void add(const Use& use) {
    const bool here = unit_.in_main(use.place.file);
    if (!here && elsewhere_ == Elsewhere::kIgnore) return;
    if (!here)
      throw input_error(fmt::format(
          "{}: the kernel reads the block index through {}, which is defined in another file; only "
          "{} can be patched, so move that function into it.",
          unit_.where(use.place), qualified_name(function_), unit_.name()));
    const auto same = std::find_if(found_.uses.begin(), found_.uses.end(), [&](const Use& other) {
      return other.place.offset == use.place.offset && other.kind == use.kind &&
             other.component == use.component;
    });
    if (same == found_.uses.end())
      found_.uses.push_back(use);
    else if (same->type.empty())
      same->type = use.type;  // a template's pattern may not know the conversion yet
  }

  const Unit& unit_;
  std::string helper_;
  Elsewhere elsewhere_;
  Reach found_;
  CXCursor function_ = clang_getNullCursor();
  CursorSet entered_;
  std::vector<CXCursor> pending_;
  bool instantiated_ = false;
};

}  // namespace

Reach reach(const Unit& unit, CXCursor kernel, const std::vector<CXCursor>& instances,
            const std::string& helper, Elsewhere elsewhere) {
  return Walk(unit, helper, elsewhere).run(kernel, instances);
}

}  // namespace swizzleperf::splice
