"""The Python interface and the recorder, against the executable."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy
import swizzleperf
import triton.language as tl
from kernels_for_tests import TorchLike, add, kinds, tuned


class Run(unittest.TestCase):
    def test_writes_into_arrays_and_tensors(self):
        x = numpy.arange(1000, dtype=numpy.float32)
        y = TorchLike(numpy.zeros(1000, numpy.float32))
        swizzleperf.run(add, lambda meta: (-(-1000 // meta["BLOCK"]),), x, y, 1000, 0.5, BLOCK=128)
        numpy.testing.assert_array_equal(y.array, x + 0.5)

    def test_the_chosen_configuration_and_heuristics(self):
        for config, block in ((0, 64), (1, 256)):
            for n in (512, 500):
                x = numpy.zeros(n, numpy.int32)
                swizzleperf.run(tuned, lambda meta: (-(-n // meta["BLOCK"]),), x, n, config=config)
                expected = numpy.arange(n) // block * 1000 + block + (1 if n % block == 0 else 2)
                numpy.testing.assert_array_equal(x, expected)

    def test_values_of_all_kinds(self):
        x = numpy.zeros(1, numpy.float32)
        swizzleperf.run(kinds, 1, x, None, True, WORD="twice", TYPE=tl.float16)
        self.assertEqual(x[0], 113)
        swizzleperf.run(kinds, 1, x, 3, False, WORD="once", TYPE=tl.float8e5)
        self.assertEqual(x[0], 1.5)

    def test_refuses_in_one_sentence(self):
        x = numpy.zeros((4, 4), numpy.float32)
        for words, call in (
            ("'x_ptr' is not contiguous", lambda: swizzleperf.run(add, 1, x.T[1:, 1:], x, 4, 1.0, BLOCK=64)),
            ("parameter 'amount' of add is missing", lambda: swizzleperf.run(add, 1, x, x, 4, BLOCK=64)),
            ("is not a @triton.jit function", lambda: swizzleperf.run(len, 1)),
            ("unknown machine 'mi3'", lambda: swizzleperf.simulate(add, 1, x, x, 4, 1.0, BLOCK=64, machine="mi3")),
            ("past the end of", lambda: swizzleperf.run(add, 1, x, x, 64, 1.0, BLOCK=64)),
        ):
            with self.assertRaises(swizzleperf.SwizzlePerfError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


class Specs(unittest.TestCase):
    def test_a_product_of_matrices_on_both_architectures(self):
        spec = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../kernels/gemm/gemm.toml")
        for machine in ("mi300x", "mi355x"):
            before, after = swizzleperf.run_spec(spec, machine=machine, M=129, N=77, K=130)
            expected = before["a_ptr"].astype(numpy.float64) @ before["b_ptr"].astype(numpy.float64)
            numpy.testing.assert_allclose(after["c_ptr"], expected, atol=1e-2)


class Scripts(unittest.TestCase):
    """A file that launches at its top level, without a guard, is imported for its kernel all the same."""

    TEXT = """import numpy, swizzleperf, triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr + tl.program_id(0), 7)


x = numpy.zeros(3, numpy.int32)
swizzleperf.run(kernel, 3, x)
print(x)


@triton.jit
def later(x_ptr):
    tl.store(x_ptr, 8)


swizzleperf.run(later, 1, x)
"""

    def test_without_a_guard(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w") as out:
                out.write(self.TEXT)
            done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.stdout, "[7 7 7]\n", done.stderr)
            self.assertIn("has no @triton.jit function 'later'; it has: kernel (its import ended at", done.stderr)
            self.assertIn("script.py:11, where it launches a kernel)", done.stderr)


class Ask(unittest.TestCase):
    def test_simulate_and_optimize_a_description(self):
        with tempfile.TemporaryDirectory() as folder:
            x, y = (swizzleperf.Tensor((1 << 16,), "float32", init="normal") for _ in range(2))
            rows = swizzleperf.simulate(add, 512, x, y, 1 << 16, 1.0, swizzles=["die-contiguous"], BLOCK=128)["results"]
            self.assertEqual([row["swizzle"] for row in rows], ["identity", "die-contiguous"])
            result = swizzleperf.optimize(add, 512, x, y, 1 << 16, 1.0, BLOCK=128, run_dir=os.path.join(folder, "run"))
            self.assertEqual(result["verdict"]["decision"], "keep the identity")
            self.assertTrue(os.path.exists(os.path.join(result["run_dir"], "result.json")))


class Record(unittest.TestCase):
    SCRIPT = """import sys
import numpy
from kernels_for_tests import TorchLike, add, tuned
from triton.runtime import driver
n = int(sys.argv[1])
x = TorchLike(numpy.arange(n, dtype=numpy.float32))
y = TorchLike(numpy.zeros(n, numpy.float32))
for repetition in range(3):
    add[(-(-n // 64),)](x, y, n, 2.0, BLOCK=64)
z = TorchLike(numpy.zeros(n, numpy.int32))
tuned[lambda meta: (-(-n // meta["BLOCK"]),)](z, n)
print("sum", y.array.sum() - x.array.sum(), z.array[0])
"""

    def record(self, folder, *options):
        script = os.path.join(folder, "script.py")
        with open(script, "w") as out:
            out.write(self.SCRIPT)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], os.getcwd()])}
        command = [sys.executable, "-m", "swizzleperf.record", "-o", os.path.join(folder, "specs"), *options, script, "1000"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def test_each_launch_once_as_a_spec(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.record(folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("4 launches, 2 specs", done.stderr)
            self.assertIn("configuration 0 of 2 was taken (BLOCK=64", done.stderr)
            before, after = swizzleperf.run_spec(os.path.join(folder, "specs", "add-0.toml"))
            numpy.testing.assert_array_equal(after["y_ptr"], before["x_ptr"] + 2)
            _, after = swizzleperf.run_spec(os.path.join(folder, "specs", "tuned-0.toml"))
            self.assertEqual(after["x_ptr"][64], 1066)

    def test_a_script_that_wants_arguments_gives_its_kernel(self):
        """Compiling a recorded kernel imports the script once more, without its arguments."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "wants.py")
            with open(script, "w") as out:
                out.write("import argparse, triton\nimport triton.language as tl\n"
                          "@triton.jit\ndef fill(p):\n    tl.store(p + tl.program_id(0), 7)\n"
                          "parser = argparse.ArgumentParser()\nparser.add_argument('--n', required=True)\n"
                          "n = int(parser.parse_args().n)\n")
            with open(os.path.join(folder, "fill.toml"), "w") as out:
                out.write('kernel = "wants.py"\nfunction = "fill"\ngrid = 3\n'
                          '[[arguments]]\nname = "p"\ndtype = "int32"\nshape = [3]\n')
            _, after = swizzleperf.run_spec(os.path.join(folder, "fill.toml"))
            numpy.testing.assert_array_equal(after["p"], [7, 7, 7])

    def test_with_results_from_the_virtual_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.record(folder, "--run")
            self.assertEqual(done.stdout, "sum 2000.0 66\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
