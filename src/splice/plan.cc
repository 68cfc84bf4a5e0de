// Three questions, in this order.
//
// Which text is to be replaced? For a use in plain code the token is there: `blockIdx` becomes the
// name of a local variable whose fields are x, y and z, so `blockIdx.x` needs no more than that.
// For a use that comes out of a macro the text is in the macro's body, and changing it changes
// every expansion: all of them must be uses that we are changing anyway.
//
// Where does the variable live? At the top of the function the use is in, or of the innermost
// lambda that does not capture by default. Where no local variable can be read (default arguments,
// member initialisers) or where declaring one would put device code into the host's half (functions
// for both), the use calls the helper in place.
//
// Where does the helper go? Above the first declaration that needs it, in the innermost namespace
// that all the uses share, and outside of #if branches that do not hold them all.
#include "splice/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {

/// A stretch of the source in which a local variable of an outer stretch may or may not be read.
struct Region {
  enum Kind {
    kDevice,      ///< the body of a function for the device alone
    kOtherSide,   ///< the body of any other function
    kOpenLambda,  ///< the body of a lambda that captures by default
    kClosedLambda,
    kBarrier,  ///< a class, or a parameter with its default argument
  };
  Kind kind = kBarrier;
  Span span;
};

/// What is written in place of a use, given where its variable lives.
struct Home {
  bool local = false;
  Span body;  ///< of the function or lambda that declares the variable
};

bool is_class(CXCursorKind kind) {
  return kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl || kind == CXCursor_UnionDecl ||
         kind == CXCursor_ClassTemplate || kind == CXCursor_ClassTemplatePartialSpecialization;
}

Region::Kind side_of(CXCursor function) {
  bool device = false;
  bool host = false;
  for_children(function, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    device = device || kind == CXCursor_CUDADeviceAttr || kind == CXCursor_CUDAGlobalAttr;
    host = host || kind == CXCursor_CUDAHostAttr;
  });
  return device && !host ? Region::kDevice : Region::kOtherSide;
}

Region::Kind capture_of(const Unit& unit, CXCursor lambda) {
  const std::size_t bracket = unit.token_at(unit.span(lambda).begin);
  if (bracket == unit.tokens().size()) return Region::kClosedLambda;
  const std::size_t first = unit.next(bracket);
  const std::size_t second = unit.next(first);
  if (second >= unit.tokens().size()) return Region::kClosedLambda;
  const std::string_view mark = unit.text(unit.tokens()[first]);
  const std::string_view after = unit.text(unit.tokens()[second]);
  const bool open = mark == "=" || (mark == "&" && (after == "]" || after == ","));
  return open ? Region::kOpenLambda : Region::kClosedLambda;
}

/// Of a body that a macro writes, its place of use.
Span body_span(const Unit& unit, CXCursor body) {
  const Span span = unit.span(body);
  return span.begin < span.end ? span : Span{span.begin, span.begin + 1};
}

void collect_regions(const Unit& unit, CXCursor parent, std::vector<Region>& regions) {
  const CXCursorKind parent_kind = clang_getCursorKind(parent);
  for_children(parent, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (parent_kind == CXCursor_TranslationUnit && !unit.in_main(child)) return;
    if (kind == CXCursor_CompoundStmt && is_function(parent_kind))
      regions.push_back({side_of(parent), body_span(unit, child)});
    else if (kind == CXCursor_CompoundStmt && parent_kind == CXCursor_LambdaExpr)
      regions.push_back({capture_of(unit, parent), body_span(unit, child)});
    else if (is_class(kind) || kind == CXCursor_ParmDecl)
      regions.push_back({Region::kBarrier, unit.span(child)});
    collect_regions(unit, child, regions);
  });
}

Home home_of(const std::vector<Region>& regions, unsigned offset) {
  std::vector<const Region*> around;
  for (const Region& region : regions)
    if (region.span.holds(offset)) around.push_back(&region);
  // Innermost first. In the text of a macro all regions lie at one place: there a body counts.
  std::sort(around.begin(), around.end(), [](const Region* a, const Region* b) {
    return std::pair(a->span.begin, a->kind != Region::kBarrier) >
           std::pair(b->span.begin, b->kind != Region::kBarrier);
  });
  const auto home = std::find_if(around.begin(), around.end(), [](const Region* region) {
    return region->kind != Region::kOpenLambda;
  });
  if (home == around.end()) return {};
  if ((*home)->kind == Region::kDevice) return {true, (*home)->span};
  if ((*home)->kind != Region::kClosedLambda) return {};
  // A lambda is device code only if the function around it is.
  const auto function = std::find_if(home, around.end(), [](const Region* region) {
    return region->kind == Region::kDevice || region->kind == Region::kOtherSide;
  });
  const bool device = function != around.end() && (*function)->kind == Region::kDevice;
  return {device, (*home)->span};
}

