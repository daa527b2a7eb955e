/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the curated vmlinux.h with the BTF of a kernel. The relocated part of the header is read
 * from the BPF object's own BTF. The kernel must have each member of this part, of a kind that
 * CO-RE accepts. An integer must have the same size as in the kernel, since a load of another width
 * reads another value. The rest of the header is UAPI and is not relocated. Its layout must be
 * exactly that of the kernel.
 *
 * usage: vmlinux_check OBJECT KERNEL_BTF|- VMLINUX_H...
 *        vmlinux_check --globals VMLINUX_H...
 *
 * An object's BTF has only types that its globals, functions and relocations name. --globals writes
 * a C file that names every type of the headers, so that the object made from it has all of them.
 *
 * A type with a flavour (NAME___FLAVOUR) that does not match is for other kernels, and is skipped.
 * Prints TAP, a line for each type. Exit status 1: a type failed; 2: nothing could be compared.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
#define MAX_NAMES 512
#define MAX_NAME 128
#define MAX_DEPTH 16
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Prefixes of the names of types that the BPF object defines itself. The program prints all other
 * types that are not in the curated headers.
 */
static const char *const own_prefixes[] = {"fs_", "proc_", "fault_slot", "coalesce", "fd_walk"};

/* A type that a header defines at its top level. */
struct name {
	char name[MAX_NAME];
	bool relocated;
	bool is_union;
	bool is_typedef; /* the name is a typedef of an unnamed struct or union */
};

struct names {
	struct name at[MAX_NAMES];
	int n;
};

struct check {
	const struct btf *obj;
	const struct btf *kernel;
	bool exact; /* the type must also have the kernel's offsets and sizes */
	char why[512];
};

static int tap_n, tap_failed;

static void tap(bool ok, const char *name, const char *why)
{
	tap_n++;
	if (ok) {
		printf("ok %d - %s\n", tap_n, name);
		return;
	}
	tap_failed++;
	printf("not ok %d - %s\n#   %s\n", tap_n, name, why);
}

static void tap_skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_n, name, why);
}

/*
 * Returns the text of a header without its comments, but with all line ends. On error, returns NULL
 * and sets errno.
 */
