#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the packages of an earlier commit, as the version to upgrade from.
#
# usage: earlier.sh OUT [COMMIT]	OUT: a directory below build/, which is emptied first
#					COMMIT: by default the commit before the last one
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
source=$1.source
rm -rf "$source"
mkdir -p "$source"
git -C "$top" archive "${2:-HEAD^}" | tar -xf - -C "$source"
sed -i '1s/(\(.*\))/(\1~earlier)/' "$source/deploy/debian/changelog"
export DEB_BUILD_OPTIONS=nocheck
export GIT_CEILING_DIRECTORIES="$top/build" # keeps git from finding the clone around the copy
exec "$source/tools/deb.sh" "$1"
