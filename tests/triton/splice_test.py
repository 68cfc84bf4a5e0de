"""Where a formula is put into a Triton source, what is recognised, what is refused; without Triton."""

import os
import tempfile
import unittest

from swizzleperf.errors import SwizzlePerfError
from swizzleperf.splice import splice_question

HEAD = "import triton\nimport triton.language as tl\n\n\n"


def splice(text, kernel="kernel"):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.py")
        with open(file, "wb") as out:
            out.write(text.encode())
        answer = splice_question({"source": file, "shown": "k.py", "kernel": kernel, "function": "swizzleperf_block",
                                  "helper_code": "HELPER\n"})
    patched = text.encode()
    for edit in reversed(answer["edits"]):
        patched = patched[: edit["begin"]] + edit["text"].encode() + patched[edit["end"] :]
    answer["patched"] = patched.decode()
    return answer


class Rewrite(unittest.TestCase):
    def test_one_axis_keeps_names_and_everything_else(self):
        text = HEAD + "@triton.jit\ndef kernel(x):\n    \"\"\"Words.\"\"\"\n    # ä comment\n    pid = tl.program_id(0)  # who\n    y = pid\n"
        self.assertEqual(splice(text)["patched"], HEAD + """HELPER


@triton.jit
def kernel(x):
    \"\"\"Words.\"\"\"
    # ä comment
    block_x, block_y, block_z = swizzleperf_block(
        tl.program_id(0), tl.program_id(1), tl.program_id(2),
        tl.num_programs(0), tl.num_programs(1), tl.num_programs(2))
    pid = block_x  # who
    y = pid
""")

    def test_three_axes_nested_and_by_keyword(self):
        answer = splice(HEAD + "@triton.jit\ndef kernel(x):\n    if x:\n        a = f(tl.program_id(axis=2), 'ü', tl.program_id(1))\n    b = tl.program_id(0)\n")
        self.assertIn("a = f(block_z, 'ü', block_y)\n    b = block_x\n", answer["patched"])
        self.assertIn("def kernel(x):\n    block_x, ", answer["patched"])
        self.assertEqual(answer["changed"], ["k.py:8: tl.program_id(2)", "k.py:8: tl.program_id(1)", "k.py:9: tl.program_id(0)"])

    def test_decorators_stay_on_their_kernel(self):
        answer = splice(HEAD + "@triton.autotune(configs=[], key=[])\n@triton.jit\ndef kernel(x):\n    pid = tl.program_id(0)\n")
        self.assertIn("HELPER\n\n\n@triton.autotune(configs=[], key=[])\n@triton.jit\ndef kernel", answer["patched"])

    def test_other_names_for_triton(self):
        answer = splice("from triton import jit, language as L\n\n\n@jit\ndef kernel(x):\n    pid = L.program_id(0)\n")
        self.assertIn("import triton\nimport triton.language as tl\n\n\nHELPER", answer["patched"])
        self.assertIn("L.program_id(0), L.program_id(1)", answer["patched"])

    def test_taken_names_are_avoided(self):
        answer = splice(HEAD + "@triton.jit\ndef kernel(block_x):\n    pid = tl.program_id(0) + block_x\n")
        self.assertIn("pid = swizzled_block_x + block_x", answer["patched"])

    def test_device_functions_read_the_same_block(self):
        answer = splice(HEAD + "@triton.jit\ndef place(n):\n    return tl.program_id(1) * n\n\n\n@triton.jit\ndef kernel(x):\n    a = place(3) + tl.program_id(0)\n")
        self.assertEqual(answer["patched"].count("= swizzleperf_block("), 2)
        self.assertLess(answer["patched"].index("HELPER"), answer["patched"].index("def place"))
        self.assertIn("return block_y * n", answer["patched"])

    def test_imported_functions_are_named(self):
        answer = splice(HEAD + "from other import place\n\n\n@triton.jit\ndef kernel(x):\n    a = place(tl.program_id(0))\n")
        self.assertIn("place is not defined in this file", answer["notes"][0])