static char *header_read(const char *path)
{
	char *s = NULL, *from, *to;
	long size;
	FILE *f;

	f = fopen(path, "r");
	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		goto out;
	s = malloc(size + 1);
	if (!s)
		goto out;
	s[fread(s, 1, size, f)] = 0;
	for (from = to = s; *from;) {
		if (from[0] == '/' && from[1] == '/') {
			from += strcspn(from, "\n");
		} else if (from[0] == '/' && from[1] == '*') {
			char *end = strstr(from + 2, "*/");

			from = end ? end + 2 : from + strlen(from);
			*to++ = ' ';
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
out:
	fclose(f);
	return s;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * Reads the next word or single character at *at, and sets *at to the position after it. Returns
 * false at the end of the text.
 */
static bool token_next(const char **at, char *ret_token)
{
	const char *s = *at;
	int n = 0;

	while (isspace((unsigned char)*s))
		s++;
	if (!*s)
		return false;
	do {
		ret_token[n++] = *s++;
	} while (n < MAX_NAME - 1 && is_word(s[-1]) && is_word(*s));
	ret_token[n] = 0;
	*at = s;
	return true;
}

static int names_add(struct names *ns, const char *name, bool relocated, bool is_union,
		     bool is_typedef)
{
	struct name *to;

	for (int i = 0; i < ns->n; i++) {
		if (!strcmp(ns->at[i].name, name))
			return 0;
	}
	if (ns->n == MAX_NAMES)
		return -E2BIG;
	to = &ns->at[ns->n++];
	snprintf(to->name, sizeof(to->name), "%s", name);
	to->relocated = relocated;
	to->is_union = is_union;
	to->is_typedef = is_typedef;
	return 0;
}

/*
 * Collects definitions at the top level of a header: `struct NAME {…} …;` and `typedef struct {…}
 * NAME;`. A definition is relocated if it is between push and pop of the pragma, or has the
 * attribute itself.
 */
static int names_parse(struct names *ns, const char *text)
{
	static const char attribute[] = "preserve_access_index";
	char tok[MAX_NAME], tag[MAX_NAME] = "", last[MAX_NAME] = "";
	bool region = false, composite = false, typed = false, body = false, own = false;
	bool is_union = false;
	const char *at = text;
	int depth = 0, parens = 0, err;

	while (token_next(&at, tok)) {
		if (tok[0] == '#' && !depth) {
			const char *end = at + strcspn(at, "\n");
			char line[256];

			snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
			if (strstr(line, "pragma") && strstr(line, "attribute")) {
				if (strstr(line, "push") && strstr(line, attribute))
					region = true;
				else if (strstr(line, "pop"))
					region = false;
			}
			while (*end && end[-1] == '\\')
				end += 1 + strcspn(end + 1, "\n");
			at = end;
			continue;
		}
		if (!strcmp(tok, attribute))
			own = true;
		if (tok[0] == '{') {
			if (!depth++ && composite)
				body = true;
		} else if (tok[0] == '}') {
			depth--;
		} else if (depth) {
			continue;
		} else if (tok[0] == '(') {
			parens++;
		} else if (tok[0] == ')') {
			parens--;
		} else if (tok[0] == ';') {
			err = 0;
			if (body && tag[0])
				err = names_add(ns, tag, region || own, is_union, false);
			else if (body && typed && last[0])
				err = names_add(ns, last, region || own, is_union, true);
			if (err)
				return err;
			composite = typed = body = own = false;
			tag[0] = last[0] = 0;
		} else if (parens || !strcmp(tok, "__attribute__")) {
			continue;
		} else if (!strcmp(tok, "typedef")) {
			typed = true;
		} else if (!body && (!strcmp(tok, "struct") || !strcmp(tok, "union"))) {
			composite = true;
			is_union = tok[0] == 'u';
		} else if (is_word(tok[0])) {
			snprintf(composite && !body ? tag : last, MAX_NAME, "%s", tok);
		}
	}
	return depth || region ? -EINVAL : 0;
}

static const char *type_word(const struct name *name)
{
	return name->is_typedef ? "typedef" : name->is_union ? "union" : "struct";
}

static size_t essential_len(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour && flavour > name ? (size_t)(flavour - name) : strlen(name);
}

static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "";
}

/* Returns the type without const, volatile, type tags and typedefs. */
static const struct btf_type *resolve(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && i < 64 && (btf_is_mod(t) || btf_is_typedef(t)); i++)
		t = btf__type_by_id(btf, t->type);
	return t;
}

static const struct btf_type *find_type(const struct btf *btf, const char *name, size_t len,
					bool is_typedef)
{
	__u32 n = btf__type_cnt(btf);

	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *s;

		if (is_typedef ? !btf_is_typedef(t) : !btf_is_composite(t))
			continue;
		s = name_of(btf, t);
		if (strncmp(s, name, len) || s[len])
			continue;
		if (is_typedef)
			t = resolve(btf, id);
		if (t && btf_is_composite(t))
			return t;
	}
	return NULL;
}

/*
 * Finds a member of a struct or union by name. Unnamed structs and unions inside are also searched.
 */
static bool find_member(const struct btf *btf, const struct btf_type *t, const char *name,
			__u32 base, int depth, __u32 *ret_type, __u32 *ret_offset, __u32 *ret_bits)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; i < btf_vlen(t); i++, m++) {
		const char *s = btf__name_by_offset(btf, m->name_off);
		__u32 offset = base + btf_member_bit_offset(t, i);
		const struct btf_type *inner;

		if (s && s[0]) {
			if (strcmp(s, name))
				continue;
			*ret_type = m->type;
			*ret_offset = offset;
			*ret_bits = btf_member_bitfield_size(t, i);
			return true;
		}
		inner = resolve(btf, m->type);
		if (depth < MAX_DEPTH && inner && btf_is_composite(inner) &&
		    find_member(btf, inner, name, offset, depth + 1, ret_type, ret_offset,
				ret_bits))
			return true;
	}
	return false;
}

