# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# This file has the rules for all directories; directories have no makefiles of their own. `make
# help` lists the targets.

VERSION := 0.1.0
VERSION_DATE := 2026-11-21
CLANG ?= clang
STRIP_BPF ?= llvm-strip
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=

# ARCH is the architecture to build for: x86 or arm64, also in uname's or Debian's names. An
# architecture other than the host's needs a cross compiler.
arch_of = $(shell echo $(1) | sed 's/^x86_64$$/x86/; s/^amd64$$/x86/; s/^aarch64$$/arm64/')
HOST_ARCH := $(call arch_of,$(shell uname -m))
override ARCH := $(call arch_of,$(or $(ARCH),$(HOST_ARCH)))
TRIPLET_x86 := x86_64-linux-gnu
TRIPLET_arm64 := aarch64-linux-gnu
TRIPLET := $(or $(TRIPLET_$(ARCH)),$(error ARCH=$(ARCH): only x86 and arm64 are supported))
CROSS := $(filter-out $(HOST_ARCH),$(ARCH))
CROSS_COMPILE ?= $(if $(CROSS),$(TRIPLET)-)
# When cross-compiling, CC in the environment is ignored, since it names the host's compiler.
ifneq ($(filter default $(if $(CROSS),environment),$(origin CC)),)
CC := $(CROSS_COMPILE)gcc
endif
BUILD := build$(if $(CROSS),/$(ARCH))$(if $(SAN),/san)
# REVISION identifies the source: the git commit of a clone, or the value that a packager sets. In
# `sudo make install`, git may refuse to read another user's clone; in that case the revision of the
# last build is used.
ifndef REVISION
REVISION := $(or $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=12 \
	--exclude='*' 2>/dev/null || cat $(BUILD)/revision 2>/dev/null)),unknown)
endif
STATIC := build/$(if $(SAN),san/)static$(if $(CROSS),-$(ARCH))
# Directory for the libraries of another architecture, which `make sysroot` fetches from Debian.
SYSROOT ?= build/sysroot/$(ARCH)

# For developers, WERROR=1 makes warnings errors. By default they are not, since a user's compiler
# may have other warnings.
WERROR ?=
# Removes the build directory from the names of source files, which BTF contains, so that builds in
# different directories are equal.
PLACELESS := -ffile-prefix-map=$(CURDIR)=.
WARN := -Wall -Wextra -Wformat-security -Wmissing-prototypes $(if $(WERROR),-Werror) -Wno-unused-parameter -Wno-missing-field-initializers
CFLAGS ?= -O2 -g
# Since clang 21, BPF_CORE_READ() of a const field gives the warning default-const-init-var-unsafe.
NO_CONST_INIT := -Wno-unknown-warning-option -Wno-default-const-init-var-unsafe
BPF_CFLAGS = -O2 -g -mcpu=v3 -target bpfel -D__TARGET_ARCH_$(ARCH) $(PLACELESS) -Wall -Wextra \
	$(if $(WERROR),-Werror) -Wno-unused-parameter $(NO_CONST_INIT) -Ivmlinux -Ibpf -Isrc
# Hardening options that the compiler and the C library accept: FORTIFY level 3 needs GCC 12 or
# clang 9, and glibc 2.34.
takes = $(shell echo 'int x;' | $(CC) -O2 -Werror $(1) -include stdio.h -x c -c - -o /dev/null \
	2>/dev/null && echo '$(1)')
FORTIFY := $(or $(call takes,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3),$(call takes,-U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=2))
HARDENING := $(FORTIFY) $(call takes,-fcf-protection=full)
ALL_CFLAGS := -std=gnu11 $(WARN) $(CFLAGS) -Isrc -Ibpf -DVERSION='"$(VERSION)"' \
	-DVERSION_DATE='"$(VERSION_DATE)"' \
	$(PLACELESS) -fPIE -fstack-protector-strong $(HARDENING) -MMD -MP
# Relative relocations in a packed form take 5 KB instead of 555 KB, which the program would read at
# each start. The loader of the C library must know this form: glibc 2.36.
PACKED := $(shell grep -qs GLIBC_ABI_DT_RELR "$$($(CC) -print-file-name=libc.so.6 2>/dev/null)" && \
	echo -Wl,-z,pack-relative-relocs)
ALL_LDFLAGS := -pie -Wl,-z,relro,-z,now $(PACKED) -Wl,--as-needed $(LDFLAGS)
# If faultscope is built without zstd, triage reports that it cannot read logs in this format.
UNPACKERS := $(if $(wildcard /usr/include/zstd.h),-lzstd)
# If faultscope is built without libkdumpfile, triage cannot read compressed memory dumps.
# Versions before 0.5 lack the bitmap of pages.
KDUMPFILE := $(if $(CROSS),,$(if $(shell grep -ls KDUMP_ATTR_FILE_PAGEMAP \
	/usr/include/libkdumpfile/kdumpfile.h),-lkdumpfile))
# Libraries that src/base/compress.c needs
PACKERS := -lz -llzma -lbz2 -llz4 $(UNPACKERS)
# The program loads libkdumpfile and the libraries of compressed formats and of the HTTP server when
# it needs them: src/base/lazy_library.h. The linker drops those that the program does not need.
LIBS := -lbpf -lelf -lcap -liberty $(PACKERS) -lm
ifneq ($(CROSS),)
# Other libraries' headers are equal on all architectures, so the host's are used, but only after
# the C library's headers for the other architecture.
ALL_CFLAGS += -idirafter /usr/include -idirafter /usr/include/$(TRIPLET_$(HOST_ARCH))
LIBRARY_PATHS := $(foreach d,usr/lib lib,-L$(SYSROOT)/$(d)/$(TRIPLET) \
	-Wl,-rpath-link,$(SYSROOT)/$(d)/$(TRIPLET))
ALL_LDFLAGS += $(LIBRARY_PATHS)
endif
ifneq ($(SAN),)
SANITIZERS := address,undefined,float-cast-overflow
ALL_CFLAGS := $(filter-out -D_FORTIFY_SOURCE=%,$(ALL_CFLAGS)) -O1 -fsanitize=$(SANITIZERS) \
	-fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
ALL_LDFLAGS += -fsanitize=$(SANITIZERS)
endif

