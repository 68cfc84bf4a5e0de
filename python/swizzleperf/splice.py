"""Putting a swizzle into a Triton kernel's source.

The only change is where the kernel reads tl.program_id. A helper, printed by the C++ side, is inserted
above the first function that reads it; in each such function one line computes the block that this
program is to work on, and each tl.program_id becomes one of its names. All other text, and all names
of the user's, stay as they are. What cannot be changed safely is refused with its line.

Positions come from Python's own parser, as bytes. The edits go back to C++, which makes the diff."""

import ast
import re

from .errors import SwizzlePerfError

AXES = "xyz"


def splice_question(question):
    with open(question["source"], "rb") as file:
        source = file.read()
    return Splice(question, source).run()


class Splice:
    def __init__(self, question, source):
        self.shown = question["shown"]
        self.kernel_name = question["kernel"]
        self.helper = question["function"]
        self.helper_code = question["helper_code"]
        self.source = source
        self.tree = self.parse()
        self.lines = line_starts(source)
        self.names = Names(self.tree)
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef) and self.names.is_jit(n)}
        self.edits = []
        self.changed = []
        self.notes = []

    def parse(self):
        try:
            return ast.parse(self.source)
        except SyntaxError as error:
            raise SwizzlePerfError(f"{self.shown}:{error.lineno}: {error.msg}") from None

    def fail(self, node, sentence):
        raise SwizzlePerfError(f"{self.shown}:{node.lineno}: {sentence}")

    def run(self):
        kernel = self.functions.get(self.kernel_name)
        if kernel is None:
            raise SwizzlePerfError(
                f"{self.shown}: {self.kernel_name} is not defined at the top level of this file as a @triton.jit "
                f"function; there are: {', '.join(self.functions) or 'none'}"
            )
        self.refuse_patched(kernel)
        reached = self.reach(kernel)
        readers = [f for f in reached if self.names.reads(f)]
        if not readers:
            self.fail(kernel, f"{self.kernel_name} never reads tl.program_id, so no swizzle can change it")
        self.refuse_shared(readers)
        for function in readers:
            self.rewrite(function)
        self.insert_helper(min(readers, key=lambda f: f.lineno))
        remaps = [r for f in readers for r in find_remaps(f, self.names, self.functions, self.shown)]
        for function in reached:
            self.note_persistence(function)
        return {
            "edits": [{"begin": b, "end": e, "text": t} for b, e, t in sorted(self.edits)],
            "changed": self.changed,
            "remaps": [{"where": w, "what": t} for w, t in remaps],
            "notes": self.notes,
        }

    # ---- what is looked at

    def refuse_patched(self, kernel):
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and node.name == self.helper or (
                isinstance(node, ast.Name) and node.id == self.helper
            ):
                self.fail(node, f"{self.helper} is already here: an earlier patch put it there (reverse that patch "
                                f"first), or the name is taken")

    def reach(self, kernel):
        """The kernel and the device functions of this file that it calls."""
        found = {}
        outside = set()

        def visit(function):
            if function.name in found:
                return
            found[function.name] = function
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    called = node.func.id
                    if called in self.functions:
                        visit(self.functions[called])
                    elif called in self.names.imported:
                        outside.add(called)

        visit(kernel)
        for name in sorted(outside):
            self.notes.append(f"{name} is not defined in this file: if it reads tl.program_id, it still reads the "
                              "hardware's.")
        return list(found.values())

    def refuse_shared(self, readers):
        """A device function that another kernel of the file calls would change for it too."""
        mine = {f.name for f in readers} - {self.kernel_name}
        reached_by_mine = {f.name for f in self.reach_quietly(self.functions[self.kernel_name])}
        for other in self.functions.values():
            if other.name in reached_by_mine:
                continue
            for function in self.reach_quietly(other):
                if function.name in mine or function.name == self.kernel_name:
                    self.fail(function, f"{function.name} reads tl.program_id for {other.name} as well as for "
                                        f"{self.kernel_name}, and both would change; give {self.kernel_name} a copy "
                                        "of that function")

    def reach_quietly(self, kernel):
        notes, self.notes = self.notes, []
        try:
            return self.reach(kernel)
        finally:
            self.notes = notes

    # ---- the edits

    def rewrite(self, function):
        reads = self.names.reads(function)
        for node in self.names.taken_as_value(function):
            self.fail(node, "tl.program_id is taken as a value here instead of being called; call it where it is used")
        axes = {}
        for call in reads:
            axes[call] = self.axis_of(call)
        names = self.fresh_names(function)
        for call, axis in axes.items():
            self.edits.append((*self.span(call), names[axis]))
            self.changed.append(f"{self.shown}:{call.lineno}: tl.program_id({axis})")
        self.insert_computation(function, reads[0], names)

    def axis_of(self, call):
        values = call.args + [k.value for k in call.keywords if k.arg == "axis"]
        if len(values) != 1 or not isinstance(values[0], ast.Constant) or values[0].value not in (0, 1, 2):
            self.fail(call, "tl.program_id with an axis that is not written as 0, 1 or 2 cannot be rewritten")
        return values[0].value

    def fresh_names(self, function):
        taken = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)}
        taken |= {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)} | set(self.functions)
        prefix = "block_"
        while any(prefix + a in taken for a in AXES):
            prefix = "swizzled_" + prefix
        return [prefix + a for a in AXES]

    def insert_computation(self, function, first, names):
        statement = next(s for s in function.body if s.lineno <= first.lineno <= s.end_lineno)
        if statement.lineno == function.lineno or statement.lineno <= function.body[0].lineno == function.lineno:
            self.fail(function, f"the body of {function.name} begins on the line of its def; put it on a line of its own")
        line = self.lines[statement.lineno - 1]
        indent = re.match(rb"[ \t]*", self.source[line:]).group().decode()
        tl = self.names.language
        ids = ", ".join(f"{tl}.program_id({k})" for k in range(3))
        counts = ", ".join(f"{tl}.num_programs({k})" for k in range(3))
        text = (f"{indent}{', '.join(names)} = {self.helper}(\n"
                f"{indent}    {ids},\n{indent}    {counts})\n")
        self.edits.append((line, line, text))

    def insert_helper(self, function):
        at = min([function.lineno] + [d.lineno for d in function.decorator_list])
        line = self.lines[at - 1]
        self.edits.append((line, line, self.imports(function) + self.helper_code.rstrip("\n") + "\n\n\n"))

    def imports(self, function):
        """The printed helper says triton.jit and tl; both must mean that here."""
        text = ""
        for name, what in (("triton", "import triton"), ("tl", "import triton.language as tl")):
            if self.names.means(name):
                continue
            if self.names.is_bound(name):
                self.fail(function, f"the name {name} means something else in this file than in Triton's usual imports")
            text += what + "\n"
        return text + "\n\n" if text else ""

    # ---- what is said

    def note_persistence(self, function):
        """Loops from the program id in steps of the number of programs: two indices could be remapped."""
        tainted = Taint(function, self.names, self.functions)
        for node in ast.walk(function):
            start = loop_start(node, tainted)
            if start is None:
                continue
            index, line = start
            self.notes.append(
                f"{self.shown}:{line}: a persistent loop: each program works on tiles {index} from its program id on. "
                f"The program id is remapped, so the dies exchange whole lists of tiles; the order of tiles within "
                f"{index} stays as it is."
            )

    def span(self, node):
        begin = self.lines[node.lineno - 1] + node.col_offset
        return begin, self.lines[node.end_lineno - 1] + node.end_col_offset


