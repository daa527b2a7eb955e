#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzzes triage, the reader of recordings, the writers of metrics pages and the reader of the flight
# recorder. Uses libFuzzer, ASan and UBSan. Makes its own seed files. Prints TAP.
#   usage: tests/fuzz/run.sh [SECONDS]     (BUILD: directory of the build, default build)
# Inputs stay in build/fuzz/corpus* for the next run. An input that crashes is build/fuzz/found-*.
set -eu

cd "$(dirname "$0")/../.."
seconds=${1:-20}
build=${BUILD:-build}
place=$build/fuzz
mkdir -p "$place/corpus" "$place/corpus-page" "$place/corpus-recording" \
	"$place/corpus-blackbox" "$place/corpus-unwind"
# Makes seeds from the small recordings in the tree. If a seed begins with F, the fuzzer corrects its
# checksums.
find tests/e2e/recordings docs/examples -name '*.fsr' -size -24k | while read -r kept; do
	seed=$place/corpus-recording/$(basename "$kept")
	[ -e "$seed" ] || { printf 'F'; cat "$kept"; } >"$seed"
	packed=$place/corpus-recording/packed-$(basename "$kept")
	[ -e "$packed" ] || [ ! -x "$build/faultscope" ] || {
		"$build/faultscope" report "$kept" --force -o "$place/packed.fsr"
		{ printf 'F'; cat "$place/packed.fsr"; } >"$packed"
	}
done
for log in tests/triage/logs/*; do
	seed=$place/corpus/$(basename "$log").seed
	[ -e "$seed" ] || { printf 'A'; tail -c 6000 "$log"; } >"$seed"
done
# compressed logs
for pack in 'bzip2 -1' lz4 'lz4 -l'; do
	seed=$place/corpus/$(echo "$pack" | tr -d ' ').seed
	[ -e "$seed" ] || ! command -v "${pack%% *}" >/dev/null || {
		printf 'A'
		# shellcheck disable=SC2086
		tail -c 6000 tests/triage/logs/6.1_uaf.log | $pack -c
	} >"$seed"
done
seed=$place/corpus-page/seed
for text in kubepods.slice/kubepods-pod0d96f0cf_e0a8_45f1_9da1_08b6c1dc8470.slice \
	system.slice/postgresql@15-main.service '"}\\' 'text/plain;q=0.5, */*' 'gzip;q=0'; do
	[ -e "$seed-${#text}" ] || printf 'A%s' "$text" >"$seed-${#text}"
done

seed=$place/corpus-blackbox/seed
[ -e "$seed" ] || { printf 'FSbb\001\0\100\0faultscope: #1 fault info 1 1 %032d 1 0 k=v ~0000' 0
	printf 'FSab%0600d' 0; } >"$seed"

# Makes two seeds: an .eh_frame section with one CIE and one FDE, and the whole file /bin/true.
seed=$place/corpus-unwind/seed
[ -e "$seed" ] || {
	printf '\004\024\000\000\000\000\000\000\000\001\172\122\000\001\170\020\001\033\014\007\010'
	printf '\220\001\000\000\040\000\000\000\034\000\000\000\340\360\000\000\100\000\000\000\000'
	printf '\101\016\020\206\002\103\015\006\101\203\003\002\060\014\007\010\000\000\000'
} >"$seed"
[ -e "$seed-file" ] || { printf '\001'; cat /bin/true; } >"$seed-file"

# Compiles an empty fuzzer, because some compilers lack libFuzzer. If it compiles, each fuzzer of
# this directory must compile as well.
has_libfuzzer() {
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }' |
		"${CLANG:-clang}" -fsanitize=fuzzer -x c - -o "$place/probe" 2>"$place/probe.log"
}

# fuzz NUMBER NAME CORPUS MOST_BYTES
fuzz() {
	log=$place/$2.log
	if ! $libfuzzer; then
		echo "ok $1 - $2 # SKIP clang has no libFuzzer here"
		return
	fi
	if ! make --no-print-directory "$place/$2" >"$log" 2>&1; then
		sed 's/^/# /' "$log"
		echo "not ok $1 - $2 does not build"
		return
	fi
	if "$place/$2" -max_total_time="$seconds" -max_len="$4" -timeout=10 -print_final_stats=1 \
		-artifact_prefix="$place/found-" "$place/$3" >"$log" 2>&1; then
		echo "# $(grep -E 'stat::number_of_executed_units' "$log" || true)"
		echo "# $(grep -oE 'cov: [0-9]+' "$log" | tail -1)"
		echo "ok $1 - $2: $seconds s of fuzzing without a finding"
	else
		tail -40 "$log" | sed 's/^/# /'
		echo "not ok $1 - $2: a finding: see $place/found-*"
	fi
}

libfuzzer=true
has_libfuzzer || libfuzzer=false

# Two fuzzers run at the same time. When one of them ends, another one starts in its place.
{ fuzz 1 triage_fuzz corpus 16384; fuzz 2 page_fuzz corpus-page 4096; } >"$place/some" &
{ fuzz 3 blackbox_fuzz corpus-blackbox 4096; fuzz 4 recording_fuzz corpus-recording 65536
	fuzz 5 unwind_fuzz corpus-unwind 65536; } >"$place/others"
wait $!
cat "$place/some" "$place/others"
echo "1..5"
