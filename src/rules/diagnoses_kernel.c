// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* K01 and on: what precedes crashes of the kernel. */
#include "rules/diagnoses.h"

const struct diagnosis diagnoses_kernel[] = {
	{
		.id = "K01",
		.severity = SEVERITY_CRITICAL,
		.title = "the kernel touched a bad address",
		.about =
			{
				[ABOUT_MEANS] =
					"Code of the kernel or of a driver accessed an address "
					"that it has no business with: in the kernel's half and "
					"not mapped, or in the user's half outside a user copy. "
					"Such an access either survives by an exception table "
					"entry, and nobody hears of it, or it is the oops itself. "
					"One that survived may be the near miss before a crash.",
				[ABOUT_MEASURED] =
					"A page fault in kernel mode at such an address, with the "
					"instruction it came from. Probing reads that survive by "
					"design (copy_from_kernel_nofault and kin, BPF's reads) "
					"are only counted, as kernel_probe.",
				[ABOUT_CONFIRM] =
					"$ dmesg | grep -A30 -E 'BUG:|Oops|general protection'\n$ "
					"cat /proc/sys/kernel/tainted; lsmod\nThe symbol and "
					"module of the finding tell whose code it was.",
				[ABOUT_GAIN] = "Unload or stop using the module named, before it "
					       "crashes the machine; save what is open. With "
					       "kernel.panic_on_oops=0 an oops kills one process "
					       "instead of the host, at the risk of damaged state.",
				[ABOUT_FIX] = "Another version of the driver, or back to the one "
					      "before. To find the bug: a kernel with KASAN or "
					      "KFENCE, slub_debug for the cache concerned.",
				[ABOUT_ALIKE] =
					"Faults of user copies: copy_to_user and copy_from_user "
					"touch user pages in kernel mode all the time; they count "
					"as faults.kernel and are normal.",
			},
		.sources = "",
	},
};

const size_t nr_diagnoses_kernel = sizeof(diagnoses_kernel) / sizeof(diagnoses_kernel[0]);
