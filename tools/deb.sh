#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the Debian packages from a copy of the tree, in which deploy/debian is debian/.
#
# usage: deb.sh OUT	the directory OUT is emptied first; then it gets the packages and the copy
#
# DEBEMAIL and DEBFULLNAME replace the maintainer of deploy/debian: whoever distributes the packages
# maintains them. The authors have no e-mail address, so the default address ends in .invalid, which
# is no real domain (RFC 2606).
set -eu
umask 022
top=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$1"
mkdir -p "$1/faultscope"
out=$(cd "$1" && pwd)
for tool in dh dpkg-buildpackage fakeroot; do
	command -v "$tool" >/dev/null || {
		echo "deb: $tool is missing; as root: tools/setup.sh package" >&2
		exit 1
	}
done

cd "$top"
# Copies the files that git tracks, or without a clone, all files except build products.
if git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -z --cached --others --exclude-standard
else
	find . -name .git -prune -o -path ./build -prune -o \( -type f -o -type l \) -print0
fi | tar --null --no-recursion --ignore-failed-read -cf - -T - | tar -xf - -C "$out/faultscope"
cp -r deploy/debian "$out/faultscope/debian"
# The source package contains the modes of files, which depend on the umask of the clone.
chmod -R u=rwX,go=rX "$out/faultscope"
cd "$out/faultscope"
if [ -n "${DEBEMAIL-}" ]; then
	maintainer=$(printf '%s <%s>' "${DEBFULLNAME:-$DEBEMAIL}" "$DEBEMAIL" | sed 's/[&|\\]/\\&/g')
	sed -i "s|^\(Maintainer:\) .*|\1 $maintainer|" debian/control
	sed -i "s|^ -- [^>]*>| -- $maintainer|" debian/changelog
fi
exec dpkg-buildpackage -us -uc