class Recognise(unittest.TestCase):
    def remaps(self, body, before=""):
        return [r["where"] for r in splice(HEAD + before + "@triton.jit\ndef kernel(x, M, N, G: tl.constexpr):\n    pid = tl.program_id(0)\n" + body)["remaps"]]

    def test_grouping(self):
        self.assertEqual(self.remaps("    n = G * N\n    g = pid // n\n    first = g * G\n    h = min(M - first, G)\n    pm = first + ((pid % n) % h)\n    pn = (pid % n) // h\n    a = pm * 128 + pn * 128\n"), ["k.py:12"])

    def test_die_step(self):
        self.assertEqual(self.remaps("    pid = (pid % 8) * (N // 8) + pid // 8\n    a = pid * 128\n"), ["k.py:8"])
        self.assertEqual(self.remaps("    xcd = pid % 8\n    turn = pid // 8\n    pid = xcd * G + turn\n    m = pid // N\n"), ["k.py:10"])

    def test_in_a_function(self):
        helper = "@triton.jit\ndef remap(p, n):\n    return (p % 8) * (n // 8) + p // 8\n\n\n"
        self.assertEqual(self.remaps("    pid = remap(pid, N)\n", helper), ["k.py:13"])

    def test_swizzle2d(self):
        self.assertEqual(self.remaps("    m, n = tl.swizzle2d(pid // N, pid % N, M, N, G)\n"), ["k.py:8"])

    def test_decoding_is_no_remap(self):
        self.assertEqual(self.remaps("    m = pid // N\n    n = pid % N\n    o = m * 128 * N + n * 128 + tl.arange(0, 128)\n    tl.store(x + o, 1)\n"), [])
        self.assertEqual(self.remaps("    z = pid // (M * N)\n    r = pid % (M * N)\n    m = r // N\n    n = r % N\n    kv = z * M + m // G\n    o = kv * 64\n"), [])

    def test_persistent_loops(self):
        for loop in ("for tile in range(pid, M * N, tl.num_programs(0)):\n        a = tile", "for tile in tl.range(pid, M, N):\n        a = tile",
                     "tile = pid\n    while tile < M:\n        tile += N"):
            notes = splice(HEAD + "@triton.jit\ndef kernel(x, M, N):\n    pid = tl.program_id(0)\n    " + loop + "\n")["notes"]
            self.assertEqual(len(notes), 1, loop)
            self.assertIn("a persistent loop: a program goes through values of 'tile'", notes[0])
        self.assertEqual(splice(HEAD + "@triton.jit\ndef kernel(x, M):\n    pid = tl.program_id(0)\n    for k in range(0, M, 4):\n        a = k + pid\n")["notes"], [])


class Refuse(unittest.TestCase):
    def refused(self, text, words, kernel="kernel"):
        with self.assertRaises(SwizzlePerfError) as caught:
            splice(text, kernel)
        self.assertIn(words, str(caught.exception))

    def test_by_name_and_line(self):
        jit = HEAD + "@triton.jit\ndef kernel(x, A: tl.constexpr):\n"
        self.refused(jit + "    pid = tl.program_id(A)\n", "k.py:7: tl.program_id with an axis that is not written as 0, 1 or 2")
        self.refused(jit + "    f = tl.program_id\n    pid = f(0) + tl.program_id(0)\n", "k.py:7: tl.program_id is taken as a value")
        self.refused(jit + "    y = x\n", "k.py:6: kernel never reads tl.program_id")
        self.refused(HEAD + "@triton.jit\ndef kernel(x): y = tl.program_id(0)\n", "k.py:6: the body of kernel begins on the line of its def")
        self.refused(jit + "    pid = tl.program_id(0)\n", "k.py: other is not defined at the top level", "other")
        self.refused(jit + "    pid = (\n", "k.py:7: ")
        self.refused(HEAD + "swizzleperf_block = 1\n\n\n" + "@triton.jit\ndef kernel(x):\n    pid = tl.program_id(0)\n", "k.py:5: swizzleperf_block is already here")
        self.refused("import triton as T\ntl = 3\n\n\n@T.jit\ndef kernel(x):\n    pid = T.language.program_id(0)\n", "k.py:6: the name tl means something else")

    def test_a_function_that_another_kernel_uses_too(self):
        shared = HEAD + "@triton.jit\ndef place():\n    return tl.program_id(0)\n\n\n@triton.jit\ndef kernel(x):\n    a = place()\n\n\n@triton.jit\ndef other(x):\n    a = place()\n"
        self.refused(shared, "k.py:6: place reads tl.program_id for other as well as for kernel")

    def test_patched_twice(self):
        once = splice(HEAD + "@triton.jit\ndef kernel(x):\n    pid = tl.program_id(0)\n")["patched"].replace("HELPER", "")
        self.refused(once, "swizzleperf_block is already here")


if __name__ == "__main__":
    unittest.main()
