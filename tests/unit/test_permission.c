// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the reasons that faultscope shows if a BPF program fails to load. The tests use logs of
 * libbpf and of the verifier.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/permission.h"
#include "tap.h"

#define REFUSED "the verifier of this kernel rejects it "
#define BEGIN                                                                                      \
	"libbpf: prog 'look_syscall': BPF program load failed: Permission denied\n"                \
	"libbpf: prog 'look_syscall': -- BEGIN PROG LOAD LOG --\n"
#define END                                                                                        \
	"processed 255 insns (limit 1000000) max_states_per_insn 1\n"                              \
	"-- END PROG LOAD LOG --\n"

static void says(int err, const char *log, const char *text)
{
	struct answer answer = permission_load_answer(err, log);

	is_str(answer.text, text, text ? text : "no text");
}

/* Tests the text for each errno if there is no log. */
static void test_errnos(void)
{
	static const struct {
		int err;
		/*
		 * `load` is the text if loading fails, `attach` the text if attaching an fentry
		 * program fails
		 */
		const char *load, *attach;
	} rows[] = {
		{-EPERM, "not permitted by this kernel's policy (EPERM)",
		 "not permitted by this kernel's policy (EPERM)"},
		{-EACCES, "not permitted by this kernel's policy (EACCES)",
		 "not permitted by this kernel's policy (EACCES)"},
		{-ESRCH, "this kernel has no such function or tracepoint (ESRCH)",
		 "refused (ESRCH)"},
		{-ENOENT, "this kernel has no such function or tracepoint (ENOENT)",
		 "this kernel has no such tracepoint (ENOENT)"},
		{-EINVAL, REFUSED "(EINVAL)", "refused (EINVAL)"},
		{-E2BIG, REFUSED "(E2BIG)", "more CPUs than are kept track of (E2BIG)"},
		{-ENOSYS, "refused (ENOSYS)", "not supported by this kernel (ENOSYS)"},
		{-EOPNOTSUPP, "refused (EOPNOTSUPP)", "not supported by this kernel (EOPNOTSUPP)"},
		{-ENOMEM, "refused (ENOMEM)", "refused (ENOMEM)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer answer = permission_attach_answer("fentry", rows[i].err);
		struct answer answer_of_load = permission_load_answer(rows[i].err, "");
		ok(!strcmp(answer_of_load.text, rows[i].load), "%s", answer_of_load.text);
		ok(!strcmp(answer.text, rows[i].attach) && !answer.remedy, "%s", answer.text);
	}
	says(-EINVAL, "libbpf: x: failed to resolve CO-RE relocation <byte_off>\n",
	     "the BTF in use lacks what it reads (EINVAL)");
	says(-EINVAL, "libbpf: struct x: not found in kernel BTF\n",
	     "this kernel has no such function or tracepoint (EINVAL)");
	/* The log was truncated, so that the reason is missing. */
	says(-EINVAL, BEGIN "R1 invalid mem access 'scalar'\n", REFUSED "(EINVAL)");
	says(-EPERM, "END PROG LOAD LOG", "not permitted by this kernel's policy (EPERM)");
}

static void attach_says(const char *mechanism, int err, const char *text, const char *remedy)
{
	struct answer answer = permission_attach_answer(mechanism, err);

	ok(!strncmp(answer.text, text, strlen(text)), "%s: %s", mechanism, answer.text);
	ok(!answer.remedy == !remedy && (!remedy || strstr(answer.remedy, remedy)), "remedy: %s",
	   answer.remedy ? answer.remedy : "none");
}

static void test_attaching(void)
{
	if (access("/sys/kernel/tracing/events", F_OK) && errno == ENOENT)
		attach_says("tracepoint", -EPERM,
			    "tracefs is not mounted at /sys/kernel/tracing (EPERM)", "mount");
	else
		attach_says("tracepoint", -EACCES,
			    "not permitted (tracefs wants CAP_DAC_READ_SEARCH) (EACCES)", "sudo");
	attach_says("kprobe", -ENOENT, "no kprobes here, or not of this function (ENOENT)", NULL);
	attach_says("kretprobe", -ENOENT, "no kprobes here, or not of this function (ENOENT)",
		    NULL);
	attach_says("raw_tracepoint", -ENOENT, "this kernel has no such tracepoint (ENOENT)", NULL);
	attach_says("iterator", -EPERM, "not permitted by this kernel's policy (EPERM)", NULL);
}

/* Checks the returned errno and the beginning of the explanation. */
static void explains(int err, const char *log, int status, const char *begin, const char *has)
{
	char error[1024] = "";
	int got = permission_explain(err, log, error, sizeof(error));

	ok(got == status && !strncmp(error, begin, strlen(begin)) && strstr(error, has),
	   "%d: %d %s", err, got, error);
}

/*
 * Tests a user who has the capabilities. The explanation then consists of the kernel's error and
 * its log.
 */
static void test_explained(void)
{
	static char log[600];

	memset(log, 'x', sizeof(log) - 1);
	if (permission_is_total(-EPERM)) {
		ok(true, "# SKIP no rights to load programs");
		return;
	}
	explains(-EINVAL, "the log", -ENOSYS,
		 "the kernel refused the BPF programs: Invalid argument\n", "the log");
	explains(-EPERM, "the log", -EPERM, "the kernel refused the BPF programs: Operation not",
		 "the log");
	explains(-EACCES, "the log", -EPERM,
		 "the kernel refused the BPF programs: Permission denied", "the log");
	explains(-EINVAL, log, -ENOSYS, "the kernel refused the BPF programs: Invalid argument\n",
		 log + 299);
	ok(!permission_is_total(-EPERM) && !permission_is_total(-EACCES),
	   "a program alone was refused");
}

/* Tests that the missing capability is named. If the test runs as root, it changes to nobody. */
static void test_without_rights(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!geteuid() &&
		    (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
			_exit(5);
		ok(permission_is_total(-EPERM) && permission_is_total(-EACCES) &&
			   permission_is_total(-EINVAL),
		   "without rights nothing can be loaded");
		ok(!permission_is_total(-EBUSY), "but not everything is a question of rights");
		explains(-EPERM, "", -EPERM,
			 "cannot load BPF programs: not permitted\n  you are uid ",
			 " neither CAP_BPF nor CAP_PERFMON; needed: CAP_BPF and CAP_PERFMON\n");
		explains(-EACCES, "", -EPERM, "cannot load BPF programs: not permitted\n",
			 "sudo faultscope");
		explains(-EINVAL, "", -EPERM, "cannot load BPF programs: not permitted\n",
			 "sudo faultscope");
		explains(-EBUSY, "the log", -ENOSYS,
			 "the kernel refused the BPF programs: Device", "the log");
		fflush(stdout);
		_exit(tap_failed);
	}
	waitpid(pid, &status, 0);
	tap_count += 6;
	tap_failed += WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

int main(void)
{
	says(-EACCES, BEGIN "combined stack size of 4 calls is 576. Too large\n" END,
	     REFUSED "(EACCES): combined stack size of 4 calls is 576. Too large");
	/*
	 * In the log, the verifier's reason follows its steps. The consequences follow the reason.
	 */
	says(-EINVAL,
	     BEGIN "0: (bf) r6 = r1\n; if (st) @ task.bpf.c:12\nfrom 12 to 20: R0=1\n"
		   "R1 invalid mem access 'scalar'\nverification time 12 usec\n" END,
	     REFUSED "(EINVAL): R1 invalid mem access 'scalar'");
	/* The beginning of a long log is missing. */
	says(-EACCES, "0 = r1\n437: (85) call pc+182\nR2 is not a scalar\n" END,
	     REFUSED "(EACCES): R2 is not a scalar");
	says(-E2BIG, BEGIN "BPF program is too large. Processed 1000001 insn\n" END,
	     REFUSED "(E2BIG): BPF program is too large. Processed 1000001 insn");
	says(-EACCES, BEGIN "0: (bf) r6 = r1\n" END, REFUSED "(EACCES)");
	/* The verifier did not reject this program. */
	says(-EPERM, "libbpf: prog 'x': BPF program load failed: Operation not permitted\n",
	     "not permitted by this kernel's policy (EPERM)");
	says(-ESRCH, "libbpf: failed to find kernel BTF type ID of 'x': -3\n",
	     "this kernel has no such function or tracepoint (ESRCH)");
	test_errnos();
	test_attaching();
	test_explained();
	test_without_rights();
	return tap_done();
}
