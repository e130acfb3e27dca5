# The habits of the ecosystem, one line a target. `cargo run` and `cargo test --workspace` need nothing of this.
.PHONY: run test lint sim ci

run:
	cargo run

test:
	cargo test --workspace

lint:
	cargo fmt --check && cargo clippy --workspace --all-targets -- -D warnings

ci:
	bash .ci/run
