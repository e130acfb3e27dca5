"""The whole stack on an emulator of AWS (ministack), with the release builds of the functions and stand-ins for the world.

ministack runs the real bootstraps behind real event source mappings. What it lacks: its HTTP API has no routes (the
function is invoked with the gateway's event instead), it asks for no permissions, it takes one batch of a FIFO queue at
a time, it ignores a template's PITR and TTL, and it takes numbers of a template for text (see `_mend_mappings`).
"""

import base64
import io
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import zipfile

import botocore.session
from botocore.config import Config

from report import eventually
from standins import Graph, Model

STACK = "recado"
APP_SECRET = "0123456789abcdef0123456789abcdef"
TOKEN = "token-for-tests"
MODEL_KEY = "key-for-tests"


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Emulator:
    """ministack on a port of its own; its output goes to a file."""

    def __init__(self, log):
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RECADO_"))},
            "GATEWAY_PORT": str(port),
            # The functions inherit it: their SDK then speaks to ministack.
            "AWS_ENDPOINT_URL": self.url,
            "LAMBDA_EXECUTOR": "local",
            "LOG_LEVEL": "INFO",
        }
        self.log = open(log, "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ministack"], env=environment, stdout=self.log, stderr=subprocess.STDOUT
        )
        eventually(self._is_up, 60, "ministack starts")

    def _is_up(self):
        if self.process.poll() is not None:
            raise AssertionError(f"ministack ended; see {self.log.name}")
        try:
            self.client("sqs").list_queues()
            return True
        except Exception:
            return False

    def client(self, service):
        return botocore.session.get_session().create_client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}, read_timeout=150),
        )

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


class Stack:
    """The created stack and the ways to it."""

    def __init__(self, emulator, plain, builds):
        self.emulator = emulator
        self.model, self.graph = Model(), Graph()
        self.model.key, self.graph.key = MODEL_KEY, TOKEN
        for service in ("cloudformation", "dynamodb", "events", "lambda", "logs", "s3", "secretsmanager", "sqs"):
            setattr(self, service if service != "lambda" else "functions", emulator.client(service))
        self._upload(pathlib.Path(builds))
        self._create(pathlib.Path(plain).read_text(encoding="utf-8"))

    def _upload(self, builds):
        self.s3.create_bucket(Bucket="code")
        for name in ("Ingest", "Processor", "Sweeper"):
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(builds / name / "bootstrap", "bootstrap")
            self.s3.put_object(Bucket="code", Key=f"{name}.zip", Body=packed.getvalue())

    def _create(self, plain):
        parameters = {
            "Architecture": "x86_64",
            "ModelBaseUrl": self.model.url,
            "GraphUrl": self.graph.url,
            "LogLevel": "info",
        }
        self.cloudformation.create_stack(
            StackName=STACK,
            TemplateBody=plain,
            Capabilities=["CAPABILITY_IAM"],
            Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
        )

        def done():
            state = self.cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]
            if state["StackStatus"] == "CREATE_IN_PROGRESS":
                return None
            if state["StackStatus"] != "CREATE_COMPLETE":
                events = self.cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
                reasons = [event.get("ResourceStatusReason") for event in events]
                raise AssertionError(f"{state['StackStatus']}: {[r for r in reasons if r]}")
            return state

        state = eventually(done, 60, "the stack is created")
        self.outputs = {one["OutputKey"]: one["OutputValue"] for one in state.get("Outputs", [])}
        resources = self.cloudformation.describe_stack_resources(StackName=STACK)["StackResources"]
        self.resources = {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in resources}
        self._mend_mappings()

    def _mend_mappings(self):
        """ministack keeps a template's number as text and then compares it with a number."""
        for mapping in self.functions.list_event_source_mappings()["EventSourceMappings"]:
            concurrency = int(mapping["ScalingConfig"]["MaximumConcurrency"])
            self.functions.update_event_source_mapping(
                UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": concurrency}
            )

    # The secret.

    def secret(self):
        return json.loads(self.secretsmanager.get_secret_value(SecretId=self.outputs["SecretArn"])["SecretString"])

    def put_secret(self, **keys):
        text = json.dumps({**self.secret(), **keys})
        self.secretsmanager.put_secret_value(SecretId=self.outputs["SecretArn"], SecretString=text)

    # The functions.

    def invoke(self, function, event):
        """What the function answered, and what it logged: a list of lines, each read from its JSON."""
        answer = self.functions.invoke(
            FunctionName=self.resources[function], Payload=json.dumps(event).encode(), LogType="Tail"
        )
        log = base64.b64decode(answer.get("LogResult", "")).decode()
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        return json.loads(answer["Payload"].read()), lines

    def webhook(self, event):
        """The status that ingest answers, and the lines it logged as errors."""
        answer, lines = self.invoke("Ingest", event)
        return answer.get("statusCode"), [line for line in lines if line["level"] == "ERROR"]

    def configure(self, function, timeout=None, **variables):
        """Sets variables (None restores what the stack gave), and the timeout. Gives a way back."""
        name = self.resources[function]
        before = self.functions.get_function_configuration(FunctionName=name)
        was = before["Environment"]["Variables"]
        options = {"Timeout": timeout or before["Timeout"]}
        self.functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": {**was, **variables}}, **options
        )
        return lambda: self.functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": was}, Timeout=before["Timeout"]
        )

    def kill(self, function):
        """Kills the processes of a function, as a crash of its machine would."""
        marker = f"AWS_LAMBDA_FUNCTION_NAME={self.resources[function]}\0".encode()
        killed = 0
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                is_ours = (entry / "comm").read_text() == "bootstrap\n" and marker in (entry / "environ").read_bytes()
                endpoint = f"AWS_ENDPOINT_URL={self.emulator.url}\0".encode()
                if is_ours and endpoint in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
                    killed += 1
            except (FileNotFoundError, PermissionError, ProcessLookupError):
                continue
        return killed

    def calls_of(self, word):
        """The calls of the model for an answer to a message that holds this word (no compactions)."""
        return self.model.of(word)

    def sends_to(self, phone):
        return [request for request in self.graph.requests if request.get("to") == phone]

    def settle(self, seconds):
        """Waits long enough for something that must not happen."""
        time.sleep(seconds)
