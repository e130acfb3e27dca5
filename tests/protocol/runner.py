"""What both check scripts share: clients, a list of checks, and the report.

A check is a function with a sentence for a docstring. It passes when it returns, and fails when it raises.
"""

import argparse
import sys
import time
import traceback
from contextlib import contextmanager

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

CHECKS = []

arguments = argparse.ArgumentParser()
arguments.add_argument("endpoint", help="URL of the endpoint to check")
arguments.add_argument(
    "--without", nargs="+", default=[], metavar="CHECK", help="checks to leave out, by the name of their function"
)
chosen = arguments.parse_args()


def check(function):
    """Adds a check to the list."""
    CHECKS.append(function)
    return function


def client(service):
    """A client of the service at the endpoint: one try a call, so that nothing is smoothed over."""
    return boto3.client(
        service,
        endpoint_url=chosen.endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=64, read_timeout=30),
    )


def equal(actual, expected, label=""):
    """Raises unless the two are equal, saying both."""
    if actual != expected:
        raise AssertionError(f"{label}: " * bool(label) + f"expected {expected!r}, got {actual!r}")


def between(seconds, least, most):
    """Raises unless a time lies within its bounds."""
    if not least <= seconds <= most:
        raise AssertionError(f"took {seconds:.2f} s, expected {least} to {most} s")


@contextmanager
def refused(code, label=""):
    """Raises unless the block is refused with this error code; gives the error, which is filled in afterwards."""
    error = {}
    try:
        yield error
    except ClientError as caught:
        error.update(caught.response)
        equal(caught.response["Error"]["Code"], code, label)
    else:
        raise AssertionError(f"{label}: " * bool(label) + f"accepted, expected {code}")


def run():
    """Runs the checks in order and ends the program: 1 if one failed."""
    unknown = set(chosen.without) - {function.__name__ for function in CHECKS}
    if unknown:
        sys.exit(f"no such check: {', '.join(sorted(unknown))}")
    passed = failed = 0
    for function in CHECKS:
        if function.__name__ in chosen.without:
            print(f"left {function.__name__}: {function.__doc__}")
            continue
        begun = time.monotonic()
        problem = None
        try:
            function()
        except Exception as caught:  # a check may fail in any way; the others still run
            place = traceback.extract_tb(caught.__traceback__)[1:2]
            line = f" (line {place[0].lineno})" if place else ""
            problem = f"{type(caught).__name__}: {caught}{line}"
        passed, failed = passed + (problem is None), failed + (problem is not None)
        mark = "ok  " if problem is None else "FAIL"
        print(f"{mark} {function.__name__}: {function.__doc__} [{time.monotonic() - begun:.1f} s]", flush=True)
        if problem:
            print(f"     {problem[:500]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
