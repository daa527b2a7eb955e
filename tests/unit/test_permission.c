// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a refused load means, by the log that libbpf and the verifier left. */
#include <errno.h>
#include <string.h>

#include "probe/permission.h"
#include "tap.h"

#define REFUSED "the verifier of this kernel does not take it "
#define BEGIN	"libbpf: prog 'look_syscall': BPF program load failed: Permission denied\n" \
		"libbpf: prog 'look_syscall': -- BEGIN PROG LOAD LOG --\n"
#define END	"processed 255 insns (limit 1000000) max_states_per_insn 1\n" \
		"-- END PROG LOAD LOG --\n"

static void says(int err, const char *log, const char *text)
{
	struct answer answer = permission_load_answer(err, log);

	is_str(answer.text, text, text);
}

int main(void)
{
	says(-EACCES, BEGIN "combined stack size of 4 calls is 576. Too large\n" END,
	     REFUSED "(EACCES): combined stack size of 4 calls is 576. Too large");
	/* the reason stands behind the steps, and before what follows from it */
	says(-EINVAL,
	     BEGIN "0: (bf) r6 = r1\n; if (st) @ task.bpf.c:12\nfrom 12 to 20: R0=1\n"
		   "R1 invalid mem access 'scalar'\nverification time 12 usec\n" END,
	     REFUSED "(EINVAL): R1 invalid mem access 'scalar'");
	/* of a long log the begin is not kept */
	says(-EACCES, "0 = r1\n437: (85) call pc+182\nR2 is not a scalar\n" END,
	     REFUSED "(EACCES): R2 is not a scalar");
	says(-E2BIG, BEGIN "BPF program is too large. Processed 1000001 insn\n" END,
	     REFUSED "(E2BIG): BPF program is too large. Processed 1000001 insn");
	says(-EACCES, BEGIN "0: (bf) r6 = r1\n" END, REFUSED "(EACCES)");
	/* a refusal that is not the verifier's */
	says(-EPERM, "libbpf: prog 'x': BPF program load failed: Operation not permitted\n",
	     "not permitted by this kernel's policy (EPERM)");
	says(-ESRCH, "libbpf: failed to find kernel BTF type ID of 'x': -3\n",
	     "this kernel has no such function or tracepoint (ESRCH)");
	return tap_done();
}