static const char *kind_name(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_UNKN:
		return "void";
	case BTF_KIND_INT:
		return "an integer";
	case BTF_KIND_PTR:
		return "a pointer";
	case BTF_KIND_ARRAY:
		return "an array";
	case BTF_KIND_STRUCT:
		return "a struct";
	case BTF_KIND_UNION:
		return "a union";
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return "an enum";
	case BTF_KIND_FLOAT:
		return "a float";
	case BTF_KIND_FUNC_PROTO:
		return "a function";
	default:
		return "of some other kind";
	}
}

static bool same_name(const char *a, const char *b)
{
	size_t len = essential_len(a);

	return len == essential_len(b) && !strncmp(a, b, len);
}

static bool no(struct check *c, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static bool no(struct check *c, const char *path, const char *fmt, ...)
{
	va_list args;
	int n;

	n = snprintf(c->why, sizeof(c->why), "%s: ", path);
	if (n < 0 || n >= (int)sizeof(c->why))
		return false;
	va_start(args, fmt);
	vsnprintf(c->why + n, sizeof(c->why) - n, fmt, args);
	va_end(args);
	return false;
}

static bool structs_fit(struct check *c, const struct btf_type *t, const struct btf_type *k,
			const char *path, int depth);

static bool is_aggregate(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_fwd(t);
}

/*
 * Returns whether the targets of two pointers match. Two integers match if they have the same
 * width; otherwise, a BPF program would read another value. Two structs match if they are the same,
 * since another struct has other members.
 */
static bool pointees_fit(struct check *c, const struct btf_type *t, const struct btf_type *k,
			 const char *path)
{
	const struct btf_type *to = resolve(c->obj, t->type), *kto = resolve(c->kernel, k->type);

	if (!to || !kto || btf_is_void(to) || btf_is_void(kto))
		return true;
	if (is_aggregate(to) && is_aggregate(kto)) {
		const char *s = name_of(c->obj, to), *ks = name_of(c->kernel, kto);

		if (s[0] && ks[0] && !same_name(s, ks))
			return no(c, path, "points to %s here, to %s in the kernel", s, ks);
		return true;
	}
	if (is_aggregate(to) != is_aggregate(kto) || btf_kind(to) != btf_kind(kto))
		return no(c, path, "points to %s here, to %s in the kernel", kind_name(to),
			  kind_name(kto));
	if (btf_is_int(to) && to->size != kto->size)
		return no(c, path, "points to %u bytes here, to %u in the kernel", to->size,
			  kto->size);
	return true;
}

static bool types_fit(struct check *c, __u32 id, __u32 kernel_id, const char *path, int depth)
{
	const struct btf_type *t = resolve(c->obj, id), *k = resolve(c->kernel, kernel_id);

	if (!t || !k || depth > MAX_DEPTH)
		return no(c, path, "the BTF is broken");
	if (btf_is_composite(t) && btf_is_composite(k))
		return structs_fit(c, t, k, path, depth + 1);
	if (btf_is_any_enum(t) && btf_is_any_enum(k))
		return true;
	if (btf_kind(t) != btf_kind(k))
		return no(c, path, "%s here, %s in the kernel", kind_name(t), kind_name(k));
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		/*
		 * The kernel may name only a part of a UAPI word (pt_regs.cs). The offset of the
		 * next member shows that the rest of the word belongs to no other member.
		 */
		if (t->size != k->size && !(c->exact && t->size > k->size))
			return no(c, path, "%u bytes here, %u in the kernel", t->size, k->size);
		return true;
	case BTF_KIND_PTR:
		return pointees_fit(c, t, k, path);
	case BTF_KIND_ARRAY:
		/*
		 * An array without a length in the kernel is a flexible array member, which may
		 * have any length here.
		 */
		if (btf_array(k)->nelems && btf_array(t)->nelems > btf_array(k)->nelems)
			return no(c, path, "%u elements here, %u in the kernel",
				  btf_array(t)->nelems, btf_array(k)->nelems);
		return types_fit(c, btf_array(t)->type, btf_array(k)->type, path, depth + 1);
	default:
		return true;
	}
}

