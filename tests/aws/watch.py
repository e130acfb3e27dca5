"""Functions under `cargo lambda watch`, as a developer runs them: watch.py RECADO WORK_FOLDER

The local AWS polls and invokes; a stand-in of the Graph API is the phone; the demo model answers.
"""

import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import report
import webhook
from report import equal, eventually
from standins import Graph

SECRET = "0" * 32
# The first call of each function compiles it.
COMPILE_S = 900


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Watched:
    """`recado aws --watch` and `cargo lambda watch`, each with its output in a file."""

    def __init__(self, recado, work):
        port, self.graph = free_port(), Graph()
        self.graph.key = "local"
        self.url = f"http://127.0.0.1:{port}"
        self.processes = []
        environment = {n: v for n, v in os.environ.items() if not n.startswith(("AWS_", "RECADO_"))}
        log = self.start([recado, "aws", "--port", "0", "--watch", self.url], environment, work / "watch-aws.log")
        text = eventually(lambda: exports(log), 30, "recado aws says what to export")
        environment |= text | {"RECADO_META_GRAPH_URL": self.graph.url}
        command = ["cargo", "lambda", "watch", "--invoke-address", "127.0.0.1", "--invoke-port", str(port)]
        self.log = self.start([*command, "--ignore-changes"], environment, work / "watch.log")

    def start(self, command, environment, log):
        with open(log, "w", encoding="utf-8") as output:
            self.processes.append(
                subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            )
        return log

    def stop(self):
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)

    def request(self, path, raw=None, headers=None):
        """Status and text of an answer; (0, "") while nothing listens."""
        request = urllib.request.Request(self.url + path, data=raw, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=COMPILE_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return 0, ""

    def invoke(self, function, event):
        path = f"/2015-03-31/functions/{function}/invocations"
        return self.request(path, json.dumps(event).encode(), {"content-type": "application/json"})

    def post(self, raw, secret=SECRET):
        headers = {"content-type": "application/json", "x-hub-signature-256": webhook.signature(secret, raw)}
        return self.request("/lambda-url/ingest/webhook/meta", raw, headers)


def exports(log):
    """The variables that the program says to export; none before it said all."""
    text = pathlib.Path(log).read_text(encoding="utf-8")
    if "RECADO_MODEL=" not in text:
        return None
    lines = re.findall(r"^ +export (.*)$", text, re.MULTILINE)
    return dict(pair.split("=", 1) for line in lines for pair in shlex.split(line))


def every_function_is_built_and_answers(watched):
    """The handshake by HTTP, an empty batch and a sweep by Invoke."""
    handshake = "/lambda-url/ingest/webhook/meta?hub.mode=subscribe&hub.challenge=7&hub.verify_token=local"
    eventually(lambda: watched.request(handshake)[0] != 0, COMPILE_S, "cargo lambda watch answers")
    equal(watched.request(handshake), (200, "7"))
    equal(watched.invoke("processor", {"Records": []}), (200, '{"batchItemFailures":[]}'))
    equal(watched.invoke("sweeper", {}), (200, "null"))


def a_signed_burst_is_answered_once(watched):
    """Two webhooks, one reply at the phone."""
    for number, text in enumerate(["queria um horário", "amanhã cedo"]):
        status, answer = watched.post(webhook.body("5511900000031", f"wamid.watch{number}", text))
        equal(status, 200, answer)
    eventually(lambda: watched.graph.requests, 60, "a reply")
    time.sleep(8)
    equal(len(watched.graph.requests), 1, "replies")
    equal(watched.graph.requests[0]["to"], "5511900000031")


def a_wrong_signature_is_refused(watched):
    """401 over HTTP."""
    status, _ = watched.post(webhook.body("5511900000032", "wamid.forged", "oi"), "another secret")
    equal(status, 401)


def main():
    watched = Watched(sys.argv[1], pathlib.Path(sys.argv[2]))
    failed = 1
    try:
        stories = [every_function_is_built_and_answers, a_signed_burst_is_answered_once, a_wrong_signature_is_refused]
        failed = report.tell(stories, watched)
    finally:
        watched.stop()
    report.end(failed)


if __name__ == "__main__":
    main()
