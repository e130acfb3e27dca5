#!/usr/bin/env bash
# The contracts of table, breakers and queues on an independent emulator of AWS.
#
# What ministack lacks of them: it takes one batch of a FIFO queue at a time and has no StartMessageMoveTask, which
# neither contract asks for.
cd "$(dirname "$0")/../.."
. tests/aws/common.sh
ministack=$(venv ministack)
port=$("$ministack/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port
GATEWAY_PORT=$port "$ministack/bin/python" -m ministack >"$work/contracts.log" 2>&1 &
emulator=$!
trap 'kill "$emulator"; wait "$emulator" 2>/dev/null' EXIT
for _ in $(seq 300); do
  if curl --silent --output /dev/null "$url"; then break; fi
  sleep 0.1
done

contract() { # FILE TEST
  RECADO_TEST_DYNAMODB_URL=$url RECADO_TEST_SQS_URL=$url \
    cargo test --package recado-tests --test "$1" -- --ignored --exact "$2"
}

check "the table's contract" contract store_contract an_independent_emulator_keeps_the_contract
check "the breakers' contract" contract breaker_contract an_independent_emulator_keeps_the_contract
check "the queues' contract" contract ticks_contract another_server_keeps_the_contract
finish