def line_starts(source):
    starts = [0]
    for match in re.finditer(rb"\r\n|\n|\r", source):
        starts.append(match.end())
    return starts


class Names:
    """What this file calls Triton and its language."""

    def __init__(self, tree):
        self.bound = {}  # name -> dotted meaning
        self.imported = set()
        self.other = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for a in node.names:
                    # `import triton.language` binds triton.
                    self.bound[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom):
                for a in node.names:
                    self.bound[a.asname or a.name] = f"{node.module or ''}.{a.name}"
                    self.imported.add(a.asname or a.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.other.add(node.id)
        self.language = next((n for n, m in self.bound.items() if m == "triton.language"), "triton.language")

    def dotted(self, node):
        """tl.program_id -> triton.language.program_id, whatever the file calls them."""
        if isinstance(node, ast.Name):
            return self.bound.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return base and f"{base}.{node.attr}"
        return None

    def means(self, name):
        return self.bound.get(name) == {"triton": "triton", "tl": "triton.language"}[name]

    def is_bound(self, name):
        return name in self.bound or name in self.other

    def is_jit(self, function):
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.dotted(target) in ("triton.jit", "triton.runtime.jit.jit"):
                return True
        return False

    def is_program_id(self, node):
        return self.dotted(node) in ("triton.language.program_id", "triton.language.core.program_id")

    def reads(self, function):
        """Calls of tl.program_id in the order of the text."""
        calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and self.is_program_id(n.func)]
        return sorted(calls, key=lambda n: (n.lineno, n.col_offset))

    def taken_as_value(self, function):
        called = {id(n.func) for n in ast.walk(function) if isinstance(n, ast.Call)}
        return [n for n in ast.walk(function)
                if isinstance(n, (ast.Name, ast.Attribute)) and self.is_program_id(n) and id(n) not in called]