/*
 * Compares the members of t with those of k. `base` is the position of t within the kernel's type
 * k, in bits.
 */
static bool members_fit(struct check *c, const struct btf_type *t, const struct btf_type *k,
			__u32 base, const char *path, int depth)
{
	const struct btf_member *m = btf_members(t);

	if (depth > MAX_DEPTH)
		return no(c, path, "too deep");
	for (int i = 0; i < btf_vlen(t); i++, m++) {
		const char *name = btf__name_by_offset(c->obj, m->name_off);
		__u32 bits = btf_member_bitfield_size(t, i);
		__u32 offset = base + btf_member_bit_offset(t, i);
		__u32 kernel_id, kernel_offset, kernel_bits;
		const struct btf_type *inner;
		char deeper[256];

		if (!name || !name[0]) {
			inner = resolve(c->obj, m->type);
			if (inner && btf_is_composite(inner) &&
			    !members_fit(c, inner, k, offset, path, depth + 1))
				return false;
			continue;
		}
		snprintf(deeper, sizeof(deeper), "%s.%s", path, name);
		if (!find_member(c->kernel, k, name, 0, 0, &kernel_id, &kernel_offset,
				 &kernel_bits))
			return no(c, deeper, "no such member in the kernel");
		if (!!bits != !!kernel_bits)
			return no(c, deeper, "a bit field %s",
				  bits ? "here, not in the kernel" : "in the kernel, not here");
		if (!bits && !types_fit(c, m->type, kernel_id, deeper, depth))
			return false;
		if (c->exact && offset != kernel_offset)
			return no(c, deeper, "at bit %u here, at bit %u in the kernel", offset,
				  kernel_offset);
	}
	return true;
}

static bool structs_fit(struct check *c, const struct btf_type *t, const struct btf_type *k,
			const char *path, int depth)
{
	if (!members_fit(c, t, k, 0, path, depth))
		return false;
	if (c->exact && t->size != k->size)
		return no(c, path, "%u bytes here, %u in the kernel", t->size, k->size);
	return true;
}

static void check_type(struct check *c, const struct name *name)
{
	size_t len = essential_len(name->name);
	bool flavoured = name->name[len];
	const struct btf_type *t, *k;
	char title[2 * MAX_NAME];

	t = find_type(c->obj, name->name, strlen(name->name), name->is_typedef);
	k = find_type(c->kernel, name->name, len, name->is_typedef);
	c->exact = !name->relocated;
	c->why[0] = 0;
	snprintf(title, sizeof(title), "%s %s%s", type_word(name), name->name,
		 c->exact ? ", UAPI" : "");
	if (!k && flavoured)
		tap_skip(title, "flavour not of this kernel");
	else if (!k && c->exact)
		tap_skip(title, "not in the BTF of this kernel");
	else if (!k)
		tap(false, title, "no such type in the kernel");
	else if (!t)
		tap_skip(title, "not in the BTF of the object");
	else if (structs_fit(c, t, k, name->name, 0))
		tap(true, title, NULL);
	else if (flavoured)
		tap_skip(title, "flavour not of this kernel");
	else
		tap(false, title, c->why);
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_prefixes); i++) {
		if (!strncmp(name, own_prefixes[i], strlen(own_prefixes[i])))
			return true;
	}
	return false;
}

