#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints C stubs for the functions of libp11-kit that libgnutls.a calls; Debian has libp11-kit only
# as a shared library. These functions concern keys on tokens (pkcs11: URLs), which
# faultscope does not use. Each stub returns NULL.
# usage: tools/p11_absent.sh COMPILER [-LDIRECTORY...]
set -eu
compiler=$1
shift
library=$("$compiler" -print-file-name=libgnutls.a)
for option; do
	[ ! -f "${option#-L}/libgnutls.a" ] || library=${option#-L}/libgnutls.a
done
echo 'static void *nothing(void) { return 0; }'
"$("$compiler" -print-prog-name=nm)" "$library" 2>/dev/null | sed -n 's/.* U \(p11_kit_[a-z0-9_]*\)$/\1/p' |
	sort -u | sed 's/.*/void *&(void) __attribute__((alias("nothing")));/'