# Without the libraries of the HTTP server, `export` only writes files. A static program also lacks
# the HTTP server if libunistring.a is missing, which a dynamic program does not need. For another
# architecture, a static program has these libraries if `make ARCH= sysroot` has fetched them before.
HTTP_SRC := $(filter-out src/serve/endpoint_disabled.c,$(wildcard src/serve/*.c))
NO_HTTP_SRC := src/serve/endpoint_disabled.c
CROSS_LIBRARIES := $(SYSROOT)/usr/lib/$(TRIPLET)
CROSS_STATIC := $(and $(CROSS),$(filter static,$(MAKECMDGOALS)),$(wildcard \
	$(CROSS_LIBRARIES)/libmicrohttpd.a))
HTTP ?= $(if $(CROSS),$(CROSS_STATIC),$(wildcard /usr/include/microhttpd.h))
# The names of the libraries of compressed formats are not known for other architectures, so programs
# for these are linked with the libraries.
PACK_LOADED := src/base/pack_libraries.c
PACK_LINKED := src/base/pack_libraries_linked.c
# A static program cannot load libdw, and is linked with the other libraries.
NO_LOADER_SRC := src/lines/libdw_absent.c src/serve/web_libraries_linked.c \
	src/mcp/json_library_linked.c $(PACK_LINKED)
LOADER_SRC := src/lines/libdw.c src/serve/web_libraries.c src/mcp/json_library.c \
	$(PACK_LOADED)
# The file that reads compressed dumps, and the file that replaces it in builds without libkdumpfile
KDUMP_SRC := src/crash/vmcore/image_kdump.c src/crash/vmcore/kdump_library.c
NO_KDUMP_SRC := src/crash/vmcore/image_kdump_disabled.c
# The server for agents needs libjson-c.
MCP_SRC := $(filter-out src/mcp/mcp_disabled.c src/mcp/json_library_linked.c,$(wildcard src/mcp/*.c))
NO_MCP_SRC := src/mcp/mcp_disabled.c
JSON ?= $(if $(CROSS),$(CROSS_STATIC),$(wildcard /usr/include/json-c/json.h))
SRC := $(filter-out $(if $(JSON),$(NO_MCP_SRC),$(MCP_SRC)) $(if $(HTTP),$(NO_HTTP_SRC),$(HTTP_SRC)) $(if $(KDUMPFILE),$(NO_KDUMP_SRC),$(KDUMP_SRC)) \
	$(if $(CROSS),$(filter-out $(PACK_LINKED),$(NO_LOADER_SRC)) $(PACK_LOADED),$(NO_LOADER_SRC)),$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))
OBJ := $(SRC:src/%.c=$(BUILD)/src/%.o)
STATIC_HTTP := $(and $(HTTP),$(or $(CROSS_STATIC),$(filter /%,$(shell $(CC) -print-file-name=libunistring.a))))
# Debian has no static libkdumpfile.
STATIC_OBJ := $(sort $(filter-out $(LOADER_SRC:src/%.c=$(BUILD)/src/%.o) $(KDUMP_SRC:src/%.c=$(BUILD)/src/%.o),$(OBJ)) \
	$(NO_LOADER_SRC:src/%.c=$(BUILD)/src/%.o) $(if $(KDUMPFILE),$(NO_KDUMP_SRC:src/%.c=$(BUILD)/src/%.o)))
STATIC_OBJ := $(if $(STATIC_HTTP),$(STATIC_OBJ) $(STATIC)/p11_absent.c,$(filter-out \
	$(HTTP_SRC:src/%.c=$(BUILD)/src/%.o),$(STATIC_OBJ)) $(if $(HTTP),$(NO_HTTP_SRC:src/%.c=$(BUILD)/src/%.o)))
# All objects except main, and an archive of them. A test program contains only the objects that it
# needs.
LIB_OBJ := $(filter-out $(BUILD)/src/main.o,$(OBJ))
PARTS := $(BUILD)/parts.a
# Unit tests of code that is built only if the program has the HTTP server
HTTP_TESTS := $(if $(HTTP),,$(patsubst %,tests/unit/test_%.c,http_client listen rate_limit verify web_config))
JSON_TESTS := $(if $(JSON),,tests/unit/test_json_reader.c tests/unit/test_mcp_result.c)
UNIT_SRC := $(filter-out $(HTTP_TESTS) $(JSON_TESTS),$(sort $(wildcard tests/unit/test_*.c)))
UNIT := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)
WORKLOADS := $(patsubst tests/workloads/%.c,$(BUILD)/workloads/%,$(sort $(wildcard tests/workloads/*.c)))
# Commands of the program: each has a manual page, in addition to faultscope(8).
COMMANDS := run diagnose memory oom host doctor explain triage blackbox export record info replay report incidents snapshot settings \
	diff mcp schema completion man
MAN := $(BUILD)/man/faultscope.8 $(COMMANDS:%=$(BUILD)/man/faultscope-%.8)
COMPLETIONS := $(BUILD)/completions/faultscope.bash $(BUILD)/completions/_faultscope \
	$(BUILD)/completions/faultscope.fish
DASHBOARDS := $(patsubst deploy/grafana/%.jsonnet,$(BUILD)/dashboards/faultscope-%.json,$(sort \
	$(wildcard deploy/grafana/*.jsonnet)))

.PHONY: all anew cross sysroot static btf-archive help setup check check-alerts check-all check-builds check-compilers check-parts check-programs check-quiet check-resident check-torch check-unwind check-triage check-deb check-deploy check-distros check-packages check-fleet check-healthy check-units check-vm check-zoo dashboards deb fuzz bench bench-export bench-fleet bench-resident bench-series image install uninstall dist clean workloads docs readme rules bench-report bench-triage bench-view check-blackbox check-blackbox-quiet check-report pictures
.DELETE_ON_ERROR:
.SECONDARY:

ifeq ($(CROSS),)
all: $(BUILD)/faultscope docs ## build the program, its man pages and completions
else
all: cross
endif

cross: sysroot
	$(MAKE) --no-print-directory $(BUILD)/faultscope

sysroot: ## with ARCH=: fetch another architecture's libraries
	tools/sysroot.py $(TRIPLET) $(SYSROOT)

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: ## install what building and testing need (Debian packages, as root)
	tools/setup.sh

# The BPF programs that watch processes are built three times, for kernels with different features:
# see bpf/compat.bpf.h.
# Besides debug information, removes what libbpf does not read: relocations that only a linker of BPF
# objects needs, the names of jump labels, and line numbers. They take two thirds of an object. With
# BPF_LINES=1, line numbers and source text remain, and the verifier's log shows them.
BPF_STRIPPED := -g -R .rel.BTF -R .rel.BTF.ext --wildcard --strip-symbol 'LBB*'
DROP_LINES := $(if $(BPF_LINES),true,$(BUILD)/drop_lines)
HOSTCC ?= cc
$(BUILD)/drop_lines: tools/drop_lines.c
	@mkdir -p $(@D)
	$(HOSTCC) -O2 -Wall -Wextra $(if $(WERROR),-Werror) $< -o $@

BPF_OBJECTS := $(addprefix $(BUILD)/,faultscope.bpf.o faultscope_plain.bpf.o faultscope_hash.bpf.o)
$(BUILD)/faultscope.bpf.o: STATE :=
$(BUILD)/faultscope_plain.bpf.o: STATE := -DFS_PLAIN
$(BUILD)/faultscope_hash.bpf.o: STATE := -DFS_HASH
$(BPF_OBJECTS): $(BUILD)/%.bpf.o: bpf/faultscope.bpf.c $(filter-out bpf/%blackbox.bpf.c \
	bpf/wire_blackbox.h,$(wildcard bpf/*)) $(wildcard src/records/*) vmlinux/vmlinux.h $(BUILD)/drop_lines
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) $(STATE) -c $< -o $@
	$(DROP_LINES) $@
	$(STRIP_BPF) $(BPF_STRIPPED) $@

# The flight recorder's BPF program is built once: it keeps no state of processes, and reads kernel
# data only with bpf_probe_read_kernel().
$(BUILD)/blackbox.bpf.o: bpf/blackbox.bpf.c bpf/wire.h bpf/wire_blackbox.h bpf/compat.bpf.h \
	$(wildcard src/records/*) vmlinux/vmlinux.h $(BUILD)/drop_lines
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -DFS_HASH -c $< -o $@
	$(DROP_LINES) $@
	$(STRIP_BPF) $(BPF_STRIPPED) $@

$(BUILD)/src/probe/precursors.o: ALL_CFLAGS += -Wa,-I$(BUILD)
$(BUILD)/src/probe/precursors.o: $(BUILD)/blackbox.bpf.o

# The renderers use const pointers to the model, and casts must not drop const.
$(BUILD)/src/render/%.o: ALL_CFLAGS += -Wcast-qual

# The names by which the program loads libraries
soname = $(shell $(or $(READELF),readelf) -d "$$($(CC) -print-file-name=lib$(1).so)" | \
	sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
$(BUILD)/src/serve/web_libraries.o: ALL_CFLAGS += -DSONAME_MICROHTTPD='"$(call soname,microhttpd)"' \
	-DSONAME_GNUTLS='"$(call soname,gnutls)"' -DSONAME_YAML='"$(call soname,yaml)"' \
	-DSONAME_CRYPT='"$(call soname,crypt)"'
$(BUILD)/src/base/pack_libraries.o: ALL_CFLAGS += -DSONAME_LZMA='"$(call soname,lzma)"' \
	-DSONAME_BZ2='"$(call soname,bz2)"' -DSONAME_LZ4='"$(call soname,lz4)"' \
	$(if $(UNPACKERS),-DSONAME_ZSTD='"$(call soname,zstd)"')
$(BUILD)/src/mcp/json_library.o: ALL_CFLAGS += -DSONAME_JSON='"$(call soname,json-c)"'
$(BUILD)/src/crash/vmcore/kdump_library.o: \
	ALL_CFLAGS += -DSONAME_KDUMPFILE='"$(call soname,kdumpfile)"'

$(BUILD)/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

# main.o contains the revision. The file `revision` is written only if the revision has changed, so
# that main.o is not rebuilt each time.
$(BUILD)/src/main.o: ALL_CFLAGS += -DREVISION='"$(REVISION)"'
$(BUILD)/src/main.o: $(BUILD)/revision
$(BUILD)/revision: anew
	@mkdir -p $(@D)
	@echo '$(REVISION)' | cmp -s - $@ || echo '$(REVISION)' > $@

# object.o contains the BPF objects as bytes.
$(BUILD)/src/probe/object.o: ALL_CFLAGS += -Wa,-I$(BUILD)
$(BUILD)/src/probe/object.o: $(BPF_OBJECTS)

# html.o contains the style and the script of HTML pages as bytes.
PAGE_PARTS := src/render/html/report.css $(wildcard src/render/html/script/*.js)
$(BUILD)/src/render/html/html.o: ALL_CFLAGS += -Wa,-Isrc/render/html
$(BUILD)/src/render/html/html.o: $(PAGE_PARTS)

$(BUILD)/faultscope: $(OBJ)
	$(CC) $(ALL_LDFLAGS) $^ $(LIBS) -o $@

$(PARTS): $(LIB_OBJ)
	rm -f $@
	$(AR) rcsT $@ $^

$(BUILD)/unit/test_endpoint $(BUILD)/unit/test_verify: LIBS += -lcrypt
# Unit tests, but not the code that they test, are compiled without optimization, which is faster.
$(UNIT): private ALL_CFLAGS := $(filter-out -O% -D_FORTIFY_SOURCE=%,$(ALL_CFLAGS)) -O0
$(BUILD)/unit/%: tests/unit/%.c $(PARTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit $(ALL_LDFLAGS) $(filter %.c %.a,$^) $(LIBS) -o $@

# The program naming prints names of addresses for end-to-end tests; naming_bench measures the time.
$(BUILD)/naming: tests/e2e/naming.c
$(BUILD)/decode: tests/triage/decode.c
$(BUILD)/naming_bench: tests/bench/naming.c
# These programs compare stacks with those of libdw (libdw-dev), and print sizes of unwind tables.
ORACLE_SRC := $(addprefix tests/unwind/,oracle.c traced_space.c reference_stack.c)
$(BUILD)/unwind/oracle: $(ORACLE_SRC) $(PARTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(filter %.c %.a,$^) -ldw $(LIBS) -o $@
$(BUILD)/unwind/figures: tests/unwind/figures.c $(PARTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(filter %.c %.a,$^) $(LIBS) -o $@

$(BUILD)/unwind/core: tests/unwind/core.c tests/unwind/traced_space.c $(PARTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(filter %.c %.a,$^) -ldw $(LIBS) -o $@
# The program kernel_walk compares stacks that a BPF program walks with those of backtrace(3).
$(BUILD)/unwind/kernel_walk.bpf.o: tests/unwind/kernel_walk.bpf.c tests/unwind/kernel_walk.h \
	$(wildcard bpf/*unwind*) vmlinux/vmlinux.h
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(STRIP_BPF) -g $@
$(BUILD)/unwind/kernel_walk: tests/unwind/kernel_walk.c tests/unwind/traced_space.c $(PARTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit $(ALL_LDFLAGS) -pthread $(filter %.c %.a,$^) $(LIBS) -o $@

$(BUILD)/unwind/following: tests/unwind/following.c $(PARTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit $(ALL_LDFLAGS) $(filter %.c %.a,$^) $(LIBS) -ldl -o $@

ROWS_OF := $(wildcard /lib/$(TRIPLET)/libc.so.6 /lib/$(TRIPLET)/libstdc++.so.6 \
	/lib/$(TRIPLET)/libcrypto.so.3 /usr/bin/perl /usr/bin/git /usr/$(TRIPLET_arm64)/lib/libc.so.6)
check-unwind: $(addprefix $(BUILD)/unwind/,oracle core figures following kernel_walk kernel_walk.bpf.o) ## compare stacks of real programs with those of libdw (needs libdw-dev, gdb)
	tests/tally.py "tests/unwind/rows.py $(BUILD)/unwind/figures $(ROWS_OF)" \
		"$(BUILD)/unwind/kernel_walk $(BUILD)/unwind/kernel_walk.bpf.o 200 $(ROWS_OF)" \
		"$(BUILD)/unwind/following $(BUILD)/unwind/kernel_walk.bpf.o" \
		"tests/unwind/run.py $(BUILD)/unwind/oracle" "tests/unwind/cores.py $(BUILD)/unwind/core"

# The program screens prints the live view of a recording without a terminal.
$(BUILD)/screens: tests/e2e/screens.c
# The program situations prints the live view of made-up machines.
$(BUILD)/situations: tests/e2e/situations.c
$(BUILD)/situations: ALL_CFLAGS += -Itests/unit
# The program failing_calls runs commands in which one call of the C library fails.
$(BUILD)/failing_calls: tests/e2e/failing_calls.c
# BPF programs that delay fork() and exit of some processes, and the program that attaches them
$(BUILD)/slow_life.bpf.o: tests/e2e/slow_life.bpf.c vmlinux/vmlinux.h
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@
$(BUILD)/bench/empty: tests/bench/empty.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(LIBS) -o $@
# Programs that write recordings from a seed or with hostile names, and other inputs of tests
WRITERS := $(BUILD)/random_recording $(BUILD)/hostile_recording $(BUILD)/event_recording \
	$(BUILD)/ring_writer $(BUILD)/doctor_pages $(BUILD)/retold_recording $(BUILD)/hook_choices \
	$(BUILD)/pattern_recording $(BUILD)/resident_recording $(BUILD)/busy_recording
$(WRITERS): $(BUILD)/%: tests/e2e/%.c tests/e2e/dice.h tests/e2e/recording_writer.h
$(WRITERS): ALL_CFLAGS += -Itests/unit
$(BUILD)/naming $(BUILD)/decode $(BUILD)/naming_bench $(BUILD)/screens $(BUILD)/situations \
	$(BUILD)/failing_calls $(WRITERS): $(PARTS)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(filter %.c,$^) $(PARTS) $(LIBS) -o $@

$(BUILD)/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra $(if $(WERROR),-Werror) -O2 -g -pthread $< -lm -o $@

# The zoo: a program with test cases whose calls fail for known causes, for x86-64 only. The program
# is static, so that it also runs in guests.
ZOO := $(if $(filter x86,$(ARCH)),build/zoo)
build/zoo: $(sort $(wildcard tests/zoo/*.c)) tests/zoo/zoo.h tests/workloads/common.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -Wall -Wextra $(if $(WERROR),-Werror) -Wno-missing-field-initializers -O2 -g -static -pthread \
		$(filter %.c,$^) -o $@

workloads: $(WORKLOADS) ## build the programs that tests and benchmarks watch

# A program without shared libraries, for rescue systems, containers and kernels in QEMU
static: $(STATIC)/faultscope ## build the program without shared libraries

$(STATIC)/faultscope: $(STATIC_OBJ) | $(if $(CROSS),sysroot)
	@mkdir -p $(@D)
	libs=$$(tools/static_libs.sh $(if $(STATIC_HTTP),--http) $(if $(JSON),--json) $(CC) $(LIBRARY_PATHS)) && \
		$(CC) -static $(LDFLAGS) $(LIBRARY_PATHS) $^ $$libs -lm -o $@

$(STATIC)/p11_absent.c: tools/p11_absent.sh
	@mkdir -p $(@D)
	$< $(CC) $(LIBRARY_PATHS) > $@

# Platforms of the container image, and the static program of each
IMAGE_ARCHES ?= amd64 arm64
IMAGE_PROGRAMS := $(foreach a,$(IMAGE_ARCHES),$(a)=build/static$(if $(filter-out $(HOST_ARCH),\
	$(call arch_of,$(a))),-$(call arch_of,$(a)))/faultscope)
.PHONY: image-programs sysroot-if-cross
image-programs:
	for arch in $(IMAGE_ARCHES); do \
		$(MAKE) --no-print-directory ARCH=$$arch sysroot-if-cross && \
			$(MAKE) --no-print-directory ARCH=$$arch static || exit 1; \
	done
sysroot-if-cross: $(if $(CROSS),sysroot)

image: image-programs ## build the container image for amd64 and arm64, build/faultscope.oci.tar (tools/setup.sh package cross; IMAGE_ARCHES=)
	tools/image.sh $(VERSION) build/faultscope.oci.tar $(IMAGE_PROGRAMS)

# What the tests of tools/release.py need
RELEASE_PARTS = all $(WRITERS) $(BUILD)/screens build/tables
.PHONY: release check-release
release: $(RELEASE_PARTS) ## build a release into build/release: programs, packages, image, bill of materials (tools/setup.sh test package cross)
	tools/release.py

check-release: $(RELEASE_PARTS) ## build a release of the last commit in a temporary clone (minutes)
	tests/tally.py "tests/deploy/release.py"

deb: ## build the Debian packages into build/deb (tools/setup.sh package)
	tools/deb.sh build/deb

# Archive of those BTF types that the BPF programs read, for kernels without /sys/kernel/btf
KERNEL_BTF ?= /sys/kernel/btf/vmlinux
btf-archive: $(BPF_OBJECTS) ## with KERNEL_BTF="FILE…": archive of small BTF files, for kernels without BTF
	tools/btf_archive.sh $(BPFTOOL) build/btf $(firstword $(subst -, ,$(TRIPLET))) \
		"$(BPF_OBJECTS)" $(KERNEL_BTF)

# A build with gcov counters in build/coverage. The result is a percentage of lines for
# each folder of src/.
.PHONY: coverage
coverage: ## line coverage of each folder of src/ by unit tests and recording tests
	$(MAKE) --no-print-directory BUILD=build/coverage REVISION=coverage PLACELESS= \
		CFLAGS="-O0 -g --coverage -fprofile-update=atomic" LDFLAGS=--coverage check-parts
	tests/covered.py build/coverage

# Address of the runbooks, the name of the scrape job, and other values of deploy/prometheus/values.json,
# for example CONFIG="fdFailures=50 stall=0.5"
rules: ## with RUNBOOKS=URL JOB=NAME CONFIG=…: write alerts with your values into build/prometheus
	tools/rules.py $(BUILD)/prometheus $(if $(RUNBOOKS),'runbooks=$(RUNBOOKS)') \
		$(if $(JOB),'selector=job="$(JOB)"') $(CONFIG)

docs: $(MAN) $(COMPLETIONS)

dashboards: $(DASHBOARDS) ## render the dashboards for Grafana (needs jsonnet)

$(BUILD)/dashboards/faultscope-%.json: deploy/grafana/%.jsonnet deploy/grafana/panels.libsonnet
	@mkdir -p $(@D)
	jsonnet -o $@ $<

# The program itself prints its man pages. For another architecture, the host's build prints them.
PRINTER := $(if $(CROSS),build,$(BUILD))/faultscope
ifneq ($(CROSS),)
$(PRINTER):
	$(MAKE) --no-print-directory ARCH=$(HOST_ARCH) CC=cc CROSS_COMPILE= $@
endif

$(MAN): $(PRINTER)
	@mkdir -p $(@D)
	$< man $(patsubst faultscope-%,%,$(filter faultscope-%,$(basename $(@F)))) > $@

$(BUILD)/completions/faultscope.bash: $(PRINTER)
	@mkdir -p $(@D)
	$< completion bash > $@
$(BUILD)/completions/_faultscope: $(PRINTER)
	@mkdir -p $(@D)
	$< completion zsh > $@
$(BUILD)/completions/faultscope.fish: $(PRINTER)
	@mkdir -p $(@D)
	$< completion fish > $@

# Fuzzers are linked with the libraries of compressed formats.
BASE_FUZZED := $(filter-out $(PACK_LOADED),$(wildcard src/base/*.c))
# Fuzzer of the analysis of crash logs: arbitrary bytes are the log.
FUZZED := $(sort $(BASE_FUZZED) $(wildcard src/triage/*.c src/render/crash/*.c src/blackbox/*.c)) \
	src/render/gaps.c src/render/style.c src/render/json_out.c src/render/utc.c \
	src/rules/diagnoses.c
$(BUILD)/fuzz/triage_fuzz: tests/fuzz/triage_fuzz.c $(FUZZED) $(wildcard src/triage/*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -DFUZZER -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -Isrc -Ibpf $(filter %.c,$^) $(PACKERS) -lm -o $@

# Fuzzer of workload names, and of the metrics page with these names
PAGE_FUZZED := $(sort $(BASE_FUZZED) $(wildcard src/model/*.c src/render/prom/exposition*.c)) \
	src/render/prom/prom.c src/render/prom/resident_places.c src/render/memory_rows.c src/render/view.c src/serve/gzip.c
$(BUILD)/fuzz/page_fuzz: tests/fuzz/page_fuzz.c $(PAGE_FUZZED) $(wildcard src/model/*.h src/render/*.h src/render/*/*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -Isrc -Ibpf -Itests/unit $(filter %.c,$^) $(PACKERS) -lm -o $@

# Fuzzer of the reader of flight recorder records
BLACKBOX_FUZZED := $(sort $(BASE_FUZZED) $(wildcard src/blackbox/*.c)) src/triage/address.c \
	src/triage/incident.c src/triage/crash_signs.c src/triage/str.c src/render/crash/kernel_records.c \
	src/render/style.c src/render/json_out.c src/render/utc.c src/rules/diagnoses.c
$(BUILD)/fuzz/blackbox_fuzz: tests/fuzz/blackbox_fuzz.c $(BLACKBOX_FUZZED) $(wildcard src/blackbox/*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -Isrc -Ibpf $(filter %.c,$^) $(PACKERS) -lm -o $@

# Fuzzer of the reader of recordings, and of every output for a recording, without the commands
RECORDING_FUZZED := $(filter-out src/render/crash/crash_% $(PACK_LOADED),$(sort $(foreach room,\
	base records blackbox model rules triage collect probe render,$(wildcard src/$(room)/*.c src/$(room)/*/*.c))))
