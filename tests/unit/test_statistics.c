// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/statistics.h"
#include "tap.h"

int main(void)
{
	ok(!statistics_is_loss("on_page_kernel", 6), "only its own reads can interrupt it");
	ok(statistics_is_loss("on_page_kernel", 7), "the kernel may switch tasks within it");
	ok(statistics_is_loss("on_page_user", 6), "a program that reads cannot interrupt");
	ok(statistics_is_loss("on_fault_kernel", 6), "a program that counts such faults");
	return tap_done();
}
