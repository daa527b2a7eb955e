#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Coverage-guided fuzzing of triage, with ASan and UBSan, from seeds of our own. TAP on stdout.
#   usage: tests/fuzz/run.sh [SECONDS]     (BUILD: directory of the build, default build)
# What it finds stays in build/fuzz/corpus for the next run; a finding in build/fuzz/found-*.
set -eu

cd "$(dirname "$0")/../.."
seconds=${1:-20}
build=${BUILD:-build}
place=$build/fuzz
if ! make --no-print-directory "$place/triage_fuzz" >"$place.log" 2>&1; then
	if grep -q 'fuzzer' "$place.log"; then
		echo "1..0 # SKIP clang has no libFuzzer here"
		exit 0
	fi
	sed 's/^/# /' "$place.log"
	echo "not ok 1 - the fuzzer does not build"
	echo "1..1"
	exit 1
fi
mkdir -p "$place/corpus"
for log in tests/triage/logs/*; do
	seed=$place/corpus/$(basename "$log").seed
	[ -e "$seed" ] || { printf 'A'; tail -c 6000 "$log"; } >"$seed"
done
if "$place/triage_fuzz" -max_total_time="$seconds" -max_len=16384 -timeout=10 -print_final_stats=1 \
	-artifact_prefix="$place/found-" "$place/corpus" >"$place.log" 2>&1; then
	echo "# $(grep -E 'stat::number_of_executed_units' "$place.log" || true)"
	echo "# $(grep -oE 'cov: [0-9]+' "$place.log" | tail -1)"
	echo "ok 1 - $seconds s of fuzzing without a finding"
else
	tail -40 "$place.log" | sed 's/^/# /'
	echo "not ok 1 - a finding: see $place/found-*"
fi
echo "1..1"
