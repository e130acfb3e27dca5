"""Holds our golden requests to Anthropic against the types of Anthropic's own Python client.

A field that the types do not know is dropped by the validation, so what comes out has to equal what went in.
"""

import json
import pathlib
import sys

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter, ValidationError


def whole(value):
    """Lists are validated one by one while they are read: reads them all."""
    if isinstance(value, dict):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    return [whole(inner) for inner in value]


def mistake(adapter, request):
    """What the types say against a request, or None."""
    try:
        taken = whole(adapter.validate_python(request, strict=True))
    except ValidationError as error:
        return str(error)
    return None if taken == request else f"fields that the types do not know: {taken}"


def main():
    folder = pathlib.Path(sys.argv[1])
    text = (folder / "model_requests__golden__anthropic.snap").read_text(encoding="utf-8")
    requests = json.loads(text.split("---\n", 2)[2])
    adapter = TypeAdapter(MessageCreateParamsNonStreaming)
    failures = 0
    for shape, request in requests.items():
        wrong = mistake(adapter, request)
        if wrong:
            failures += 1
            print(f"{shape}: {wrong}")
    # It does look: into fields, roles and blocks.
    first = requests["the first message ever"]
    for label, change in [
        ("an unknown field", {"stop": "x"}),
        ("no messages", {"messages": None}),
        ("a role", {"messages": [{"role": "narrator", "content": "x"}]}),
        ("a block", {"messages": [{"role": "user", "content": [{"type": "words", "text": "x"}]}]}),
    ]:
        if mistake(adapter, {**first, **change}) is None:
            failures += 1
            print(f"{label} is not noticed")
    print(f"{len(requests)} requests keep to the types of Anthropic's client, {failures} mistakes")
    return 1 if failures or len(requests) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
