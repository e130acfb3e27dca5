"""Every `--parameter-overrides` of both READMEs, read by sam's own parser: each is taken, and names parameters of the
template with values that the template allows."""

import pathlib
import re
import shlex
import sys

from samcli.cli.types import CfnParameterOverridesType
from samcli.yamlhelper import yaml_parse

FLAG = "--parameter-overrides"
# `Model=""` unquoted reaches sam as `Model=`, which it refuses.
EMPTY = f"sam deploy {FLAG} 'Model=\"\"'"


def commands(text):
    """What stands in code and holds the flag, a call of sam each."""
    prose, code = [], []
    is_open = False
    for line in text.splitlines():
        if line.strip().startswith("```"):
            is_open = not is_open
        else:
            (code if is_open else prose).append(line)
    spans = re.findall(r"`([^`]+)`", " ".join(prose))
    return [call for line in [*code, *spans] for call in line.split("&&") if FLAG in call and "sam " in call]


def overrides(call):
    """What the parser makes of a call's parameters."""
    words = shlex.split(call, comments=True)
    values = words[words.index(FLAG) + 1 :]
    return CfnParameterOverridesType().convert(tuple(values), None, None)


def main():
    parameters = yaml_parse(pathlib.Path("template.yaml").read_text(encoding="utf-8"))["Parameters"]
    for name in ["README.md", "README.pt-BR.md"]:
        found = commands(pathlib.Path(name).read_text(encoding="utf-8"))
        if EMPTY not in found or len(found) < 4:
            sys.exit(f"{name}: {found}")
        for call in found:
            for key, value in overrides(call).items():
                rule = parameters[key]
                if not re.search(rule.get("AllowedPattern", ""), value) or value not in rule.get("AllowedValues", [value]):
                    sys.exit(f"{name}: {call}: {key} may not be {value!r}")
        if overrides(EMPTY) != {"Model": ""}:
            sys.exit(f"{EMPTY} gives {overrides(EMPTY)}")


main()
