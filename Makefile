# pj: one Makefile for everything. `make help` lists the targets.
# Each variant has a folder of its own below build/, so variants never share objects: SAN=1 (address and
# undefined-behaviour sanitizers), SAN=thread (ThreadSanitizer), CC, and each library that is left out (ZSTD=0, LZMA=0,
# ...).

CC      ?= cc
PREFIX  ?= /usr/local
DESTDIR ?=
MANDIR  ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
V       ?= 0
SAN     ?= 0
T       ?=
SECS    ?= 60
# folders for the files that packages install in addition (make install-system)
DOCDIR  ?= $(PREFIX)/share/doc/pj
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
# STATIC=1: build one static program that contains all tools and libraries (make static)
STATIC  ?= 0
# WERROR=1: warnings are errors. ./check sets it, so that other compilers' warnings stop no user's build.
WERROR  ?= 0

# Compressed recordings need libzstd; all else works without it. ZSTD is 1 if its header exists, unless the user sets
# ZSTD=0.
ifndef ZSTD
ZSTD := $(shell printf '\043include <zstd.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo 1 || echo 0)
endif

# Inlined functions (--inline) need libdw; LIBDW is set as ZSTD.
ifndef LIBDW
LIBDW := $(shell printf '\043include <elfutils/libdw.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo 1 || echo 0)
endif

# A static program cannot load libcurl at run time, and distributions lack static forms of some libraries that libcurl
# needs. So make static-curl builds a static one.
STATIC_CURL ?= build/static-curl
ifeq ($(STATIC),1)
CURL ?= $(if $(wildcard $(STATIC_CURL)/lib/libcurl.a),1,0)
CURL_CFLAGS_1 := -isystem $(STATIC_CURL)/include -DCURL_STATICLIB -DPJ_TLS='"$(shell cat $(STATIC_CURL)/tls 2>/dev/null)"'
CURL_LIBS_1 := -L$(STATIC_CURL)/lib -lcurl $(shell cat $(STATIC_CURL)/libs 2>/dev/null)
endif

# Stores behind HTTP (eve:, couch:, clickhouse:, pyroscope:) need libcurl: its headers for the build, the library when
# such a store is used (libcurl.h). Those of them that answer in JSON need jansson, too.
ifndef CURL
CURL := $(shell printf '\043include <curl/curl.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo 1 || echo 0)
endif
ifndef JANSSON
JANSSON := $(shell printf '\043include <jansson.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo 1 || echo 0)
endif

# Optional: liblzma, for the symbols that Fedora packs into .gnu_debugdata. LZMA= builds without it.
ifeq ($(origin LZMA),undefined)
LZMA    := $(shell $(firstword $(CC)) -E -include lzma.h -x c /dev/null >/dev/null 2>&1 && echo 1)
ifeq ($(LZMA)$(MAKELEVEL),0)
$(warning lzma.h is missing (liblzma-dev): pjfold will not read the symbols in .gnu_debugdata)
endif
endif

CCNAME  := $(notdir $(firstword $(CC)))
VARIANT := $(if $(filter 1,$(STATIC)),static-)$(if $(filter fuzz cover thread,$(SAN)),$(SAN),$(if $(filter 1,$(SAN)),san,std))-$(CCNAME)$(if $(filter 0,$(ZSTD)),-nozstd)$(if $(filter 0,$(LIBDW)),-nodw)$(if $(filter 0,$(CURL)),-nocurl)$(if $(filter 0,$(JANSSON)),-nojson)$(if $(filter 1,$(LZMA)),,-nolzma)
B       := build/$(VARIANT)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 $(if $(filter 1,$(WERROR)),-Werror)
STD  := -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
OPTIM_0    := -O2
OPTIM_1    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
OPTIM_cover := -O0 --coverage -Wno-clobbered -DPJ_COVERAGE
# With -fsanitize=thread, gcc warns of fences, which ThreadSanitizer does not support. -Wno-tsan: the fences of pj are
# for memory that processes share, and ThreadSanitizer checks only one process.
OPTIM_thread := -O1 -fsanitize=thread $(if $(findstring clang,$(CC)),,-Wno-tsan)
OPTIM_fuzz = -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all $(STEPS)
# A basic block is a step in the budget of a fuzz target (test/fuzz/cost.h). libFuzzer also defines the function that
# counts them, so fuzz targets are linked with --wrap.
STEPS := -fsanitize-coverage=trace-pc
# -g1 for sanitizers: their reports need only functions and lines, and gcc compiles in two thirds of the time of -g.
CFLAGS  ?= $(if $(filter 1,$(SAN)),-g1,-g)
ALL_CFLAGS = $(STD) $(WARN) $(OPTIM_$(SAN)) -fno-common -fno-omit-frame-pointer -fstack-protector-strong -I. -MMD -MP -pthread $(if $(filter 1,$(ZSTD)),-DPJ_ZSTD) $(if $(filter 1,$(LIBDW)),-DPJ_LIBDW) $(if $(filter 1,$(CURL)),-DPJ_CURL) $(if $(filter 1,$(JANSSON)),-DPJ_JANSSON) $(STATIC_CFLAGS) $(CFLAGS)
# --as-needed: a tool is linked only with libraries that it uses, so that pjsvg starts without those of pjfold
LDLIBS  += -Wl,--as-needed $(if $(filter 1,$(CURL)),$(if $(filter 1,$(STATIC)),$(CURL_LIBS_1),-ldl)) $(if $(filter 1,$(JANSSON)),-ljansson) $(if $(filter 1,$(LIBDW)),-ldw -lelf) -liberty $(if $(filter 1,$(LZMA)),-llzma) $(if $(filter 1,$(ZSTD)),-lzstd) -lz -pthread -lm

# the static libelf and libdw need libbz2
ifeq ($(STATIC),1)
STATIC_CFLAGS = -DPJ_STATIC -fPIE -ffunction-sections -fdata-sections $(if $(filter 1,$(CURL)),$(CURL_CFLAGS_1))
STATIC_LDFLAGS := -static-pie -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
LDLIBS  += $(if $(filter 1,$(LIBDW)),-lelf -lbz2 -llzma -lzstd -lz)
endif

ALL_CFLAGS += -DPJ_LZMA=$(if $(filter 1,$(LZMA)),1,0)

Q := $(if $(filter 1,$(V)),,@)
quiet = $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(filter 1,$(V)),,@$(if $(quiet),,printf '  %-5s %s\n' $(1) $(2);))

# A tool consists of its main (FOLDER/pjNAME.c), the other modules below FOLDER, and the library: common/, unwind/ and
# runtimes/.
MAINS := $(wildcard */pj*.c)
LIBRARY := common unwind runtimes
ROOMS := $(sort $(patsubst %/,%,$(dir $(MAINS))))
# modules FOLDERS: all .c and .S files below the folders except the mains, and the agent, which is a library of its own
modules = $(sort $(filter-out %/agent/agent.c $(MAINS),$(shell find $(1) -name '*.[cS]')))
SCRIPTS := $(patsubst flame/%.sh,$(B)/bin/%,$(wildcard flame/pj*.sh))
TOOLS := $(patsubst %.c,$(B)/bin/%,$(notdir $(MAINS)))
LIB   := $(B)/libpj.a
LIBOBJS := $(patsubst %.c,$(B)/%.o,$(call modules,$(LIBRARY)))
parts = $(patsubst %,$(B)/%.o,$(basename $(call modules,$(1))))
MANS := $(wildcard man/*.[1-9])

# Tests and fuzz targets have mains of their own, and are linked with the modules that they need of any tool.
PARTS   := $(B)/parts.a
UNITS   := $(patsubst %.c,$(B)/%,$(sort $(shell find test -name '*_test.c' -not -path 'test/corpus/*')))
WALK    := $(B)/test/unwind/dwarf/walk $(B)/test/unwind/dwarf/unwound $(B)/test/runtimes/hotspot/javawalk
REPLAYS := $(patsubst %.c,$(B)/%,$(wildcard test/fuzz/*/*_fuzz.c))

all: $(TOOLS) $(SCRIPTS) $(B)/completions/done ## build every tool (V=1 shows commands; SAN=1 with sanitizers; CC=clang)

define tool
$(B)/bin/$(notdir $(1:.c=)): $(B)/$(1:.c=.o) $(call parts,$(patsubst %/,%,$(dir $(1)))) $(LIB)
endef
$(foreach m,$(MAINS),$(eval $(call tool,$(m))))

# A build for coverage also writes the counters of forked processes: these end by _exit(), or by a signal.
ifeq ($(SAN),cover)
LDLIBS += -Wl,--wrap=_exit -Wl,--wrap=kill -Wl,--wrap=prctl $(B)/test/lib/gcovexit.o
$(TOOLS) $(UNITS) $(WALK) $(REPLAYS): | $(B)/test/lib/gcovexit.o
endif

ifeq ($(STATIC),1)
# One program; the tools are links to it, and the main of each tool is renamed to main_of_TOOL. The linker's warnings
# about lookups of users and hosts are left out: restrict_lookups in multicall.c makes these safe.
MAINOBJS := $(patsubst %.c,$(B)/%.o,$(MAINS))
$(foreach m,$(MAINS),$(eval $(B)/$(m:.c=.o): ALL_CFLAGS += -Dmain=main_of_$(notdir $(m:.c=)) -Wno-missing-prototypes))
$(B)/packaging/multicall.o: ALL_CFLAGS += -DPJ_TOOLS='$(foreach t,$(sort $(notdir $(TOOLS))),X($(t)))'

$(B)/pj.full: $(B)/packaging/multicall.o $(MAINOBJS) $(call parts,$(ROOMS)) $(LIB)
	$(call say,LD,$@)if $(CC) $(ALL_CFLAGS) $(STATIC_LDFLAGS) -Wl,-Map=$@.map $(LDFLAGS) -o $@ $^ $(LDLIBS) 2>$@.log; then \
		grep -vE 'in function|requires at runtime the shared libraries' $@.log >&2 || :; else cat $@.log >&2; false; fi

$(B)/bin/pj: $(B)/pj.full
	@mkdir -p $(@D)
	$(call say,STRIP,$@)strip -o $@ $<

$(TOOLS): $(B)/bin/pj
	$(call say,LN,$@)ln -sf pj $@
else
$(TOOLS):
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
endif

# A tool that is a shell script is one file, assembled from its parts.
$(SCRIPTS): $(B)/bin/%: flame/%.sh $(wildcard flame/*) common/base.h
	@mkdir -p $(@D)
	$(call say,SH,$@)sh flame/assemble "$$(sed -n 's/^#define PJ_VERSION "\(.*\)"/\1/p' common/base.h)" $* >$@.new && chmod 755 $@.new && mv $@.new $@

# Shell completions are made from --help of each tool and of its verbs (pjflame dump --help). A build for another
# processor has none, because its tools do not run here.
COMMANDS := $(notdir $(TOOLS) $(SCRIPTS))
$(B)/completions/done: common/filter/completions.awk $(TOOLS) $(SCRIPTS)
	@rm -rf $(@D).new && mkdir -p $(@D) $(@D).new
	$(call say,HELP,$(@D))for t in $(COMMANDS); do \
		LC_ALL=C $(B)/bin/$$t --help >$(@D).new/$$t.help 2>/dev/null || { echo "no completions: $(B)/bin/$$t does not run here"; break; }; \
		for v in $$(sed -n "s/^ *\(usage: \)*$$t \([a-z][a-z]*\) \[options\].*/\2/p" $(@D).new/$$t.help); do \
			LC_ALL=C $(B)/bin/$$t $$v --help >>$(@D).new/$$t.help || exit 1; done; \
		for s in bash:$$t.bash zsh:_$$t fish:$$t.fish; do \
			LC_ALL=C awk -v shell=$${s%%:*} -f $< $(@D).new/$$t.help >$(@D).new/$${s#*:} || exit 1; \
		done; rm $(@D).new/$$t.help; \
	done; rm -f $(@D)/* $(@D).new/*.help && { mv $(@D).new/* $(@D) 2>/dev/null; rmdir $(@D).new; touch $@; }

$(LIB): $(LIBOBJS)
	$(call say,AR,$@)rm -f $@ && $(AR) qc $@ $^

$(PARTS): $(call parts,$(ROOMS))
	@mkdir -p $(@D)
	$(call say,AR,$@)rm -f $@ && $(AR) qc $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# With sanitizers, test programs are compiled without optimization, in half the time. They run as fast, since most of
# their time is spent in the code of the product. -w: builds without sanitizers print the warnings.
ifeq ($(SAN),1)
$(B)/test/%.o: OPTIM_1 += -O0 -w
endif

# Unit tests are compiled with -O1, since their speed is not measured; -O1 still finds what gcc warns about.
$(patsubst %,%.o,$(UNITS)): OPTIM_0 := -O1
$(patsubst %,%.o,$(UNITS)): CFLAGS := -g1

# Steps in the code of a fuzz target itself are not counted, unless the target includes a .c file of the product.
STEPS_OF := $(STEPS)
$(B)/test/fuzz/%.o: STEPS =
$(patsubst %.c,$(B)/%.o,$(shell grep -l '^.include ".*[.]c"' test/fuzz/*/*_fuzz.c)): STEPS = $(STEPS_OF)

$(B)/%.o: %.S
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Without errno, gcc compiles sqrt() to one instruction.
$(B)/common/significance.o: ALL_CFLAGS += -fno-math-errno

# -MMD does not find files of .incbin, so these dependencies are explicit.
$(B)/svg/assets.o: $(addprefix $(B)/svg/,viewer.js viewer.css heat.js heat.css)
$(B)/svg/assets.o: ALL_CFLAGS += -Wa,-I$(B)/svg

$(B)/svg/viewer.js $(B)/svg/heat.js: $(wildcard svg/viewer/*.js)
$(B)/svg/viewer.css: svg/viewer.css
$(B)/svg/heat.css: svg/heat.css
$(addprefix $(B)/svg/,viewer.js viewer.css heat.js heat.css): svg/viewer/assemble svg/viewer/join.awk svg/strip.awk
	@mkdir -p $(@D)
	$(call say,STRIP,$@)sh svg/viewer/assemble $(@F) >$@.new && mv $@.new $@

# The agent of pjmap --method=agent has no C library, so that any JVM can load it. For processors whose system calls it
# does not have, agent.so is empty.
$(B)/jmap/attach/agentimage.o: $(B)/jmap/agent.so
$(B)/jmap/attach/agentimage.o: ALL_CFLAGS += -Wa,-I$(B)/jmap

AGENT_CPU := $(filter x86_64% aarch64%,$(shell $(CC) -dumpmachine))

AGENT_FLAGS := -std=gnu17 $(WARN) -O2 -ffreestanding -I. -fPIC -fvisibility=hidden -fno-stack-protector -fno-builtin -fno-asynchronous-unwind-tables \
	-shared -nostdlib -Wl,-z,noexecstack -Wl,-z,relro -Wl,-z,now -Wl,-s

$(B)/jmap/agent.so: jmap/agent/agent.c jmap/agent/jvmti.h
	@mkdir -p $(@D)
	$(call say,AGENT,$@)$(if $(AGENT_CPU),$(CC) $(AGENT_FLAGS) -o $@ $<,: >$@)

# ---- tests -----------------------------------------------------------------------------------------------------

$(UNITS) $(WALK): $(B)/%: $(B)/%.o $(PARTS) $(LIB)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

ifeq ($(SAN),fuzz)
$(REPLAYS): $(B)/%: $(B)/%.o $(B)/test/fuzz/cost.o $(PARTS) $(LIB)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -Wl,--wrap=__sanitizer_cov_trace_pc $(LDFLAGS) -o $@ $^ $(LDLIBS)
else
$(REPLAYS): $(B)/%: $(B)/%.o $(B)/test/fuzz/replay.o $(B)/test/fuzz/cost.o $(PARTS) $(LIB)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
endif

# programs that tests call: they print symbols or stacks, or make and print perf.data
HELPERS := $(patsubst %.c,$(B)/%,test/fold/symbols/names.c test/record/symsaver/reduce.c test/record/jvm.c test/record/interpreters/stopstacks.c test/runtimes/cpython/seeds.c test/runtimes/perl/seeds.c test/runtimes/php/seeds.c test/runtimes/ruby/seeds.c test/runtimes/v8/seeds.c \
	$(filter-out %_test.c,$(wildcard test/fold/perfdata/*.c test/jmap/*.c test/send/*.c test/suite/*.c test/hostile/*.c)))

$(HELPERS): $(B)/%: $(B)/%.o $(PARTS) $(LIB)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Libraries that tests load into tools by LD_PRELOAD. Builds with sanitizers have none, because the library of a
# sanitizer must be loaded first. A build for coverage has none that counts the calls of pjsend, as gcov has calls, too.
PRELOAD_0 := test/send/preload test/suite/preload
PRELOAD_cover := test/suite/preload
PRELOAD := $(patsubst %.c,$(B)/%.so,$(wildcard $(addsuffix /*.c,$(PRELOAD_$(SAN)))))

$(PRELOAD): $(B)/%.so: %.c
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) -std=c17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -fPIC -shared -o $@ $<

tests: all $(UNITS) $(WALK) $(REPLAYS) $(HELPERS) $(PRELOAD) ## build the tests, too

test-helpers: $(HELPERS) $(WALK)

# What ./check needs of the build without sanitizers: of the unit tests, those with the marks that check.sh (PJ_UNITS=std)
# looks for, and the programs that shell tests call.
STD_UNITS := $(filter $(patsubst %.c,$(B)/%,$(shell grep -lE '^/[*] (std|once|full-san): ' -r test --include=*_test.c --include=*_fuzz.c)),$(UNITS) $(REPLAYS))

tests-std: all $(STD_UNITS) $(WALK) $(HELPERS) $(PRELOAD) $(B)/test/fuzz/runtimes/jvmimage_fuzz $(B)/test/record/syncread/syncread_test

check: tests ## everything that needs no server and no browser (T=pattern: by name, or by a module or folder that is covered)
	$(Q)PJ_BUILD=$(B) T='$(T)' sh test/check.sh

accept: all ## rewrite the expected results of cases (T=pattern); look at them with git diff
	$(Q)PJ_BUILD=$(B) PJ_TOP='$(CURDIR)' T='$(T)' sh test/cases.sh --accept

bench: all ## the figures: CPU, memory, sizes; peers optional (FLAMEGRAPH_DIR=, PJ_BENCH_INPUT=)
	$(Q)PJ_BUILD=$(B) bash test/bench/run.sh

null: all ## runs of one unchanged Java program must not differ: 6 minutes with perf and a JDK, or T=folder of windows
	$(Q)PJ_BUILD=$(B) sh test/diff/null/run.sh $(T)

fuzz: ## clang's libFuzzer on every parser, or on one: T=folded SECS=60
	$(Q)$(MAKE) --no-print-directory CC=clang SAN=fuzz SECS=$(SECS) T='$(T)' fuzz-run

fuzz-run: $(REPLAYS)
	$(Q)PJ_BUILD=$(B) SECS=$(SECS) T='$(T)' sh test/fuzz/run.sh

fuzz-campaign: ## each target for SECS=600 seconds of idle CPU time, logged in docs/fuzz-log.txt; goes on where it was ended
	$(Q)$(MAKE) --no-print-directory CC=clang SAN=fuzz SECS=$(if $(filter file,$(origin SECS)),600,$(SECS)) T='$(T)' fuzz-campaign-run

fuzz-campaign-run: $(REPLAYS)
	$(Q)PJ_BUILD=$(B) SECS=$(SECS) T='$(T)' sh test/fuzz/campaign.sh

cover: ## lines of each parser that its corpus reaches, or of one: T=folded; SHOW=1 prints those that it does not
	$(Q)$(MAKE) --no-print-directory CC=gcc SAN=cover T='$(T)' SHOW='$(SHOW)' cover-run

cover-run: $(REPLAYS)
	$(Q)PJ_BUILD=$(B) T='$(T)' SHOW='$(SHOW)' sh test/fuzz/cover.sh

coverage: ## lines of the product that the whole suite reaches, by folder (root, for live tests); STAGES="all stores live"
	$(Q)$(MAKE) --no-print-directory CC=gcc SAN=cover CFLAGS= tests
	$(Q)PJ_BUILD=build/$(subst std-$(CCNAME),cover-gcc,$(VARIANT)) STAGES='$(STAGES)' bash test/coverage.sh

fresh: ## both scripts on a fresh Debian in a folder (root, debootstrap; 20 minutes)
	$(Q)bash test/fresh.sh

# ---- habits ----------------------------------------------------------------------------------------------------

SOURCES := $(shell find $(LIBRARY) $(ROOMS) packaging examples test -name '*.[ch]' -not -path 'test/corpus/*' -not -path 'test/*/cases/*' -not -path 'test/suite/older/*' -not -path 'test/attack/*')
HEADERS := $(filter %.h,$(SOURCES))

headers: ## every header compiles alone, and twice
	$(Q)for h in $(HEADERS); do \
		printf '#include "%s"\n#include "%s"\n' $$h $$h | \
		$(CC) $(STD) $(WARN) -Wno-unused-function -I. -fsyntax-only -x c - || { echo "$$h does not stand alone"; exit 1; }; \
	done

lint: headers openers ## headers, openers, layering, forbidden functions, cppcheck, shellcheck, mandoc, clang-format
	$(Q)sh test/lint.sh

tidy: ## clang-tidy on each module that changed since it was last analyzed (.clang-tidy has the checks)
	$(Q)sh test/tidy.sh $(filter-out -W% -M% -f% -g,$(ALL_CFLAGS))

untested: ## modules that no test covers (covers:), by name
	$(Q)sh test/covers.sh --untested

modules: ## one line for each module: the purpose in its header
	$(Q)find $(LIBRARY) $(ROOMS) -name '*.h' | LC_ALL=C sort | xargs awk 'FNR < 4 && /[.]h - / { sub(/^[ \/*]*[a-z0-9]*[.]h - /, ""); sub(/ *[*]\/$$/, ""); printf "%-40s %s\n", FILENAME, $$0 }'

openers: $(PARTS) $(LIB) ## processes that open files of strangers refer to no parser of them
	$(Q)sh test/suite/openers.sh $(B) 2>/dev/null

format: ## lay out all C as .clang-format says
	clang-format -i $(SOURCES)

# ---- packages --------------------------------------------------------------------------------------------------

dist: ## the sources of HEAD as build/dist/pj-VERSION.tar.gz, the same bytes each time
	$(Q)sh packaging/dist.sh

static-curl: ## libcurl with TLS for make static, from the sources of Debian's packages (network), into STATIC_CURL
	$(Q)CC='$(CC)' sh packaging/static-curl.sh $(STATIC_CURL)

static: ## build/static/pj: all tools in one program that needs no library (with TLS after make static-curl)
	$(Q)$(MAKE) --no-print-directory STATIC=1 static-program

static-program: all
	$(Q)sh packaging/static.sh $(B)

image: static ## a container image of that program alone: build/image/pj.tar (buildah)
	$(Q)sh packaging/image.sh

deb: ## the package of Debian and Ubuntu of HEAD: build/deb (debhelper)
	$(Q)sh packaging/deb.sh

rpm: ## the package of Fedora, RHEL and SUSE of HEAD: build/rpm (rpmbuild)
	$(Q)sh packaging/rpm.sh

apk: ## the sources of Alpine's package of HEAD: build/apk (there: abuild -r)
	$(Q)sh packaging/apk.sh

sbom: all ## build/sbom/pj-VERSION.spdx.json: sources, tools and libraries of this build (STATIC=1: of the static program)
	$(Q)PJ_BUILD=$(B) sh packaging/sbom.sh

install: all ## tools, man pages and completions below DESTDIR/PREFIX
	@install -d $(DESTDIR)$(PREFIX)/bin 2>/dev/null; test -w $(DESTDIR)$(PREFIX)/bin || { \
		echo "make install: $(DESTDIR)$(PREFIX)/bin cannot be written: sudo make install, or make install PREFIX=\$$HOME/.local, or make static, whose folder build/static needs no installation" >&2; exit 1; }
	install -m 755 $(TOOLS) $(SCRIPTS) $(DESTDIR)$(PREFIX)/bin
	set -e; for m in $(MANS); do \
		install -d $(DESTDIR)$(MANDIR)/man$${m##*.}; install -m 644 $$m $(DESTDIR)$(MANDIR)/man$${m##*.}; done
	install -d $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	set -e; for t in $(COMMANDS); do \
		[ -e $(B)/completions/$$t.bash ] || continue; \
		install -m 644 $(B)/completions/$$t.bash $(DESTDIR)$(BASHDIR)/$$t; \
		install -m 644 $(B)/completions/_$$t $(DESTDIR)$(ZSHDIR); \
		install -m 644 $(B)/completions/$$t.fish $(DESTDIR)$(FISHDIR); done

SYSTEM := $(wildcard $(addprefix examples/*.,service target timer path socket slice))
DOCS := README.md SECURITY.md NEWS $(addprefix docs/,guide.md gprofiler.md INSTALL.md INPUTS.md OPTIONS.md units.md GLOSSARY.md)

# Installed units have the paths of tools below PREFIX. Comment lines that begin with a tab are left out: their commands
# are for users who copy a unit by hand.
install-system: ## units, the user pj, documents and examples below DESTDIR/PREFIX, for packages; starts nothing
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR) $(DESTDIR)$(TMPFILESDIR) $(DESTDIR)$(DOCDIR)/examples
	set -e; for unit in $(SYSTEM); do \
		sed '/^#\t/d; s|/usr/local/bin/|$(PREFIX)/bin/|g' $$unit >$(DESTDIR)$(UNITDIR)/$${unit##*/}; \
		chmod 644 $(DESTDIR)$(UNITDIR)/$${unit##*/}; done
	install -m 644 examples/pj.sysusers $(DESTDIR)$(SYSUSERSDIR)/pj.conf
	install -m 644 examples/pj.tmpfiles $(DESTDIR)$(TMPFILESDIR)/pj.conf
	install -m 644 $(DOCS) $(DESTDIR)$(DOCDIR)
	set -e; for example in $(filter-out $(SYSTEM),$(wildcard examples/*)); do \
		cp -R --preserve=mode $$example $(DESTDIR)$(DOCDIR)/examples/; done

uninstall: ## what install put there
	rm -f $(patsubst %,$(DESTDIR)$(PREFIX)/bin/%,$(notdir $(TOOLS) $(SCRIPTS)))
	rm -f $(COMMANDS:%=$(DESTDIR)$(BASHDIR)/%) $(COMMANDS:%=$(DESTDIR)$(ZSHDIR)/_%) $(COMMANDS:%=$(DESTDIR)$(FISHDIR)/%.fish)
	rm -f $(foreach m,$(MANS),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m)))

clean: ## all that was built
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: all dist static static-curl static-program image deb rpm apk sbom install-system tests test-helpers tests-std check accept bench coverage null fuzz fuzz-run fuzz-campaign fuzz-campaign-run cover cover-run fresh headers modules untested openers lint tidy format install uninstall clean help
.DELETE_ON_ERROR:
.PRECIOUS: $(B)/%.o
