"""Writes the plain CloudFormation of the template: translate.py TEMPLATE.yaml OUT.json

Needs aws-sam-translator, no account and no network. The code of each function is taken from the bucket `code`, under
the function's name in the template.
"""

import json
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

with open(sys.argv[1], encoding="utf-8") as file:
    template = yaml_parse(file.read())
for name, resource in template["Resources"].items():
    if resource["Type"] == "AWS::Serverless::Function":
        resource["Properties"]["CodeUri"] = f"s3://code/{name}.zip"
# No managed policies: the template brings its own roles, and one that asked for more would fail here.
plain = Translator({}, Parser()).translate(template, {})
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(plain, file, indent=1, default=str)
print(f"{len(plain['Resources'])} resources")
