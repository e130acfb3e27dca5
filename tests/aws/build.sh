#!/usr/bin/env bash
# The template is right, what the READMEs give it is taken, and every function builds for Lambda: all three for x86_64, one for arm64. What is built stays
# in target/ci/build-x86_64 for the other scripts.
cd "$(dirname "$0")/../.."
. tests/aws/common.sh
# cargo-lambda finds zig through the first python3 on PATH.
sam=$(venv sam)
export PATH=$sam/bin:$PATH

# A bootstrap is unpacked at every cold start, and Lambda keeps what is small nearer.
BYTES_MAX=12000000

build() { # ARCHITECTURE [FUNCTION]
  sam build "${@:2}" --build-dir "$work/build-$1" --parameter-overrides "Architecture=$1"
}

# Every line of cfn-lint is a mistake here, its warnings too.
lint() {
  [ -z "$(cfn-lint template.yaml | tee /dev/stderr)" ]
}

small() { # FILE
  local bytes
  bytes=$(stat -c %s "$1") || return 1
  echo "     $bytes bytes: ${1#"$work"/}"
  [ "$bytes" -lt "$BYTES_MAX" ]
}

check "sam takes every parameter that the READMEs give it" "$sam/bin/python" tests/aws/parameters.py
check "sam validate --lint" sam validate --lint
check "cfn-lint without a warning" lint
check "sam build for x86_64" build x86_64
for function in Ingest Processor Sweeper; do
  check "$function stays under $BYTES_MAX bytes" small "$work/build-x86_64/$function/bootstrap"
done
check "sam build of the sweeper for arm64" build arm64 Sweeper
check "Sweeper for arm64 stays under $BYTES_MAX bytes" small "$work/build-arm64/Sweeper/bootstrap"
finish
