"""A list of stories and the report on them.

A story is a function with a sentence for a docstring. It passes when it returns, and fails when it raises.
"""

import sys
import time
import traceback


def equal(actual, expected, label=""):
    """Raises unless the two are equal, saying both."""
    if actual != expected:
        raise AssertionError(f"{label}: " * bool(label) + f"expected {expected!r}, got {actual!r}")


def eventually(what, patience_s, label):
    """Waits until `what()` is true, and gives what it gave."""
    end = time.monotonic() + patience_s
    while True:
        given = what()
        if given:
            return given
        if time.monotonic() > end:
            raise AssertionError(f"{label}: not within {patience_s} s")
        time.sleep(0.1)


def tell(stories, *given):
    """Runs the stories in order, prints how each went, and gives how many failed."""
    failed = 0
    for story in stories:
        begun = time.monotonic()
        problem = None
        try:
            story(*given)
        except Exception as caught:  # a story may fail in any way; the others still run
            place = traceback.extract_tb(caught.__traceback__)[1:2]
            line = f" (line {place[0].lineno})" if place else ""
            problem = f"{type(caught).__name__}: {caught}{line}"
            failed += 1
        mark = "FAIL" if problem else "ok  "
        print(f"{mark} {story.__name__}: {story.__doc__} [{time.monotonic() - begun:.1f} s]", flush=True)
        if problem:
            print(f"     {problem[:2000]}", flush=True)
    print(f"{len(stories) - failed} passed, {failed} failed", flush=True)
    return failed


def end(failed):
    """Ends the program: 1 if something failed."""
    sys.exit(1 if failed else 0)
