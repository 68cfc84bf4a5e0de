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
        remaps = [r for f in reached for r in find_remaps(f, self.names, self.functions, self.shown)]
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
                f"{self.shown}:{line}: a persistent loop: a program goes through values of '{index}' from its program id "
                f"on. The program id is what is remapped: which program has which tiles; how tiles are numbered by "
                f"'{index}' stays as it is."
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

# What a scalar is made of: the program id as it is or scaled, a quotient or a remainder of it, a
# remainder of a remainder.
ID, QUOTIENT, REMAINDER, AGAIN = "id", "quotient", "remainder", "remainder of a remainder"
PARTS = {QUOTIENT, REMAINDER}
NOTHING = frozenset()

# Functions of scalars that leave an index an index.
PLAIN = {"min", "max", "abs", "int"} | {f"triton.language.{n}" for n in ("minimum", "maximum", "where", "cast", "cdiv")}


class Taint:
    """Which names carry the program id, found by passing over the assignments until nothing changes."""

    def __init__(self, function, names, functions, arguments=None):
        self.names = names
        self.functions = functions
        self.made_of = dict(arguments or {})
        assignments = [n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AugAssign, ast.For))]
        for _ in range(len(assignments) + 1):
            before = dict(self.made_of)
            for node in assignments:
                self.assign(node)
            if self.made_of == before:
                break

    def assign(self, node):
        if isinstance(node, ast.For):
            # The index of a loop from the program id on.
            arguments = node.iter.args if isinstance(node.iter, ast.Call) else []
            return self.add(node.target, self.of(arguments[0]) if len(arguments) > 1 else NOTHING)
        if isinstance(node, ast.AugAssign):
            return self.add(node.target, self.of(node.value))
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for t, v in zip(target.elts, node.value.elts):
                    self.add(t, self.of(v))
            else:
                for t in target.elts if isinstance(target, ast.Tuple) else [target]:
                    self.add(t, self.of(node.value))

    def add(self, target, parts):
        if isinstance(target, ast.Name) and parts:
            self.made_of[target.id] = self.made_of.get(target.id, NOTHING) | parts

    def of(self, node):
        if isinstance(node, ast.Name):
            return self.made_of.get(node.id, NOTHING)
        if isinstance(node, ast.Call):
            return self.of_call(node)
        if isinstance(node, ast.BinOp):
            left, right = self.of(node.left), self.of(node.right)
            if left and isinstance(node.op, (ast.FloorDiv, ast.RShift)):
                return frozenset({QUOTIENT})
            if left and isinstance(node.op, (ast.Mod, ast.BitAnd)):
                return frozenset({REMAINDER, AGAIN} if REMAINDER in left else {REMAINDER})
            return left | right
        if isinstance(node, ast.IfExp):
            return self.of(node.body) | self.of(node.orelse)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        return NOTHING

    def of_call(self, node):
        if self.names.is_program_id(node.func):
            return frozenset({ID})
        given = frozenset().union(*[self.of(a) for a in node.args])
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            return frozenset(PARTS) if given else NOTHING
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            return self.of(node.func.value)
        called = self.names.dotted(node.func) or getattr(node.func, "id", None)
        return given if called in PLAIN else NOTHING  # tl.arange, tl.load, ...: no index any more


def find_remaps(function, names, functions, shown, arguments=None):
    """Arithmetic that puts quotients and remainders of the program id together again to a new index.

    Splitting an index into coordinates is no remap, and neither is the offset that is made of
    coordinates. A sum of two parts counts when it is then scaled or split as an index is, and
    - it takes a remainder of a remainder, as grouping does, or
    - it scales the remainder and adds the quotient, which turns the order around, or
    - it is split again."""
    taint = Taint(function, names, functions, arguments)
    scaled, split = scaled_names(function)
    found = []

    def say(node):
        found.append((f"{shown}:{node.lineno}", ast.unparse(node)))

    for node in ast.walk(function):
        if isinstance(node, ast.Return) and arguments and node.value is not None:
            if any(recombines(e, taint, True) for e in ast.walk(node.value)):
                say(node)
        if not isinstance(node, ast.Assign):
            continue
        called = node.value if isinstance(node.value, ast.Call) else None
        if called is not None and names.dotted(called.func) == "triton.language.swizzle2d" and any(
            taint.of(a) for a in called.args
        ):
            say(node)
        if called is not None and isinstance(called.func, ast.Name) and called.func.id in functions:
            inner = functions[called.func.id]
            given = {p.arg: taint.of(a) for p, a in zip(inner.args.args, called.args) if taint.of(a)}
            if given and inner is not function and find_remaps(inner, names, functions, shown, given):
                say(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in scaled:
            if any(recombines(e, taint, target.id in split) for e in ast.walk(node.value)):
                say(node)
    return sorted(set(found), key=lambda r: int(r[0].rsplit(":", 1)[1]))


def recombines(node, taint, split_again):
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.BitXor, ast.BitOr))):
        return False
    left, right = taint.of(node.left), taint.of(node.right)
    if not (left & PARTS and right & PARTS):
        return False
    turned = any(scales(a) and REMAINDER in x and QUOTIENT not in x and QUOTIENT in y
                 for a, x, y in ((node.left, left, right), (node.right, right, left)))
    return split_again or turned or AGAIN in left | right


def scales(node):
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.LShift))


def scaled_names(function):
    """Names that are multiplied somewhere, or split, as indices are and offsets are not; and those split."""
    scaled, split = set(), set()
    for node in ast.walk(function):
        if not isinstance(node, ast.BinOp):
            continue
        if isinstance(node.op, ast.Mult):
            for side in (node.left, node.right):
                scaled |= {n.id for n in ast.walk(side) if isinstance(n, ast.Name)}
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            split |= {n.id for n in ast.walk(node.left) if isinstance(n, ast.Name)}
    return scaled | split, split


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
            if isinstance(name, ast.Name) and name.id in stepped and taint.made_of.get(name.id):
                return name.id, node.lineno
    return None
