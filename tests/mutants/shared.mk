# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Links everything but main() into one library that all unit tests share. So only two links are
# needed for each mutant. tests/mutants/run.py runs this makefile at the top of a copied tree, with BUILD=.
include Makefile

EXTRA ?=
# Tests play functions such as read(), for which code with _FORTIFY_SOURCE calls __read_chk().
ALL_CFLAGS := $(filter-out -D_FORTIFY_SOURCE=%,$(ALL_CFLAGS))
# A mutant that causes a type error does not count. (With -w, the compiler would not report type
# errors.)
ALL_CFLAGS += -fPIC -Werror=incompatible-pointer-types -Werror=int-conversion $(EXTRA)
LIBRARY := $(BUILD)/libfaultscope.so
HELPERS := naming screens situations failing_calls $(notdir $(WRITERS))
# test_object reads symbols that the shared library does not export.
TESTS := $(patsubst tests/unit/%.c,$(BUILD)/shared/unit/%,$(filter-out %/test_object.c,$(sort \
	$(wildcard tests/unit/test_*.c))))
WITH_LIBRARY = $(EXTRA) -L$(BUILD) -lfaultscope -Wl,-rpath,$(CURDIR)/$(BUILD) $(LIBS)

$(BUILD)/shared/unit/test_endpoint $(BUILD)/shared/unit/test_verify: LIBS += -lcrypt
# These tests read their own debug information.
$(addprefix $(BUILD)/shared/unit/,test_line_helper test_session_lines test_source_lines): ALL_CFLAGS += -g

.PHONY: shared-all shared-programs shared-program
shared-all: shared-programs $(TESTS)
shared-programs: shared-program $(addprefix $(BUILD)/shared/,$(HELPERS))
shared-program: $(BUILD)/shared/faultscope

# counted.o makes programs that confine themselves write their gcov counters nevertheless.
COUNTED := $(if $(findstring --coverage,$(EXTRA)),$(BUILD)/counted.o)
$(BUILD)/counted.o: tests/mutants/counted.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -fPIC -c $< -o $@

# bounds.o notes the values that comparisons meet (bounds.py).
BOUNDS := $(if $(findstring trace-cmp,$(EXTRA)),$(BUILD)/bounds.o)
$(BUILD)/bounds.o: tests/mutants/bounds.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -fPIC -c $< -o $@

$(LIBRARY): $(LIB_OBJ) $(COUNTED) $(BOUNDS)
	$(CC) -shared $(EXTRA) $^ $(LIBS) -o $@

$(BUILD)/shared/faultscope: $(BUILD)/src/main.o | $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $< $(WITH_LIBRARY) -o $@

$(BUILD)/shared/unit/%: tests/unit/%.c | $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit $< $(WITH_LIBRARY) -o $@

$(addprefix $(BUILD)/shared/,$(HELPERS)): $(BUILD)/shared/%: tests/e2e/%.c | $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests/unit $< $(WITH_LIBRARY) -o $@

-include $(TESTS:=.d) $(patsubst %,$(BUILD)/shared/%.d,$(HELPERS))