/*
 * Adds types with a flavour, wherever they are defined, to the names. Prints types that are neither
 * in the curated headers nor defined by the BPF object itself.
 */
static int check_rest(struct names *ns, const struct btf *obj)
{
	__u32 n = btf__type_cnt(obj);
	int err;

	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(obj, id);
		const char *name = name_of(obj, t);
		bool is_typedef = btf_is_typedef(t), known = false;

		if (is_typedef) {
			t = resolve(obj, id);
			if (!t || !btf_is_composite(t) || name_of(obj, t)[0])
				continue;
		}
		if (!name[0] || !btf_is_composite(t))
			continue;
		for (int i = 0; i < ns->n && !known; i++)
			known = !strcmp(ns->at[i].name, name);
		if (known || is_own(name))
			continue;
		if (name[essential_len(name)]) {
			err = names_add(ns, name, true, btf_is_union(t), is_typedef);
			if (err)
				return err;
			continue;
		}
		printf("# neither curated nor on the list of our own: %s\n", name);
	}
	return 0;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

static int bail(const char *what, const char *path, int err)
{
	printf("Bail out! %s: %s: %s\n", what, path, strerror(err < 0 ? -err : err));
	return 2;
}

static int names_read(struct names *ns, char **paths)
{
	for (; *paths; paths++) {
		char *text = header_read(*paths);
		int err;

		if (!text)
			return bail("cannot read the header", *paths, errno);
		err = names_parse(ns, text);
		free(text);
		if (err)
			return bail("cannot follow the header", *paths, err);
	}
	return 0;
}

static int globals(struct names *ns, char **paths)
{
	int ret = names_read(ns, paths);

	if (ret)
		return ret;
	for (; *paths; paths++) {
		const char *base = strrchr(*paths, '/');

		printf("#include \"%s\"\n", base ? base + 1 : *paths);
	}
	for (int i = 0; i < ns->n; i++) {
		const struct name *name = &ns->at[i];

		printf("%s %s v%d;\n", name->is_typedef ? "" : type_word(name), name->name, i);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct names names;
	struct btf *obj = NULL, *kernel = NULL;
	const char *kernel_path;
	struct check c = {};
	int err, ret = 2;

	if (argc > 2 && !strcmp(argv[1], "--globals"))
		return globals(&names, argv + 2);
	if (argc < 4) {
		fprintf(stderr, "usage: %s OBJECT KERNEL_BTF|- VMLINUX_H...\n"
				"       %s --globals VMLINUX_H...\n", argv[0], argv[0]);
		return 2;
	}
	libbpf_set_print(quiet);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	kernel_path = strcmp(argv[2], "-") ? argv[2] : KERNEL_BTF;
	obj = btf__parse_elf(argv[1], NULL);
	if (!obj) {
		ret = bail("no BTF of the object", argv[1], errno);
		goto out;
	}
	kernel = btf__parse(kernel_path, NULL);
	if (!kernel) {
		if (!strcmp(argv[2], "-") && errno == ENOENT) {
			printf("1..0 # SKIP this kernel has no BTF\n");
			ret = 0;
			goto out;
		}
		ret = bail("no BTF of a kernel", kernel_path, errno);
		goto out;
	}
	ret = names_read(&names, argv + 3);
	if (ret)
		goto out;
	err = check_rest(&names, obj);
	if (err) {
		ret = bail("too many types", argv[1], err);
		goto out;
	}
	c.obj = obj;
	c.kernel = kernel;
	for (int i = 0; i < names.n; i++)
		check_type(&c, &names.at[i]);
	if (!tap_n)
		tap(false, "the header curates something", "no type found in it");
	printf("1..%d\n", tap_n);
	ret = tap_failed ? 1 : 0;
out:
	btf__free(kernel);
	btf__free(obj);
	return ret;
}