# ---- what the kernel does with its program id ------------------------------------------------------

WHOLE, SPLIT = 1, 2  # the program id, scaled at most; a quotient or remainder of it


class Taint:
    """Which names carry the program id, found by passing over the assignments until nothing changes."""

    def __init__(self, function, names, functions, arguments=None):
        self.names = names
        self.functions = functions
        self.level = dict(arguments or {})
        assignments = [n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AugAssign, ast.For))]
        for _ in range(len(assignments) + 1):
            before = dict(self.level)
            for node in assignments:
                self.assign(node)
            if self.level == before:
                break

    def assign(self, node):
        if isinstance(node, ast.For):
            targets, value = [node.target], node.iter
        elif isinstance(node, ast.AugAssign):
            targets, value = [node.target], node.value
        else:
            targets, value = node.targets, node.value
        for target in targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for t, v in zip(target.elts, value.elts):
                    self.raise_to(t, self.of(v))
            else:
                for t in target.elts if isinstance(target, ast.Tuple) else [target]:
                    self.raise_to(t, self.of(value))

    def raise_to(self, target, level):
        if isinstance(target, ast.Name) and level > self.level.get(target.id, 0):
            self.level[target.id] = level

    def of(self, node):
        """0, WHOLE or SPLIT."""
        if isinstance(node, ast.Name):
            return self.level.get(node.id, 0)
        if isinstance(node, ast.Call):
            if self.names.is_program_id(node.func):
                return WHOLE
            inputs = max([self.of(a) for a in node.args] + [self.of(k.value) for k in node.keywords], default=0)
            calls_own = isinstance(node.func, ast.Name) and node.func.id in self.functions
            return SPLIT if inputs and calls_own else inputs
        if isinstance(node, ast.BinOp):
            level = max(self.of(node.left), self.of(node.right))
            if self.of(node.left) and isinstance(node.op, (ast.FloorDiv, ast.Mod, ast.RShift, ast.BitAnd)):
                return SPLIT
            return level
        return max((self.of(c) for c in ast.iter_child_nodes(node)), default=0)


def find_remaps(function, names, functions, shown):
    """Arithmetic that puts quotients and remainders of the program id together again to a new index.

    Splitting an index into coordinates is no remap, and neither is the sum that makes an offset of
    coordinates. A sum of two split parts counts when its name is then scaled or split, as an index is."""
    taint = Taint(function, names, functions)
    scaled = scaled_names(function)
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and names.dotted(node.func) == "triton.language.swizzle2d" and taint.of(node):
            found.append((f"{shown}:{node.lineno}", ast.unparse(node)))
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        if node.targets[0].id in scaled and any(recombines(e, taint) for e in ast.walk(node.value)):
            found.append((f"{shown}:{node.lineno}", ast.unparse(node)))
        elif calls_remap(node.value, taint, functions, names):
            found.append((f"{shown}:{node.lineno}", ast.unparse(node)))
    return sorted(set(found), key=lambda r: int(r[0].rsplit(":", 1)[1]))


def recombines(node, taint):
    return (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.BitXor, ast.BitOr))
            and taint.of(node.left) == SPLIT and taint.of(node.right) == SPLIT)


def calls_remap(node, taint, functions, names):
    """A call of one of the file's own functions that remaps what it is given."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions):
        return False
    function = functions[node.func.id]
    given = {p.arg: taint.of(a) for p, a in zip(function.args.args, node.args) if taint.of(a)}
    if not given:
        return False
    inside = Taint(function, names, functions, given)
    return any(recombines(e, inside) for e in ast.walk(function))


def scaled_names(function):
    """Names that are multiplied or split somewhere, as indices are and offsets are not."""
    scaled = set()
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.FloorDiv, ast.Mod)):
            for side in (node.left, node.right):
                scaled |= {n.id for n in ast.walk(side) if isinstance(n, ast.Name)}
    return scaled


def loop_start(node, taint):
    """(name of the index, line) of a loop over tiles that begins at the program id."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call):
        called = node.iter.func
        is_range = getattr(called, "id", getattr(called, "attr", "")) == "range"
        if is_range and len(node.iter.args) == 3 and taint.of(node.iter.args[0]):
            return node.target.id, node.lineno
    if isinstance(node, ast.While):
        stepped = {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
        for name in ast.walk(node.test):
            if isinstance(name, ast.Name) and name.id in stepped and taint.level.get(name.id):
                return name.id, node.lineno
    return None
