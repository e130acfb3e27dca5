# What the scripts of this folder share. Sourced, from the top of the repository.
set -euo pipefail
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TERM_COLOR=never SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=${AWS_DEFAULT_REGION:-us-east-1}
work=$CARGO_TARGET_DIR/ci
mkdir -p "$work"

# venv NAME: a Python environment that holds exactly what requirements-NAME.txt says; gives its folder.
venv() {
  local folder=$work/$1 requirements=tests/aws/requirements-$1.txt
  if ! { [ -f "$folder/installed" ] && cmp -s "$requirements" "$folder/installed"; }; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --requirement "$requirements"
    cp "$requirements" "$folder/installed"
  fi
  echo "$folder"
}

passed=0 failed=0

# check WORDS COMMAND...: runs it and counts how it went.
check() {
  local words=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok   $words"
  else
    failed=$((failed + 1))
    echo "FAIL $words"
  fi
}

# The last line, and the exit code.
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