/// The text before the first character of the line that holds this offset that is not blank.
std::string_view indent_at(std::string_view text, std::size_t line_start) {
  const std::size_t end = text.find_first_not_of(" \t", line_start);
  return text.substr(line_start, (end == std::string_view::npos ? text.size() : end) - line_start);
}

std::size_t line_start(std::string_view text, std::size_t offset) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

const std::map<std::string_view, unsigned>& component_macros() {
  static const std::map<std::string_view, unsigned> names = {
      {"hipBlockIdx_x", 0}, {"hipBlockIdx_y", 1}, {"hipBlockIdx_z", 2}};
  return names;
}

/// Whether this identifier is a read of the block index by itself, whatever the syntax tree says.
bool reads_block_index(std::string_view identifier) {
  return identifier == "blockIdx" || component_macros().contains(identifier) ||
         identifier == "__ockl_get_group_id" ||
         identifier.starts_with("__builtin_amdgcn_workgroup_id_") ||
         identifier.starts_with("__nvvm_read_ptx_sreg_ctaid_");
}

/// A macro that this file defines: its name and the tokens of its body.
struct Macro {
  std::string_view name;
  std::size_t name_token = 0;
  std::vector<std::size_t> body;
};

std::vector<Macro> macros_of(const Unit& unit) {
  const std::vector<Token>& tokens = unit.tokens();
  std::vector<Macro> macros;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].directive || unit.text(tokens[i]) != "#") continue;
    if (unit.text(tokens[i + 1]) != "define" || unit.skipped(tokens[i].span.begin)) continue;
    Macro macro{unit.text(tokens[i + 2]), i + 2, {}};
    for (std::size_t k = i + 3; k < tokens.size() && tokens[k].directive; ++k) {
      if (unit.text(tokens[k]) == "#" && unit.text(tokens[k + 1]) == "define") break;
      if (tokens[k].kind != CXToken_Comment) macro.body.push_back(k);
    }
    macros.push_back(std::move(macro));
  }
  return macros;
}

class Planner {
 public:
  Planner(const Unit& unit, const std::string& function, const std::string& helper_code)
      : unit_(unit),
        text_(unit.text()),
        eol_(text_.find("\r\n") != std::string_view::npos ? "\r\n" : "\n"),
        function_(function),
        helper_code_(helper_code),
        variable_(free_name(function + "_at")),
        macros_(macros_of(unit)) {
    collect_regions(unit, unit.root(), regions_);
  }

