"""`python3 -m swizzleperf COMMAND`: what the C++ side asks of Python. Question and answer are JSON
objects on stdin and stdout. The user's modules run in here and may print: stdout is theirs only as
stderr, the real one carries the answer alone."""

import json
import os
import sys
import traceback

from .errors import SwizzlePerfError


def answer_to(command, question):
    if command == "compile":
        from .compile import compile_question

        return compile_question(question)
    if command == "splice":
        from .splice import splice_question

        return splice_question(question)
    if command == "versions":
        from .target import use_target

        return {"triton": use_target("gfx942").__version__}
    raise SwizzlePerfError(f"python3 -m swizzleperf has no command '{command}'; it has: compile, splice, versions")


def main():
    real_stdout = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        if len(sys.argv) != 2:
            raise SwizzlePerfError("usage: python3 -m swizzleperf compile|splice|versions <question.json")
        answer = answer_to(sys.argv[1], json.load(sys.stdin))
    except SwizzlePerfError as error:
        answer = {"error": str(error)}
    except Exception as error:  # a defect here or in Triton: still one sentence
        traceback.print_exc()
        answer = {"error": f"python3 -m swizzleperf {sys.argv[1]}: {type(error).__name__}: {error}"}
    with os.fdopen(real_stdout, "w") as out:
        json.dump(answer, out)
    # Modules that the user's file imported may have started threads.
    out_code = 3 if "error" in answer else 0
    sys.stderr.flush()
    os._exit(out_code)


if __name__ == "__main__":
    main()
