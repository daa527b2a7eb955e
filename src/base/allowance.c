// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/allowance.h"

#define NS_PER_HOUR 3600000000000.0

struct allowance allowance_of(double per_hour, double most)
{
	return (struct allowance){.left = most, .most = most, .per_ns = per_hour / NS_PER_HOUR};
}

bool allowance_take(struct allowance *a, uint64_t now_ns)
{
	if (a->at_ns && now_ns > a->at_ns)
		a->left += (now_ns - a->at_ns) * a->per_ns;
	if (a->left > a->most)
		a->left = a->most;
	a->at_ns = now_ns;
	if (a->left < 1)
		return false;
	a->left--;
	return true;
}