  Plan run(const std::vector<Use>& uses) {
    for (const Use& use : uses) ++reads_[home_of(regions_, use.place.offset).body.begin];
    for (const Use& use : uses) place_use(use);
    for (const auto& [name, its_uses] : macro_uses_) rewrite_macro(name, its_uses);
    for (const unsigned brace : bodies_) declare_variable(brace);
    insert_helper(uses);
    sort_edits(plan_.edits);
    for (const auto& [offset, shown] : changed_)
      plan_.changed.push_back(fmt::format("{}: {}", unit_.where(offset), shown));
    note_left_alone(uses);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool has_identifier(std::string_view name) const {
    return std::any_of(unit_.tokens().begin(), unit_.tokens().end(), [&](const Token& token) {
      return token.kind == CXToken_Identifier && unit_.text(token) == name;
    });
  }

  [[nodiscard]] std::string free_name(const std::string& wanted) const {
    std::string name = wanted;
    for (int i = 2; has_identifier(name); ++i) name = fmt::format("{}{}", wanted, i);
    return name;
  }

  [[nodiscard]] std::string call() const {
    return function_ + "(blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z)";
  }

  // ---- which text -------------------------------------------------------------------------------

  void place_use(const Use& use) {
    Home home = home_of(regions_, use.place.offset);
    // A function of one line that reads once stays one, without a variable.
    const bool one_line = unit_.text(home.body).find('\n') == std::string_view::npos;
    const bool direct = use.kind == UseKind::kIndex || is_reader(use.place.offset);
    const bool once = reads_[home.body.begin] == 1 && use.type != "dim3" && use.type != "uint3";
    if (one_line && direct && once) home.local = false;
    if (use.kind == UseKind::kIndex) {
      if (use.span.end <= use.span.begin || is_macro_name(use.place.offset))
        throw input_error(fmt::format("{}: a macro calls group_index() here; write the call out.",
                                      unit_.where(use.place)));
      settle(home);
      // Its result is a dim3; where one field is read our own index will do.
      const bool field = next_is_field(unit_.token_at(use.span.end - 1));
      replace(use.span, field ? reader(home) : whole(reader(home), "dim3"));
      return;
    }
    const std::size_t token = unit_.token_at(use.place.offset);
    if (direct) {
      settle(home);
      replace_at(token, use, reader(home));
      return;
    }
    place_macro_use(use, home, token);
  }

  [[nodiscard]] bool is_reader(unsigned offset) const {
    const std::size_t token = unit_.token_at(offset);
    return token < unit_.tokens().size() && reads_block_index(unit_.text(unit_.tokens()[token]));
  }

  [[nodiscard]] bool is_macro_name(unsigned offset) const {
    const std::size_t token = unit_.token_at(offset);
    if (token >= unit_.tokens().size()) return false;
    return std::any_of(macros_.begin(), macros_.end(), [&](const Macro& macro) {
      return macro.name == unit_.text(unit_.tokens()[token]);
    });
  }

  void settle(const Home& home) {
    if (home.local) bodies_.insert(home.body.begin);
  }

  [[nodiscard]] std::string reader(const Home& home) const {
    return home.local ? variable_ : call();
  }

  [[nodiscard]] static std::string whole(const std::string& reader, const std::string& type) {
    if (type.empty()) return reader;
    return fmt::format("{0}({1}.x, {1}.y, {1}.z)", type == "uint3" ? "make_uint3" : type, reader);
  }

  [[nodiscard]] bool next_is_field(std::size_t token) const {
    const std::size_t dot = unit_.next(token);
    return dot < unit_.tokens().size() && unit_.text(unit_.tokens()[dot]) == ".";
  }

  /// The token that closes the parenthesis after `token`, for a call.
  [[nodiscard]] std::size_t call_end(std::size_t token) const {
    int depth = 0;
    for (std::size_t i = unit_.next(token); i < unit_.tokens().size(); i = unit_.next(i)) {
      const std::string_view text = unit_.text(unit_.tokens()[i]);
      if (text == "(") ++depth;
      if (text == ")" && --depth == 0) return i;
    }
    return token;
  }

  /// Rewrites the use that begins at this token, in plain code or in a macro's body.
  void replace_at(std::size_t token, const Use& use, const std::string& reader) {
    const Span at = unit_.tokens()[token].span;
    const std::string_view identifier = unit_.text(at);
    if (identifier == "blockIdx") {
      const bool field = next_is_field(token);
      std::string shown = "blockIdx";
      if (field)
        shown += fmt::format(".{}", unit_.text(unit_.tokens()[unit_.next(unit_.next(token))]));
      replace(at, field ? reader : whole(reader, use.type), shown);
      return;
    }
    const auto macro = component_macros().find(identifier);
    const bool is_call = macro == component_macros().end();
    const unsigned component = is_call ? use.component : macro->second;
    const unsigned end = is_call ? unit_.tokens()[call_end(token)].span.end : at.end;
    // The original's type decides in which width the arithmetic around it is done.
    std::string text = fmt::format("{}.{}", reader, "xyz"[component]);
    if (use.type == "unsigned long" || use.type == "unsigned long long")
      text = fmt::format("size_t({})", text);
    else if (use.kind == UseKind::kComponent && use.type != "unsigned int")
      text = fmt::format("{}({})", use.type, text);
    replace({at.begin, end}, text);
  }

  void replace(Span span, const std::string& text) {
    replace(span, text, std::string(unit_.text(span)));
  }

  void replace(Span span, const std::string& text, const std::string& shown) {
    const bool known = std::any_of(plan_.edits.begin(), plan_.edits.end(),
                                   [&](const Edit& edit) { return edit.span.begin == span.begin; });
    if (known) return;
    plan_.edits.push_back({span, text});
    changed_.emplace(span.begin, shown);
  }

  // ---- macros -----------------------------------------------------------------------------------

  /// The macros of this file that `name` expands to and whose body reads the block index itself.
  void add_readers(std::string_view name, std::set<std::string_view>& seen,
                   std::set<std::string_view>& readers) const {
    if (!seen.insert(name).second) return;
    for (const Macro& macro : macros_) {
      if (macro.name != name) continue;
      for (const std::size_t i : macro.body) {
        const std::string_view text = unit_.text(unit_.tokens()[i]);
        if (unit_.tokens()[i].kind != CXToken_Identifier) continue;
        if (reads_block_index(text)) readers.insert(name);
        add_readers(text, seen, readers);
      }
    }
  }

  [[nodiscard]] std::set<std::string_view> readers_of(std::string_view name) const {
    std::set<std::string_view> seen;
    std::set<std::string_view> readers;
    add_readers(name, seen, readers);
    return readers;
  }

  void place_macro_use(const Use& use, const Home& home, std::size_t token) {
    const std::string where = unit_.where(use.place);
    if (token >= unit_.tokens().size())
      throw input_error(
          fmt::format("{}: the block index is read here in a way that has no text of "
                      "its own; write blockIdx out.",
                      where));
    const std::string_view name = unit_.text(unit_.tokens()[token]);
    const std::set<std::string_view> readers = readers_of(name);
    if (readers.empty())
      throw input_error(fmt::format(
          "{}: the macro {} reads the block index and is defined in another file; only {} can be "
          "patched, so write its text out here.",
          where, name, unit_.name()));
    if (home.local && home.body.begin == unit_.tokens()[token].span.begin)
      throw input_error(fmt::format(
          "{}: the function here is written by the macro {}, so that it cannot be changed alone; "
          "write the kernel out.",
          where, name));
    if (!home.local)
      throw input_error(fmt::format(
          "{}: the macro {} reads the block index where no local variable can be read; write "
          "blockIdx out here.",
          where, name));
    settle(home);
    expanded_.insert(use.place.offset);
    for (const std::string_view reader : readers) macro_uses_[reader].push_back(use);
  }

  void rewrite_macro(std::string_view name, const std::vector<Use>& uses) {
    const auto defines = [&](const Macro& macro) { return macro.name == name; };
    if (std::count_if(macros_.begin(), macros_.end(), defines) != 1)
      throw input_error(
          fmt::format("{}: the macro {} reads the block index and is defined more than once in "
                      "this file; write "
                      "blockIdx out where it is used.",
                      unit_.where(uses.front().place), name));
    const Macro& macro = *std::find_if(macros_.begin(), macros_.end(), defines);
    const std::string defined = unit_.where(unit_.tokens()[macro.name_token].span.begin);
    for (const Token& token : unit_.tokens()) {
      const unsigned at = token.span.begin;
      if (token.kind != CXToken_Identifier || token.directive || expanded_.contains(at)) continue;
      if (!readers_of(unit_.text(token)).contains(name)) continue;
      if (!unit_.skipped(at))
        throw input_error(fmt::format(
            "{}: the macro {} ({}) reads the block index and is used here too, outside of what the "
            "kernel runs; write blockIdx out in the kernel.",
            unit_.where(at), name, defined));
      plan_.notes.push_back(fmt::format(
          "{}: the macro {} ({}) is changed, and this use of it, which is not compiled with these "
          "arguments, would not compile any more.",
          unit_.where(at), name, defined));
    }
    for (const std::size_t i : macro.body)
      if (reads_block_index(unit_.text(unit_.tokens()[i])))
        replace_at(i, use_of(i, uses), variable_);
  }

  /// Which of the uses that a macro's expansions make is written by this token of its body.
  [[nodiscard]] const Use& use_of(std::size_t token, const std::vector<Use>& uses) const {
    const std::string_view identifier = unit_.text(unit_.tokens()[token]);
    const auto macro = component_macros().find(identifier);
    std::string_view last = identifier;  // its last letter is the component
    if (identifier == "__ockl_get_group_id") last = unit_.text(unit_.tokens()[call_end(token) - 1]);
    const auto written_here = [&](const Use& use) {
      if (identifier == "blockIdx") return use.kind == UseKind::kObject;
      if (use.kind != UseKind::kComponent) return false;
      return macro != component_macros().end()
                 ? use.component == macro->second
                 : last.back() == "xyz"[use.component] || last.back() == "012"[use.component];
    };
    const auto found = std::find_if(uses.begin(), uses.end(), written_here);
    return found != uses.end() ? *found : uses.front();
  }

  // ---- where the variable lives -----------------------------------------------------------------

  void declare_variable(unsigned brace) {
    const std::string declaration =
        fmt::format("const {0}_index {1} = {2};", function_, variable_, call());
    if (text_[brace] != '{')
      throw input_error(
          fmt::format("{}: the body of this function is written by a macro and cannot "
                      "be changed alone; write it out.",
                      unit_.where(brace)));
    const std::size_t token = unit_.token_at(brace);
    const std::size_t next_line = text_.find('\n', brace);
    const std::size_t first = unit_.next(token);
    const bool alone =
        next_line != std::string_view::npos &&
        (first >= unit_.tokens().size() || unit_.tokens()[first].span.begin > next_line) &&
        (token + 1 >= first || unit_.tokens()[first - 1].span.end <= next_line ||
         unit_.tokens()[token + 1].span.begin > next_line);
    if (!alone) {
      plan_.edits.push_back({{brace + 1, brace + 1}, " " + declaration});
      return;
    }
    const auto at = static_cast<unsigned>(next_line + 1);
    const std::string indent = body_indent(brace, first);
    std::string lines = indent + declaration + eol_;
    if (lines.size() > 100)
      lines = fmt::format("{0}const {1}_index {2} ={3}{0}    {4};{3}", indent, function_, variable_,
                          eol_, call());
    plan_.edits.push_back({{at, at}, lines});
  }

  /// That of the body's first statement; of the function and two more if the body is empty.
  [[nodiscard]] std::string body_indent(unsigned brace, std::size_t first) const {
    while (first < unit_.tokens().size() && unit_.tokens()[first].directive)
      first = unit_.next(first);
    if (first < unit_.tokens().size() && unit_.text(unit_.tokens()[first]) != "}") {
      const std::size_t start = line_start(text_, unit_.tokens()[first].span.begin);
      return std::string(indent_at(text_, start));
    }
    return std::string(indent_at(text_, line_start(text_, brace))) + "  ";
  }

  // ---- where the helper goes --------------------------------------------------------------------

  /// The first declaration that holds a use, in the innermost namespace that holds all of them.
  [[nodiscard]] unsigned first_declaration(CXCursor scope, unsigned low, unsigned high) const {
    unsigned found = low;
    for_children(scope, [&](CXCursor child) {
      if (clang_isDeclaration(clang_getCursorKind(child)) == 0 || !unit_.in_main(child)) return;
      const Span span = unit_.span(child);
      if (!span.holds(low)) return;
      if (clang_getCursorKind(child) == CXCursor_Namespace && span.holds(high))
        found = first_declaration(child, low, high);
      else
        found = span.begin;
    });
    return found;
  }

  /// The token that begins a declaration, its attributes and the comment above it included.
  [[nodiscard]] std::size_t head_of(std::size_t token) const {
    const std::vector<Token>& tokens = unit_.tokens();
    std::size_t head = token;
    while (head > 0) {
      const Token& before = tokens[head - 1];
      if (before.directive) break;
      if (before.kind == CXToken_Comment) {
        const bool own_line = head < 2 || tokens[head - 2].line != before.line;
        const auto between = unit_.text(Span{before.span.end, tokens[head].span.begin});
        if (!own_line || std::count(between.begin(), between.end(), '\n') > 1) break;
      } else {
        const std::string_view text = unit_.text(before);
        if (text == ";" || text == "}" || text == "{") break;
      }
      --head;
    }
    return head;
  }

  /// Moves above each #if whose branch here does not hold all the uses, unless something is
  /// included in it first.
  [[nodiscard]] unsigned outside_branches(unsigned at, unsigned high) const {
    struct Branch {
      unsigned begin;  ///< of the #if
      bool includes;
    };
    std::vector<Branch> open;
    const std::vector<Token>& tokens = unit_.tokens();
    std::vector<bool> closes;  // whether the branch that was open at `at` ends before `high`
    std::size_t depth_at = 0;
    std::size_t depth = 0;
    bool past = false;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].directive || unit_.text(tokens[i]) != "#") continue;
      const unsigned offset = tokens[i].span.begin;
      if (offset > high) break;
      if (!past && offset >= at) {
        past = true;
        depth_at = depth = open.size();
        closes.assign(depth_at, false);
      }
      const std::string_view word = unit_.text(tokens[i + 1]);
      const bool begins = word == "if" || word == "ifdef" || word == "ifndef";
      const bool changes =
          word == "else" || word == "elif" || word == "elifdef" || word == "elifndef";
      if (!past) {
        if (begins) open.push_back({offset, false});
        if (word == "endif" && !open.empty()) open.pop_back();
        if (word == "include")
          for (Branch& branch : open) branch.includes = true;
      } else {
        if (begins) ++depth;
        if ((word == "endif" || changes) && depth > 0 && depth <= depth_at)
          closes[depth - 1] = true;
        if (word == "endif" && depth > 0) --depth;
      }
    }
    for (std::size_t i = 0; i < closes.size(); ++i)
      if (closes[i] && !open[i].includes) return open[i].begin;
    return at;
  }

  void insert_helper(const std::vector<Use>& uses) {
    const auto [low, high] = std::minmax_element(
        uses.begin(), uses.end(),
        [](const Use& a, const Use& b) { return a.place.offset < b.place.offset; });
    const unsigned declaration =
        first_declaration(unit_.root(), low->place.offset, high->place.offset);
    const std::size_t token = unit_.token_at(declaration);
    unsigned at = unit_.tokens()[head_of(token)].span.begin;
    at = outside_branches(at, high->place.offset);

    const std::size_t start = line_start(text_, at);
    const bool begins_line = text_.find_first_not_of(" \t", start) == at;
    std::string code;
    for (const char c : helper_code_) {
      if (c == '\r') continue;
      if (c == '\n')
        code += eol_;
      else
        code += c;
    }
    if (!code.ends_with('\n')) code += eol_;
    if (begins_line) {
      const auto from = static_cast<unsigned>(start);
      plan_.edits.insert(plan_.edits.begin(), {{from, from}, code + eol_});
    } else {
      plan_.edits.insert(plan_.edits.begin(), {{at, at}, eol_ + code + eol_});
    }
  }

  // ---- what was left alone ----------------------------------------------------------------------

  /// Reads in the text of changed functions that this compile does not see.
  void note_left_alone(const std::vector<Use>& uses) {
    for (const Token& token : unit_.tokens()) {
      const unsigned at = token.span.begin;
      if (token.kind != CXToken_Identifier || token.directive || changed_.contains(at)) continue;
      if (!reads_block_index(unit_.text(token))) continue;
      const bool in_changed =
          std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
            return region.kind != Region::kBarrier && region.span.holds(at) &&
                   std::any_of(uses.begin(), uses.end(),
                               [&](const Use& use) { return region.span.holds(use.place.offset); });
          });
      if (in_changed)
        plan_.notes.push_back(
            fmt::format("{}: this {} is not compiled with these arguments and was left as it is.",
                        unit_.where(at), unit_.text(token)));
    }
  }

  const Unit& unit_;
  std::string_view text_;
  std::string eol_;
  const std::string& function_;
  const std::string& helper_code_;
  std::string variable_;
  std::vector<Macro> macros_;
  std::vector<Region> regions_;
  std::set<unsigned> bodies_;      ///< braces of the bodies that declare the variable
  std::map<unsigned, int> reads_;  ///< uses by the brace of the body they are in
  std::map<std::string_view, std::vector<Use>> macro_uses_;  ///< macros to rewrite, and their uses
  std::map<unsigned, std::string> changed_;                  ///< what was read, by position
  std::set<unsigned> expanded_;  ///< file positions of the expansions we change
  Plan plan_;
};

}  // namespace

Plan plan_edits(const Unit& unit, const std::vector<Use>& uses, const std::string& function,
                const std::string& helper_code) {
  return Planner(unit, function, helper_code).run(uses);
}

}  // namespace swizzleperf::splice
