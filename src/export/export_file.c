// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "base/output_file.h"
#include "export/export.h"

int export_write_file(struct export *x, const char *path)
{
	struct buf b = {};
	int err;

	export_collect(x, 0);
	export_render(x, &exposition_text, &b);
	/*
	 * The umask does not matter: any user may read the file. The temporary name does not end in
	 * .prom, so that node_exporter does not read it.
	 */
	err = b.failed ? -ENOMEM : output_file_put(path, 0644, b.s, b.len);
	buf_free(&b);
	return err;
}
