#!/usr/bin/env bash
# The stack on an independent emulator of AWS, with the functions that build.sh built: turns, crashes and failures.
cd "$(dirname "$0")/../.."
. tests/aws/common.sh
sam=$(venv sam)
ministack=$(venv ministack)
"$sam/bin/python" tests/aws/translate.py template.yaml "$work/stack.json"
"$ministack/bin/python" tests/aws/stories.py "$work/stack.json" "$work/build-x86_64" "$work/ministack.log"
