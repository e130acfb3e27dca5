#!/usr/bin/env bash
# The functions under `cargo lambda watch`, fed by `recado aws --watch`: a signed webhook in over HTTP, a reply out.
cd "$(dirname "$0")/../.."
. tests/aws/common.sh
sam=$(venv sam)
export PATH=$sam/bin:$PATH
# All default members at once, as cargo-lambda builds them: with the same features nothing is compiled twice.
cargo build
exec python3 tests/aws/watch.py "$CARGO_TARGET_DIR/debug/recado" "$work"