$(BUILD)/fuzz/recording_fuzz: tests/fuzz/recording_fuzz.c $(RECORDING_FUZZED) $(BPF_OBJECTS) \
	$(BUILD)/blackbox.bpf.o \
	$(wildcard src/probe/*.h src/model/*.h src/render/*.h src/render/*/*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -Wa,-I$(BUILD) -Wa,-Isrc/render/html \
		-fno-sanitize-recover=undefined -Isrc -Ibpf -DVERSION='"$(VERSION)"' \
		$(filter %.c,$^) $(LIBS) -o $@

# unwind_fuzz fuzzes call frame information, and stack walks with the tables that are made from it.
UNWIND_FUZZED := $(filter-out $(addprefix %/,unwind_maps.c code_files.c mapped_code.c area_blocks.c \
	unwinder.c),$(sort $(wildcard src/unwind/*.c))) src/collect/symbols/elf_headers.c \
	src/collect/files/byte_source.c src/base/array.c
$(BUILD)/fuzz/unwind_fuzz: tests/fuzz/unwind_fuzz.c $(UNWIND_FUZZED) tests/unit/cfi_maker.h \
	$(wildcard src/unwind/*.h bpf/wire_unwind*.h)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -Isrc -Ibpf -Itests/unit $(filter %.c,$^) -lelf -o $@

FUZZ_SECONDS ?= 600
fuzz: ## coverage-guided fuzzing of triage, recordings, metrics pages, ring files and unwind tables (FUZZ_SECONDS=600)
	BUILD=$(BUILD) tests/fuzz/run.sh $(FUZZ_SECONDS)

# CORPUS is another directory of crash logs, whose layout tests/triage/score.py describes.
check-triage: all ## score triage on logs with known answers (CORPUS=DIR: on others)
	tests/tally.py "tests/triage/score.py $(if $(CORPUS),--corpus $(CORPUS))" tests/triage/real.py

bench-triage: all ## compare triage with greps on logs with known answers (CORPUS=DIR)
	tests/triage/anchors.py --corpus $(CORPUS)

# The programs that tests need; with SAN=1 they are built with AddressSanitizer and UBSan.
check-parts: all $(UNIT) $(WORKLOADS) $(BUILD)/naming $(BUILD)/decode $(BUILD)/screens \
	$(BUILD)/situations $(BUILD)/failing_calls $(WRITERS) $(ZOO) $(BUILD)/slow_life.bpf.o $(BUILD)/bench/empty

# A test that waits for a long time comes first, because it would run alone at the end.
LONG_UNITS := test_recording test_completeness test_record_packing test_blackbox_live test_messages
UNIT_TESTS = $(LONG_UNITS) $(filter-out $(LONG_UNITS),$(UNIT_SRC:tests/unit/%.c=%))

build/vmlinux_check: tests/shape/vmlinux_check.c
	$(CC) -std=gnu11 -Wall -Wextra $(if $(WERROR),-Werror) $< -lbpf -o $@

# build/check.log contains all output of the tests. Of the tests between two words `then`, two more
# than there are CPUs run at once, since those of the zoo and of deploy/ often wait.
TALLY = tests/tally.py --jobs $$(($$(nproc) + 2)) --log build/check.log

# The tests that every change must pass; those that take longest come first
TESTS = "tests/zoo/run.py --ways run" tests/deploy/check.py \
	"tests/tally.py --self-test" "tests/mutants/changes.py --self-test" \
	"tests/mutants/same_effect.py --self-test" \
	"tests/shape/walls.py --self-test" tests/shape/walls.py \
	tests/shape/documents.py tests/shape/pages.py "tests/shape/measured.py --self-test" \
	tests/shape/measured.py "tests/shape/words.py --self-test" tests/shape/words.py \
	"tests/shape/style.sh --self-test" tests/shape/style.sh \
	"tests/shape/vmlinux.sh build/vmlinux_check" \
	"tests/zoo/lifetimes.py --self-test" \
	"tests/shape/readonly.py $(BPF_OBJECTS) $(BUILD)/blackbox.bpf.o" \
	"tests/shape/stack.py $(BPF_OBJECTS) $(BUILD)/blackbox.bpf.o" \
	"tests/shape/loops.py $(filter-out %/faultscope.bpf.o,$(BPF_OBJECTS)) $(BUILD)/blackbox.bpf.o" \
	"tests/shape/atomics.py $(BUILD)/faultscope_hash.bpf.o" \
	"tests/shape/walks.py $(BPF_OBJECTS)" \
	"tools/readme.py build --check" \
	tests/triage/score.py tests/triage/decoder.py \
	"tests/triage/real.py --self-test" tests/triage/real.py \
	$(addprefix build/unit/,$(UNIT_TESTS)) then tests/e2e/run.py \
	$(if $(HTTP),then tests/export/run.py)

# Debian releases in which the README's two commands must work
DISTROS ?= bookworm trixie sid

# End-to-end tests that try more cases with LONG=1
MORE_CASES := forked_workers|outputs_|made_recordings|python|code_objects|architectures
MORE_CASES := $(MORE_CASES)|bench_|left_out|no_evidence|signals_at|histories|exits_during|heirs
MORE_CASES := $(MORE_CASES)|large_logs|measures_without|completion_in|memory_runs_out|allocation_fails

# Longer tests: with sanitizers, with fuzzers, with every way to watch the zoo (programs whose calls
# fail for known causes), and briefly on other kernels
LONG_TESTS = then $(addprefix build/san/unit/,$(UNIT_TESTS)) then tests/fuzz/run.sh \
	then "BUILD=build/san tests/e2e/run.py" \
	then "LONG=1 tests/e2e/run.py --only '$(MORE_CASES)'" \
	$(if $(HTTP),then "BUILD=build/san tests/export/run.py") then tests/zoo/run.py \
	then "tests/vm/run.py --brief --kernels $(KERNELS) --table build/kernels-brief.md" \
	then "tests/distros/run.sh $(DISTROS)"

# End-to-end tests on stock kernels; build/kernels.md is the table of their results.
KERNELS ?= 5.10,6.1,6.12,newest
comma := ,
ZOO_KERNELS = $(if $(ZOO),$(filter 6.1 6.12,$(subst $(comma), ,$(KERNELS))))
# Tests of memory shortage, in guests that are short of memory
space := $(subst ,, )
PRESSURE_KERNELS = $(subst $(space),$(comma),$(filter 6.1 6.12 newest,$(subst $(comma), ,$(KERNELS))))
IN_KERNELS = tests/vm/run.py --kernels $(KERNELS) $(addprefix --zoo ,$(ZOO_KERNELS)) \
	--table build/kernels.md
UNDER_PRESSURE = tests/vm/pressure.py --kernels $(PRESSURE_KERNELS)
RESIDENT_KERNELS = $(subst $(space),$(comma),$(filter 6.1 6.12 newest 6.12-arm64,$(subst $(comma), ,$(KERNELS))))
RESIDENT_IN_KERNELS = tests/vm/resident.py --kernels $(RESIDENT_KERNELS)
# Power cuts while an exporter stores incidents
CUT_KERNELS = $(subst $(space),$(comma),$(filter 6.1 6.12,$(subst $(comma), ,$(KERNELS))))
CUTS_IN_KERNELS = tests/vm/power_cut.py --kernels $(CUT_KERNELS)
OOM_KERNELS = $(subst $(space),$(comma),$(filter 5.10 6.1 6.12 newest,$(subst $(comma), ,$(KERNELS))))
OOM_IN_KERNELS = tests/vm/oom.py --kernels $(OOM_KERNELS)
# Cases of drivers that only this kernel has
DRIVERS_IN_KERNEL = tests/zoo/run.py --vm 6.12-drivers --case 'rdma-*'

check-builds: build/vmlinux_check build/tables dashboards check-parts

check: check-builds ## the tests that every change must pass
	$(TALLY) $(TESTS)

# The tests in guests run after all other tests, since a guest on a busy machine may exceed its
# timeouts.
check-all: check-builds static ## every test: check, sanitizers, fuzzers, and briefly other kernels (KERNELS=)
	$(MAKE) --no-print-directory SAN=1 check-parts
	$(TALLY) $(TESTS) $(LONG_TESTS)

# Mutants are made in a copy of the tree, in build/mutants. An interrupted run continues.
MUTANTS ?= 200
SEED ?= 1
SUITES ?=
.PHONY: mutants
mutants: ## mutation testing: do quick tests notice random changes of the source? (MUTANTS=200, SEED=1, SUITES=unit,e2e; hours)
	tests/mutants/run.py --count $(MUTANTS) --seed $(SEED) $(if $(SUITES),--suites $(SUITES))

.PHONY: bounds
bounds: ## comparisons that tests execute, but never with equal values (minutes, needs clang and llvm)
	tests/mutants/bounds.py --recordings

check-distros: ## test the README's two commands in fresh Debian systems (DISTROS="bookworm trixie sid")
	tools/setup.sh distros
	tests/tally.py "tests/distros/run.sh $(DISTROS)"

# Debian releases in which the packages are built, and in which they are upgraded in QEMU
PACKAGE_DISTROS ?= bookworm trixie
check-packages: ## build and test the packages in fresh Debian systems, and upgrade them in guests (PACKAGE_DISTROS=, EARLIER=)
	tools/setup.sh test distros
	EARLIER=$(EARLIER) tests/tally.py "tests/distros/run.sh --packages $(PACKAGE_DISTROS)" \
		then "tests/vm/upgrade_guest.py $(PACKAGE_DISTROS)"

check-vm: static $(ZOO) ## test every probe and attach type on real kernels in QEMU (KERNELS=5.10,6.1,6.12,newest)
	tools/setup.sh test
	tests/tally.py "$(IN_KERNELS)" $(if $(PRESSURE_KERNELS),"$(UNDER_PRESSURE)") $(if $(RESIDENT_KERNELS),"$(RESIDENT_IN_KERNELS)") $(if $(CUT_KERNELS),"$(CUTS_IN_KERNELS)") $(if $(OOM_KERNELS),"$(OOM_IN_KERNELS)") $(if $(ZOO_KERNELS),"$(DRIVERS_IN_KERNEL)")

# Compilers for check-compilers: by default all installed versions of clang
CLANGS ?= $(or $(sort $(notdir $(wildcard /usr/bin/clang-[1-9][0-9]))),$(CLANG))
check-compilers: all static ## load every BPF program as each clang builds it, here and in QEMU (CLANGS=, KERNELS=)
	$(TALLY) "tests/compilers/load.py $(addprefix --kernels ,$(KERNELS)) $(CLANGS)"

# check-blackbox causes 38 faults in each kernel, most of them crashes, and a warm reboot after each
# fault. Three kernels take an hour. CUTS is the number of power cuts on kernel 6.12.
BLACKBOX_KERNELS ?= 6.1,6.12,newest
CUTS ?= 100
check-blackbox: all static ## test the flight recorder with kernel crashes and power cuts, in QEMU (an hour)
	tools/setup.sh test
	tests/tally.py "tests/vm/blackbox.py --kernels $(BLACKBOX_KERNELS)" \
		"tests/vm/blackbox.py --kernels $(BLACKBOX_KERNELS) --dump" \
		"tests/vm/vmcore.py --kernels $(BLACKBOX_KERNELS)" \
		"tests/vm/blackbox.py --kernels 6.12 --cuts $(CUTS)"

check-blackbox-quiet: MINUTES = 60
check-blackbox-quiet: static ## test that the flight recorder reports nothing on a busy healthy guest in QEMU (MINUTES=60)
	tools/setup.sh test
	tests/tally.py "tests/vm/blackbox_quiet.py --minutes $(MINUTES) --kernels $(QUIET_KERNELS)"

$(BUILD)/tables: tools/tables.c tools/finding_pages.c $(PARTS)
	$(CC) $(ALL_CFLAGS) -Itools $(ALL_LDFLAGS) $(filter %.c %.a,$^) $(LIBS) -o $@

readme: all build/tables build/screens ## put the program's tables and outputs into README.md and docs/
	tools/readme.py build

check-zoo: all $(ZOO) $(if $(KERNEL),static) ## test the causes that are reported for failed calls (KERNEL=6.12: in a guest)
	tests/zoo/run.py $(if $(KERNEL),--vm $(KERNEL))

# On each kernel the test takes twice MINUTES: once with an idle guest, once with a busy guest.
MINUTES ?= 10
QUIET_KERNELS ?= 6.12
check-quiet: $(if $(HERE),all,static) ## test that healthy machines get no finding (MINUTES=10, QUIET_KERNELS=6.12; HERE=1)
	tests/tally.py "tests/vm/quiet.py --minutes $(MINUTES) $(if $(HERE),--here,--kernels $(QUIET_KERNELS))"

check-units: $(UNIT) ## the unit tests alone
	tests/tally.py --jobs $$(nproc) $(UNIT)

# The version of the packages to upgrade from
EARLIER ?= HEAD^
# The second build has another directory, umask, locale and time zone.
check-deb: ## build the Debian packages twice; test contents, lintian, installation, upgrade
	tools/setup.sh test package
	tools/deb.sh build/deb
	umask 0077 && TZ=Pacific/Kiritimati LC_ALL=C DEB_BUILD_OPTIONS=nocheck \
		tools/deb.sh build/deb-again/elsewhere
	tests/deploy/earlier.sh build/deb-earlier $(EARLIER)
	tests/tally.py "tests/deploy/packages.py build/deb build/deb-again/elsewhere" \
		"tests/deploy/upgrade.py build/deb-earlier build/deb"

check-deploy: all build/tables dashboards ## check the files of deploy/ with promtool, systemd, kubectl and others
	tests/tally.py tests/deploy/check.py

check-fleet: all workloads ## test dozens of exporters: networks, churn, alerts (minutes)
	tools/setup.sh test
	tests/tally.py "tests/export/run.py --fleet"

check-alerts: all ## check with Prometheus and Alertmanager that alerts arrive in time (an hour; ARGS="--minutes 6")
	tests/export/acceptance.py $(ARGS)

bench-export: all ## measure the cost of a scrape, compared with process-exporter and node_exporter
	tests/export/bench.py

bench-series: all ## count the time series of a node with pods, and those of 10,000 hosts (ARGS=--calls)
	tests/bench/series.py $(ARGS)

bench-fleet: all ## measure series, bytes, CPU and memory of Prometheus by level of detail (five minutes)
	tests/bench/fleet.py

check-resident: all ## compare memory with what programs and servers hold (TIMES=3)
	tests/tally.py "tests/resident/run.py $(if $(TIMES),--times $(TIMES))"

bench-resident: all ## compare memory with allocation profilers, and measure it on large programs
	tests/resident/peers.py
	tests/resident/costs.py
	tests/resident/scale.py

check-torch: all $(WORKLOADS) ## test the diagnosis of a real PyTorch DataLoader (installs python3-torch: large)
	tools/setup.sh test torch
	tests/tally.py tests/torch/run.py tests/torch/memory.py tests/torch/outgrow.py

check-report: all ## test HTML reports in a browser (installs Chromium, Node.js: large)
	tools/report_tools.sh
	tests/tally.py tests/report/run.py tests/mcp/run.py

pictures: all ## make the pictures of reports in docs from the examples (installs Chromium, Node.js: large)
	tools/report_tools.sh
	node tools/page_pictures.mjs "$(CURDIR)/build/report-tools/node_modules" /usr/bin/chromium \
		"$(CURDIR)/docs/examples" "$(CURDIR)/docs/pictures"

check-programs: all ## test the diagnosis of leaking Debian programs (installs Java, Go, Redis, Node.js: large)
	tools/setup.sh test programs
	tests/tally.py tests/programs/run.py

check-healthy: all ## test that healthy Debian programs get no warning (installs PostgreSQL, php-fpm, nginx, MariaDB, Chromium: large)
	tools/setup.sh test healthy
	tests/tally.py tests/programs/healthy.py

.PHONY: check-healthy-vm
HEALTHY_KERNELS ?= 6.1,6.12
check-healthy-vm: static ## test healthy Debian programs in QEMU, with control groups of version 2 (makes a Debian system: large; an hour)
	tools/setup.sh test distros
	tests/tally.py "tests/vm/healthy_programs.py --kernels $(HEALTHY_KERNELS)"

bench-report: all $(BUILD)/busy_recording ## measure how long the HTML report of a day takes to open (installs Chromium, Node.js: large)
	tools/report_tools.sh
	tests/report/speed.py

bench-view: all ## measure the cost of the live view with 1,000 processes
	tests/bench/view.py

# ROWS selects rows of tests/bench/rows.py, and prints them only. A run with all rows takes at most 20
# minutes, and writes docs/performance.json.
ROWS ?=
ROUNDS ?=
bench: all $(WORKLOADS) $(BUILD)/pattern_recording $(BUILD)/bench/empty ## measure the cost of every mode for other programs, beside bpftrace and perf, which it installs (ROWS=fault,pipe ROUNDS=3)
	tools/setup.sh test bench || echo "make bench: rows of programs that are missing are not measured" >&2
	tests/bench/run.py $(if $(ROWS),--rows $(ROWS)) $(if $(ROUNDS),--rounds $(ROUNDS))

bench-details: all $(WORKLOADS) $(BUILD)/naming_bench ## measure stack walks, names of stacks, CPU time at intervals, program size
	tools/setup.sh test bench
	tests/bench/details.py

# STRIP= (empty) keeps the symbols, which debuggers need and the program does not.
STRIP ?= $(CROSS_COMPILE)strip
SHARE := $(DESTDIR)$(PREFIX)/share
# Directory of zsh completions: Debian's for packages, else the one for local installations
ZSH := $(SHARE)/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
INSTALLED := $(DESTDIR)$(PREFIX)/bin/faultscope $(addprefix $(SHARE)/man/man8/,$(notdir $(MAN))) \
	$(SHARE)/bash-completion/completions/faultscope $(ZSH)/_faultscope \
	$(SHARE)/fish/vendor_completions.d/faultscope.fish

install: all docs ## install the program, man pages and completions (PREFIX=/usr/local, DESTDIR=, STRIP=)
	install -D $(if $(STRIP),-s --strip-program=$(STRIP)) -m755 $(BUILD)/faultscope \
		$(DESTDIR)$(PREFIX)/bin/faultscope
	install -d $(SHARE)/man/man8
	install -m644 $(MAN) $(SHARE)/man/man8
	install -Dm644 $(BUILD)/completions/faultscope.bash $(SHARE)/bash-completion/completions/faultscope
	install -Dm644 $(BUILD)/completions/_faultscope $(ZSH)/_faultscope
	install -Dm644 $(BUILD)/completions/faultscope.fish \
		$(SHARE)/fish/vendor_completions.d/faultscope.fish

uninstall: ## remove what install put there (the same PREFIX and DESTDIR)
	rm -f $(INSTALLED)

DIST := faultscope-$(VERSION)
dist: ## the source of the last commit as build/faultscope-VERSION.tar.gz
	@mkdir -p build
	git archive --prefix=$(DIST)/ HEAD | gzip -9n > build/$(DIST).tar.gz

clean: ## remove everything that was built
	rm -rf build

-include $(OBJ:.o=.d) $(patsubst %.o,%.d,$(filter %.o,$(STATIC_OBJ))) $(UNIT:=.d)
