#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Checks style that clang-format does not: line length, white space, unfinished marks, paths. TAP.
#
# usage: style.sh [ROOT]	ROOT: the top of the tree (default: two above this file)
#        style.sh --self-test
set -u
export LC_ALL=C

width=100
# The brackets prevent a pattern from matching its own definition in this file.
marks='TOD[O]|FIXM[E]|XX[X]|HAC[K]'
paths='(^|[^[:alnum:]_.~-])/wor[k]/'
hosts='pyp[i]\.org|pythonhoste[d]\.org|npmj[s]\.(org|com)|crate[s]\.io|(proxy|sum)\.golan[g]\.org'
hosts="$hosts|rubygem[s]\\.org|mave[n]\\.org|docke[r]\\.io|ghc[r]\\.io|qua[y]\\.io|gc[r]\\.io"
hosts="$hosts|registr[y]\\.[a-z0-9.-]+\\.[a-z]+|[a-z0-9.-]*artifactor[y][a-z0-9-]*\\.[a-z]+"

self=$0

# Prints the NUL-terminated paths of the project's text files. Build products, recordings and pictures
# are left out.
texts() {
	find . -name '.?*' -prune -o -name build -prune -o -name __pycache__ -prune -o -type f \
		! -name '*.fsrec' ! -name '*.gz' ! -name '*.xz' ! -name '*.zst' ! -name '*.png' \
		! -name '*.o' -print0
	find . -maxdepth 1 -type f -name '.?*' ! -name .git -print0
	[ ! -d .github ] || find .github -type f -print0
}

sources() {
	for d in src bpf tests; do
		[ ! -d "$d" ] || find "$d" -name build -prune -o -type f -name '*.[ch]' -print0
	done
}

# Prints lines that are too long. A tab goes to the next multiple of 8 columns, and a UTF-8 sequence
# counts as one column.
long_lines() {
	# shellcheck disable=SC2016 # awk's $0
	xargs -0 -r awk -v width="$width" '
	{
		gsub(/[\200-\277]/, "")
		n = split($0, part, "\t")
		col = length(part[1])
		for (i = 2; i <= n; i++)
			col += 8 - col % 8 + length(part[i])
		if (col > width)
			printf "%s:%d: %d columns\n", FILENAME, FNR, col
	}'
}

# found OPTIONS PATTERN prints the matching lines of the text files on stdin.
found() {
	xargs -0 -r grep -HnI "$@" | sed 's,^\./,,'
}

n=0
failed=0
tap() {
	n=$((n + 1))
	if [ -n "$2" ]; then
		failed=1
		printf 'not ok %d - %s\n' "$n" "$1"
		printf '%s\n' "$2" | sed 's/^/#   /'
	else
		printf 'ok %d - %s\n' "$n" "$1"
	fi
}

check() {
	tap "no line over $width columns" "$(sources | long_lines)"
	tap "no white space at the end of a line" "$(texts | found -E "[[:space:]]+\$")"
	tap "no mark of unfinished work" "$(texts | found -wE "$marks")"
	tap "no path of a machine, no host of a registry" \
		"$(texts | found -iE "$paths|(^|[^[:alnum:]])($hosts)")"
}

# Makes one violation of each kind in a tree of its own. Prints the violations that are not
# reported, or are reported wrongly.
self_test() {
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 1' INT TERM HUP
	mkdir "$dir/src" "$dir/tests" "$dir/build"
	{
		printf '\t\t/* %077d… */\n' 0
		printf 'char name[] = "a.XX%s"; /* see docs/work/x, on todo.example */\n' XXXX
	} >"$dir/src/good.c"
	printf 'bad \n' >"$dir/build/out"
	out=$(sh "$self" "$dir") || printf 'a tree without a breach fails:\n%s\n' "$out"
	breach 1 src/x.c "$(printf '%0101d' 0)"
	breach 1 tests/x.h "$(printf '\t\t\t\t\t\t\t\t\t\t\t\t%05d' 0)"
	breach 2 src/x.c 'int x; '
	breach 2 tests/x.sh "$(printf 'x\t')"
	breach 3 src/x.c "/* TO""DO: x */"
	breach 3 README.md "FIX""ME"
	breach 3 src/x.h "// X""XX x"
	breach 3 Makefile "# a HA""CK"
	breach 4 src/x.c "\"/wo""rk/main\""
	breach 4 README.md "https://py""pi.org/simple"
	breach 4 Makefile "FROM registr""y.example.com/x"
}

breach() {
	printf '%s\n' "$3" >"$dir/$2"
	out=$(sh "$self" "$dir")
	rm "$dir/$2"
	lines=$(printf '%s\n' "$out" | grep -c '^not ok')
	case $lines/$out in
	1/*"not ok $1 "*"#   $2:1:"*) ;;
	*) printf 'not reported as %s alone: %s: %s\n' "$1" "$2" "$3" ;;
	esac
}

case ${1-} in
--self-test)
	tap "this test reports one breach of each sort" "$(self_test)"
	;;
'')
	tap "this test reports one breach of each sort" "$(self_test)"
	cd "$(dirname "$self")/../.." || exit 1
	check
	;;
*)
	cd "$1" || exit 1
	check
	;;
esac
echo "1..$n"
exit "$failed"
