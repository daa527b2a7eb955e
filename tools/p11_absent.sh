#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints C for what libgnutls.a calls in libp11-kit, which Debian packages as a shared library alone:
# keys on tokens (pkcs11: addresses), which nothing here asks for. Each says that there is none.
#   usage: tools/p11_absent.sh COMPILER
set -eu
library=$("$1" -print-file-name=libgnutls.a)
echo 'static void *nothing(void) { return 0; }'
"$("$1" -print-prog-name=nm)" "$library" 2>/dev/null | sed -n 's/.* U \(p11_kit_[a-z0-9_]*\)$/\1/p' |
	sort -u | sed 's/.*/void *&(void) __attribute__((alias("nothing")));/'
