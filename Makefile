# sweetspot: `make demo` tunes and compares, `make test` tests; each does all the set-up it needs. `make help` lists
# the rest.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

# The CUDA toolkit: CUDA_HOME, otherwise the folder of nvcc (unless nvcc is a script elsewhere), otherwise
# /usr/local/cuda. pkg-config is never used.
CUDA_HOME ?= $(or $(patsubst %/include/cuda.h,%,$(wildcard \
  $(patsubst %/bin/nvcc,%/include/cuda.h,$(realpath $(shell command -v nvcc 2>/dev/null))))),/usr/local/cuda)
CUDA_LIB := $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/targets/x86_64-linux/lib) $(CUDA_HOME)/lib64)

BUILD := out/obj
BIN := out/bin
MAN := out/man
ifdef SANITIZE
BUILD := out/obj-sanitize
BIN := out/bin-sanitize
MAN := out/man-sanitize
endif

CC ?= gcc
WARNINGS := -Wall -Wextra -Wshadow -Wconversion $(if $(WERROR),-Werror)
# With SANITIZE, tests and fuzz harnesses share one build by clang. If clang or its libFuzzer is missing, gcc builds the
# tests.
ifdef SANITIZE
ifeq ($(shell sh tests/fuzz/there.sh && echo yes),yes)
override CC := $(filter ccache,$(CC)) clang
# pointer-overflow is left out, because clang's check also reports NULL + 0, which occurs with empty lists.
SANITIZERS := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize=pointer-overflow \
  -fno-sanitize-recover=all -D__SANITIZE_ADDRESS__
# -Wconversion is left out, because clang's differs from gcc's.
WARNINGS := -Wall -Wextra -Wshadow -Wno-format-zero-length -Wno-string-conversion $(if $(WERROR),-Werror)
CFLAGS := -O1 -gline-tables-only
else
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS := -O1 -g1
endif
SANITIZERS += -fno-omit-frame-pointer
endif
CFLAGS ?= -O2 -g
override CFLAGS += -std=c17 -D_GNU_SOURCE $(WARNINGS) $(SANITIZERS) -I. -MMD -MP
VENDOR := -isystem $(CUDA_HOME)/include
LIBS := -lconfig -ljansson -lsqlite3 -lz -ldl -lm -lpthread

BASE_SOURCES := $(wildcard tuner/base/*.c)
# A trial and its figures, and the messages between workers and driver.
TRIAL_SOURCES := $(wildcard tuner/trial/*.c tuner/protocol/*.c)
# For the driver and the compiler: the tokens, includes and hash of a source.
READER_SOURCES := $(wildcard tuner/source/*.c)
COMPILE_SOURCES := $(wildcard tuner/compiler/*.c)
GPU_SOURCES := $(wildcard tuner/gpu/*.c tuner/counting/*.c tuner/libraries/*.c)
KERNEL_SOURCES := $(wildcard kernels/*.c)
# The agent of a node. The driver exchanges messages with it, and contains all of its files except the main file.
NODE_SOURCES := $(wildcard tuner/node/*.c)
# Linked only into the driver. This file contains the commit, so that after a new commit only this file is compiled.
MAIN_SOURCES := tuner/cli/main.c
DRIVER_FOLDERS := job init pool setup policy run final watch explain simulate store recorded header report check
REPLAY_SOURCES := tuner/simulate/main_replay.c
# A library of everything that needs no CUDA. The driver and the tests are linked with it.
LIBRARY_SOURCES := $(BASE_SOURCES) $(TRIAL_SOURCES) $(KERNEL_SOURCES) $(wildcard search/*/*.c) \
  $(READER_SOURCES) \
  $(filter-out tuner/node/main_node.c,$(NODE_SOURCES)) \
  $(filter-out $(REPLAY_SOURCES),$(wildcard $(DRIVER_FOLDERS:%=tuner/%/*.c))) \
  $(filter-out $(MAIN_SOURCES),$(wildcard tuner/cli/*.c))
# GPU worker parts that can be tested without a GPU.
GPU_LIBRARY_SOURCES := $(filter-out tuner/gpu/main_gpu.c,$(GPU_SOURCES))
TEST_SOURCES := $(wildcard tests/test_*.c)
TEST_HELPER_SOURCES := $(filter-out $(TEST_SOURCES) tests/reference_library.c,$(wildcard tests/*.c))

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBRARY := $(BUILD)/libsweetspot.a
GPU_LIBRARY := $(BUILD)/libgpu.a
BASE_LIBRARY := $(BUILD)/libbase.a
PROGRAMS := $(addprefix $(BIN)/,sweetspot sweetspot-compile sweetspot-gpu sweetspot-replay sweetspot-node)
TESTS := $(patsubst tests/%.c,$(BIN)/%,$(TEST_SOURCES))
TEST_HELPERS := $(patsubst tests/%.c,$(BIN)/%,$(TEST_HELPER_SOURCES))

.PHONY: all
all: setup
	@$(MAKE) programs

.PHONY: programs
programs: $(PROGRAMS) $(MAN)/sweetspot.1

# Set-up -----------------------------------------------------------------------------------------

HEADERS := libconfig.h jansson.h sqlite3.h xxhash.h zlib.h cmocka.h
PACKAGES := gcc libc6-dev libconfig-dev libjansson-dev libsqlite3-dev libxxhash-dev zlib1g-dev libcmocka-dev

.PHONY: setup
setup:
	@mkdir -p out $(BUILD) $(BIN)
	@CC="$(CC)" CUDA_HOME="$(CUDA_HOME)" CUDA_LIB="$(CUDA_LIB)" HEADERS="$(HEADERS)" PACKAGES="$(PACKAGES)" \
	  sh tests/setup.sh

# Fetches the chart libraries of `sweetspot report` now. The set-up fetches them too, and continues without them if npm
# fails.
.PHONY: charts
charts:
	@sh tests/charts.sh

# Building ---------------------------------------------------------------------------------------

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "cc $<"
	@$(CC) $(CFLAGS) $(LEVEL) $(EXTRA) -c $< -o $@

# Tests are compiled often and run briefly, so they are not optimised. Fuzz harnesses are.
$(BUILD)/tests/%.o: LEVEL = -O0
$(BUILD)/tests/fuzz/%.o: LEVEL =

# The folder cxx has an empty <string>, because a header of CUPTI includes it even in C.
$(call objects,$(GPU_SOURCES)) $(BUILD)/tests/test_profile.o: EXTRA = -Ituner/libraries/cxx $(VENDOR)
$(BUILD)/tuner/compiler/nvrtc.o: EXTRA = $(VENDOR)
$(BUILD)/tuner/compiler/main_compile.o: EXTRA = -DSWEETSPOT_CUDA_HOME='"$(CUDA_HOME)"'
$(patsubst %,$(BUILD)/tests/test_%.o,embed each examples gpu_header gpu_judge gpu_tutorial python runtime tutorial): \
  EXTRA = -DTEST_CUDA_HOME='"$(CUDA_HOME)"'
# Loops over a pool of candidates take nearly all of a proposal's time. They are vectorised, with the same results on
# every machine.
$(BUILD)/search/model/gp.o $(BUILD)/search/model/gp_loops.o: \
  EXTRA = -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math
$(BUILD)/tuner/base/embedded.o: $(wildcard kernels/support*.cu*) \
  kernels/ceilings.cu search/space/fn_arithmetic.h search/space/fn_selector.h \
  $(wildcard tuner/header/*.in tuner/header/*.py tuner/report/page/*)
$(BUILD)/tuner/source/host_headers.o: $(wildcard tuner/source/host/*)

# For --version: the commit, if this is a checkout, and the version of the toolkit.
COMMIT = $(shell test -e .git && git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null)
CUDA_VERSION = $(shell sed -n 's/^.define CUDA_VERSION \([0-9]*\)\([0-9][0-9]\)[0-9]$$/\1.\2/p' \
  $(CUDA_HOME)/include/cuda.h 2>/dev/null | sed 's/[.]0*\([0-9]\)/.\1/')
$(BUILD)/tuner/cli/main.o: EXTRA = -DSWEETSPOT_COMMIT='"$(COMMIT)"' -DSWEETSPOT_CUDA='"$(CUDA_VERSION)"'
$(BUILD)/tuner/cli/main.o: $(BUILD)/built-from
$(BUILD)/built-from: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT) $(CUDA_VERSION)' | cmp -s - $@ || echo '$(COMMIT) $(CUDA_VERSION)' >$@

.PHONY: FORCE
FORCE:

# The scripts of a report's page, joined in the page's order, because each uses the ones before it.
PAGE := tuner/report/page
PAGE_SCRIPT := out/page/report.js
PAGE_SCRIPTS := $(addprefix $(PAGE)/,text.js words.js chart.js overview.js progress.js \
  parameters.js pair.js trials.js failures.js counters.js final.js gates.js kernel.js job.js main.js)
$(PAGE_SCRIPT): $(PAGE_SCRIPTS)
	@mkdir -p $(@D)
	@cat $^ >$@
$(BUILD)/tuner/base/embedded.o: $(PAGE_SCRIPT)

$(BASE_LIBRARY): $(call objects,$(BASE_SOURCES) $(TRIAL_SOURCES))
	@rm -f $@
	@ar rcs $@ $^

$(LIBRARY): $(call objects,$(LIBRARY_SOURCES))
	@rm -f $@
	@ar rcs $@ $^

$(GPU_LIBRARY): $(call objects,$(GPU_LIBRARY_SOURCES))
	@rm -f $@
	@ar rcs $@ $^

$(BIN)/sweetspot: $(call objects,$(MAIN_SOURCES)) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

$(BIN)/sweetspot-replay: $(call objects,$(REPLAY_SOURCES)) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

$(BIN)/sweetspot-node: $(call objects,$(NODE_SOURCES)) $(BASE_LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -ljansson -lm

$(BIN)/sweetspot-compile: $(call objects,$(COMPILE_SOURCES) $(READER_SOURCES)) $(BASE_LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) -lnvrtc -ljansson -lm

$(BIN)/sweetspot-gpu: $(BUILD)/tuner/gpu/main_gpu.o $(GPU_LIBRARY) \
  $(call objects,$(KERNEL_SOURCES)) $(BASE_LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -Wl,-rpath,$(CUDA_LIB) -ljansson -ldl -lm -lpthread

# The manual pages of all commands: `man -l out/man/sweetspot-tune.1`.
$(MAN)/sweetspot.1: $(BIN)/sweetspot
	@rm -rf $(MAN)
	@$(BIN)/sweetspot man --output $(MAN)

VERSION = $(shell sed -n 's/^.define SWEETSPOT_VERSION "\(.*\)"/\1/p' tuner/base/installation.h)

# Packs the committed sources into out/dist/sweetspot-<version>.tar.gz, which builds without git.
.PHONY: dist
dist:
	@mkdir -p out/dist
	@git archive --prefix=sweetspot-$(VERSION)/ -o out/dist/sweetspot-$(VERSION).tar.gz HEAD
	@echo out/dist/sweetspot-$(VERSION).tar.gz

# Installing -------------------------------------------------------------------------------------

PREFIX ?= /usr/local
# Everything is installed under PREFIX. The programs find their files relative to themselves, so that the folder can be
# moved as a whole.
ROOT = $(DESTDIR)$(PREFIX)
SHARE = $(ROOT)/share
# Headers for users' own functions.
USER_HEADERS := kernels/sweetspot_reference.h kernels/sweetspot_baseline.h
DATA := $(shell find configs templates -name '*.cfg' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh' \
  -o -name '*.json')
# Installed in the same folders as in the source tree, so that their links work.
DOCUMENTS := LICENSE $(wildcard *.md docs/*.md docs/*.sbatch docs/experiments/*.md docs/benchmarks/*.json \
  docs/images/*.png docs/images/*.svg) $(shell find examples -path examples/foreign/sources -prune -o -type f -print)
# The libraries of a report's page, if the set-up could fetch them. Nothing else needs them.
CHARTS := out/npm/report
COMPLETIONS = $(SHARE)/bash-completion/completions/sweetspot $(SHARE)/zsh/site-functions/_sweetspot \
  $(SHARE)/fish/vendor_completions.d/sweetspot.fish
FILL = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|'

.PHONY: install
install: all
	@echo "install into $(ROOT)"
	@install -d $(ROOT)/bin $(ROOT)/libexec/sweetspot $(SHARE)/man/man1 $(SHARE)/doc/sweetspot $(SHARE)/pkgconfig \
	  $(ROOT)/include/sweetspot \
	  $(SHARE)/cmake/sweetspot $(dir $(COMPLETIONS)) $(addprefix $(SHARE)/sweetspot/,$(sort $(dir $(DATA))))
	@install -m 755 $(BIN)/sweetspot $(ROOT)/bin
	@install -m 755 $(filter-out %/sweetspot,$(PROGRAMS)) $(ROOT)/libexec/sweetspot
	@install -m 644 $(USER_HEADERS) $(ROOT)/include/sweetspot
	@for file in $(DATA); do install -m 644 $$file $(SHARE)/sweetspot/$$file || exit 1; done
	@for file in libraries.js LICENSES; do [ ! -f $(CHARTS)/$$file ] || \
	  install -D -m 644 $(CHARTS)/$$file $(SHARE)/sweetspot/report/$$file || exit 1; done
	@$(BIN)/sweetspot man --output $(SHARE)/man/man1
	@for file in $(DOCUMENTS); do install -D -m 644 $$file $(SHARE)/doc/sweetspot/$$file || exit 1; done
	@install -m 644 $(wildcard docs/cmake/*.cmake) $(SHARE)/cmake/sweetspot
	@$(FILL) docs/cmake/sweetspotConfigVersion.cmake.in >$(SHARE)/cmake/sweetspot/sweetspotConfigVersion.cmake
	@$(FILL) docs/sweetspot.pc.in >$(SHARE)/pkgconfig/sweetspot.pc
	@set -- bash zsh fish; for file in $(COMPLETIONS); do \
	  $(BIN)/sweetspot completion $$1 >$$file || exit 1; shift; done
	@chmod 644 $(COMPLETIONS) $(SHARE)/man/man1/sweetspot*.1 $(SHARE)/pkgconfig/sweetspot.pc \
	  $(SHARE)/cmake/sweetspot/*.cmake # regardless of the umask

.PHONY: uninstall
uninstall:
	rm -rf $(ROOT)/libexec/sweetspot $(ROOT)/include/sweetspot
	rm -rf $(SHARE)/sweetspot $(SHARE)/cmake/sweetspot $(SHARE)/doc/sweetspot
	rm -f $(ROOT)/bin/sweetspot $(SHARE)/man/man1/sweetspot.1 $(SHARE)/man/man1/sweetspot-*.1 \
	  $(SHARE)/pkgconfig/sweetspot.pc $(COMPLETIONS)

# A Debian package of the same files, out/deb/sweetspot_<version>_<architecture>.deb. DEB: the output folder.
DEB ?= out/deb

.PHONY: deb
deb: all
	@rm -rf $(DEB)
	@$(MAKE) -o all install PREFIX=/usr DESTDIR=$(DEB)/root >/dev/null
	@ROOT=$(DEB)/root OUT=$(DEB) VERSION=$(VERSION) CUDA=$(CUDA_VERSION) \
	  COMMIT=$(COMMIT) CUDA_LIB=$(CUDA_LIB) sh docs/debian/package.sh

# Tests ------------------------------------------------------------------------------------------

$(TESTS): $(BIN)/%: $(BUILD)/tests/%.o $(GPU_LIBRARY) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ -lcmocka $(LIBS)

$(filter-out %/emulated_gpu,$(TEST_HELPERS)): $(BIN)/%: $(BUILD)/tests/%.o $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# The GPU worker's own kernels on the CPU.
$(BUILD)/emulation/worker_support.o: $(wildcard tests/emulation/*) $(wildcard kernels/support*.cu*)
	@mkdir -p $(@D)
	@echo "c++ tests/emulation/worker_support.cpp"
	@for file in kernels/support*.cu*; do \
	  sed -f tests/emulation/support.sed $$file | sed 's/extern "C" __global__/static/' >$(@D)/$${file##*/} || exit 1; done
	@$(CXX) -std=c++17 -O2 -w -I$(@D) -Itests/emulation -c tests/emulation/worker_support.cpp -o $@

$(BUILD)/tests/emulated_gpu.o: EXTRA = -Ituner/libraries/cxx $(VENDOR)
$(BIN)/emulated_gpu: $(BUILD)/tests/emulated_gpu.o $(BUILD)/emulation/worker_support.o $(GPU_LIBRARY) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS) -lstdc++

$(BIN)/reference_library.so: tests/reference_library.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -fPIC -shared $< -o $@

.PHONY: test-programs
test-programs: programs $(TESTS) $(TEST_HELPERS) $(BIN)/reference_library.so

# Test programs that run compilers for a minute each. They have their own target, which starts the longest first.
COMPILER_TESTS := $(addprefix $(BIN)/,test_emulation test_emulated_mma test_examples test_builds test_own_kernels \
  test_compile test_nvcc_job test_deb)
# Test programs that make whole runs and take half a minute each also have their own target.
RUN_TESTS := $(addprefix $(BIN)/,test_faults test_job_set_tune test_watch test_pool_faults)
# Programs that wait for deadlines, compile templates or search for many seconds: started first, and left out of
# test-fast.
SLOW_TESTS := \
  $(addprefix $(BIN)/,test_tune test_tune_again test_profile test_judge test_judge_server test_gate test_replay_run \
    test_init test_host_headers test_strategies test_final_statistics test_advice test_tutorial \
    test_pool)
# The longest of the others also start first, so that no core idles at the end.
LONG_TESTS := $(addprefix $(BIN)/,test_each test_selector test_header test_python test_job test_width test_terminal \
  test_products)
# Test programs do not share a GPU. Those that compare times or energies have the machine to themselves, because their
# processes start seconds later while others start on the other GPUs.
TIMED_GPU_TESTS := $(addprefix $(BIN)/test_gpu_,energy final judge profile)
# The longest test programs begin first. If there are several GPUs, each GPU gets one of these programs.
LONG_GPU_TESTS := $(addprefix $(BIN)/test_gpu_,hostile tensor gemm header constants jobs plausibility)
GPU_TESTS := $(LONG_GPU_TESTS) \
  $(filter-out $(LONG_GPU_TESTS) $(TIMED_GPU_TESTS),$(filter $(BIN)/test_gpu%,$(TESTS))) -- $(TIMED_GPU_TESTS)
FAST_TESTS := $(LONG_TESTS) \
  $(filter-out $(LONG_TESTS) $(SLOW_TESTS) $(COMPILER_TESTS) $(RUN_TESTS) $(GPU_TESTS),$(TESTS))
ALL_TESTS := $(SLOW_TESTS) $(FAST_TESTS) -- $(GPU_TESTS)

.PHONY: test
test: setup
	@$(MAKE) structure test-programs
	@BUILD=$(BUILD) sh tests/unused.sh
	@BUILD=$(BUILD) sh tests/circles.sh
	@BIN=$(BIN) bash tests/run.sh $(ALL_TESTS)

# Tests that keep compilers busy: the templates in emulation, the examples with the commands in their comments, nvcc's
# builds, the program's own kernels for every architecture, and a Debian package.
.PHONY: test-compilers
test-compilers: setup
	@$(MAKE) test-programs
	@BIN=$(BIN) bash tests/run.sh $(COMPILER_TESTS)

# Tests of whole runs: with faults, with several jobs, on nodes, and while they are watched.
.PHONY: test-runs
test-runs: setup
	@$(MAKE) test-programs
	@BIN=$(BIN) bash tests/run.sh $(RUN_TESTS)

.PHONY: test-fast
test-fast: setup layers
	@$(MAKE) test-programs
	@BIN=$(BIN) bash tests/run.sh $(FAST_TESTS)

# Rewrites tests/golden from the commands' output, and adds new rows of the program's tables to lists and documents.
# Review the difference before committing it.
GOLDEN_TESTS := $(addprefix $(BIN)/,test_golden test_messages test_views test_options test_job_settings)
.PHONY: golden
golden: setup
	@$(MAKE) programs $(TEST_HELPERS) $(GOLDEN_TESTS) $(BIN)/reference_library.so
	@rm -f tests/golden/*.txt
	@SWEETSPOT_GOLDEN=write BIN=$(BIN) bash tests/run.sh $(GOLDEN_TESTS)

# Makes the additions that CONTRIBUTING.md describes, in a copy of the tree and exactly as described.
.PHONY: test-contributing
test-contributing: setup
	@$(MAKE) programs $(TEST_HELPERS) $(GOLDEN_TESTS) $(addprefix $(BUILD)/tests/,$(patsubst %,test_%.o,strategies \
	  operations completion manual gallery trial recorded documents)) $(BIN)/reference_library.so
	@+bash tests/contributing.sh

# Makes small mistakes in a copy of the tree, one at a time. Each must make a test fail. MUTANTS: their names (default:
# all).
.PHONY: test-mutants
test-mutants: setup
	@bash tests/mutants.sh $(MUTANTS)

# Disables the checks of the GPU worker, one at a time. Without the check, some hostile kernel must get through.
.PHONY: test-mutants-gpu
test-mutants-gpu: setup
	@bash tests/mutants_gpu.sh $(MUTANTS)

# The tests under AddressSanitizer and UndefinedBehaviorSanitizer, except those that search for a long time, mostly run
# a compiler, or need a GPU.
SANITIZED := $(filter-out $(GPU_TESTS) $(addprefix $(BIN)/,test_final_statistics test_strategies test_replay_run \
  test_prior),$(RUN_TESTS) $(ALL_TESTS))
# leaks.txt lists leaks of libraries. Stacks are shallow and the quarantine is small because SQLite and jansson allocate
# a lot.
export ASAN_OPTIONS ?= malloc_context_size=5:quarantine_size_mb=16
export UBSAN_OPTIONS ?= print_stacktrace=1
export LSAN_OPTIONS ?= suppressions=$(CURDIR)/tests/fuzz/leaks.txt:print_suppressions=0
.PHONY: sanitized-programs
sanitized-programs:
	@$(MAKE) SANITIZE=1 setup
	@$(MAKE) SANITIZE=1 programs $(patsubst $(BIN)/%,out/bin-sanitize/%,$(SANITIZED) $(TEST_HELPERS)) \
	  out/bin-sanitize/reference_library.so

.PHONY: test-sanitize
test-sanitize: sanitized-programs
	@BIN=out/bin-sanitize DEADLINE=$(or $(DEADLINE),600) bash tests/run.sh $(SANITIZED:$(BIN)/%=out/bin-sanitize/%)

# Runs the harnesses of tests/fuzz with clang's libFuzzer, for FUZZ_SECONDS each or until FUZZ_UNTIL (Unix time).
# HARNESSES: their names (default: all). If clang or its runtime is missing, they are skipped, and counted as skipped.
FUZZ_SECONDS ?= 60
HARNESSES ?= $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZERS := $(HARNESSES:%=$(BIN)/%)
$(BUILD)/tests/fuzz/fuzz_gpu_requests.o: EXTRA = -Ituner/libraries/cxx $(VENDOR)
# The compile worker's files, except those that a harness replaces.
FUZZED := $(call objects,$(filter-out $(addprefix tuner/compiler/,main_compile.c nvrtc.c nvcc.c library_build.c), \
  $(COMPILE_SOURCES)))
$(FUZZERS): $(BIN)/%: $(BUILD)/tests/fuzz/%.o $(FUZZED) $(GPU_LIBRARY) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ -o $@ $(LIBS)

.PHONY: fuzzers
fuzzers: $(FUZZERS)

.PHONY: fuzz
fuzz: setup
	@if sh tests/fuzz/there.sh; then $(MAKE) SANITIZE=1 fuzzers && \
	  SECONDS_EACH=$(FUZZ_SECONDS) UNTIL=$(FUZZ_UNTIL) bash tests/fuzz/run.sh $(HARNESSES:%=out/bin-sanitize/%); \
	else echo "fuzz: no clang with libFuzzer (Debian: clang, libclang-rt-dev)"; \
	  echo "0 passed, 0 failed, $(words $(HARNESSES)) skipped"; fi
# Attacks on whole runs: kills, faults, power cuts (tests/torture/torture.c). TORTURE: the names of the attacks
# (default: all), TORTURE_SHARE: percentage of each attack to run, TORTURE_SEED: repeats a single scene.
TORTURE_LAYERS := $(addprefix $(BIN)/,io_fault.so power_cut.so clock_jump.so)
TORTURE_SOURCES := $(filter-out $(TORTURE_LAYERS:$(BIN)/%.so=tests/torture/%.c),$(wildcard tests/torture/*.c))

$(TORTURE_LAYERS): $(BIN)/%.so: tests/torture/%.c $(wildcard tests/torture/layer*.h) tests/torture/power_cut.h
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(filter-out -MMD -MP,$(CFLAGS)) -fPIC -shared $< -o $@ -ldl

$(BIN)/torture: $(call objects,$(TORTURE_SOURCES)) $(LIBRARY)
	@mkdir -p $(@D)
	@echo "ld $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

.PHONY: torture
torture: setup
	@$(MAKE) programs $(BIN)/fake_worker $(BIN)/lying_node $(BIN)/torture $(TORTURE_LAYERS)
	@$(BIN)/torture

# A long search over a mix of good and hostile candidates, in which nothing may leak or slow down. SOAK_DRY=1: with
# scripted workers.
SOAK_SECONDS ?= 900
.PHONY: soak
soak: setup
	@$(MAKE) programs $(BIN)/fake_worker
	@bash tests/measure/soak.sh $(SOAK_SECONDS)

# Tests that need a GPU: hostile kernels, counters compared with ncu's, a whole tuning run.
.PHONY: test-gpu
test-gpu: setup
	@$(MAKE) test-programs
	@SWEETSPOT_GPU_REQUIRED=1 BIN=$(BIN) DEADLINE=$(or $(DEADLINE),1800) bash tests/run.sh -- $(GPU_TESTS)

# Runs Slurm with three nodes on this machine (root may install Slurm), and runs a pool on it. Workers, agents and the
# driver are killed, a node is drained, and another node joins.
.PHONY: test-slurm
test-slurm: setup
	@$(MAKE) programs $(BIN)/fake_worker
	@BIN=$(BIN) bash tests/slurm.sh

# Nodes over ssh, with the test's own sshd: connections are refused, killed and stopped.
.PHONY: test-ssh
test-ssh: setup
	@$(MAKE) programs $(BIN)/fake_worker
	@BIN=$(BIN) bash tests/ssh.sh

# Tests pages of `sweetspot report` in Chromium. If Node.js, Chromium or the chart library is missing, the tests are
# skipped, and counted as skipped. Root may install Chromium (INSTALL=1).
.PHONY: test-browser
test-browser: setup $(PAGE_SCRIPT)
	@$(MAKE) programs
	@SCRIPT=$(PAGE_SCRIPT) BIN=$(BIN) bash tests/browser/run.sh

# Makes the drawings of ARCHITECTURE.md with Graphviz. Each drawing contains the hash of its .dot file, and a test
# checks this hash.
.PHONY: pictures
pictures: $(patsubst %.dot,%.svg,$(wildcard docs/images/*.dot))

docs/images/%.svg: docs/images/%.dot
	@dot -Tsvg $< >$@
	@echo "<!-- drawn from $$(sha256sum <$< | cut -d' ' -f1) -->" >>$@

# Makes the pictures of reports in docs/images from a replayed search.
.PHONY: screenshots
screenshots: setup $(PAGE_SCRIPT)
	@$(MAKE) programs
	@BIN=$(BIN) node tests/browser/screenshots.js

# Runs the driver under valgrind, from a search to its report.
.PHONY: test-valgrind
test-valgrind: setup $(PAGE_SCRIPT)
	@$(MAKE) programs
	@BIN=$(BIN) SPACE=$(DEMO_SPACE) bash tests/valgrind.sh

# Checks the includes against the layers of ARCHITECTURE.md, and that every external function is used outside its file.
.PHONY: layers
layers: setup
	@$(MAKE) structure programs
	@BUILD=$(BUILD) sh tests/unused.sh

.PHONY: structure
structure:
	@sh tests/layers.sh
	@sh tests/prose.sh

# Finds unusual words, which count as mistakes, and long sentences in documents, which are only listed.
.PHONY: prose
prose:
	@sh tests/prose.sh long

# Measures all rows of the tables on a GPU, with one seed each in about 12 minutes. Repeated at the same commit, the
# command resumes, and then measures the other seeds.
.PHONY: benchmarks-gpu
benchmarks-gpu: all
	@OUT=out/benchmarks/$(COMMIT) BIN=$(BIN) DEADLINE=$(or $(DEADLINE),720) bash tests/measure/benchmarks.sh || \
	  { echo "run it again for what is left"; exit 1; }
	@echo 'tests/measure/tables.sh add out/benchmarks/$(COMMIT)/*.json && make benchmarks: take them into the documents'

# Writes the tables of BENCHMARKS.md and README.md from docs/benchmarks.
.PHONY: benchmarks
benchmarks:
	@bash tests/measure/tables.sh

# Checks that the object files of a folder do not call each other in circles.
.PHONY: circles
circles: setup
	@$(MAKE) programs
	@BUILD=$(BUILD) sh tests/circles.sh

# Runs clang-tidy (14) and cppcheck (2.10) on the C files, with each file's compiler options. DEEP=1: follows every
# path.
.PHONY: lint
lint: setup
	@mkdir -p out/lint
	@$(MAKE) -n -B CC=cc WERROR= test-programs | sed -n -e 's/ -MMD -MP//' \
	  -e 's/^cc \(.*\) -c \([^ ]*\.c\) -o .*/\2\t\1/p' \
	  -e 's/^cc \(.*\) -shared \([^ ]*\.c\) -o .*/\2\t\1/p' \
	  >out/lint/commands
	@COMMANDS=out/lint/commands bash tests/lint.sh

# The demo ---------------------------------------------------------------------------------------

DEMO_SPACE := tests/spaces/sgemm_2048_h200.json.gz

.PHONY: demo
demo: setup
	@$(MAKE) programs
	@BIN=$(BIN) SPACE=$(DEMO_SPACE) sh tests/demo.sh

.PHONY: format
format:
	@clang-format -i $(wildcard tuner/*/*.[ch] search/*/*.[ch] kernels/*.[ch] kernels/*.cu tests/*.[ch] \
	  tests/*/*.[ch] tests/*/*.cpp tests/*/*.cu examples/*.[ch] examples/*.cu examples/*/*.c examples/*/*.cu \
	  templates/*.cu templates/*/*.cuh)

.PHONY: clean
clean:
	rm -rf out/obj out/bin out/man out/obj-sanitize out/bin-sanitize out/man-sanitize

.PHONY: help
help:
	@echo 'make demo           set up, build, tune SGEMM (on the GPU, or on a recorded space), header, comparison'
	@echo 'make test           set up, build, the tests that need no GPU'
	@echo 'make test-fast      those of them that take a few seconds'
	@echo 'make test-compilers tests that keep compilers busy: emulation, examples, builds by nvcc'
	@echo 'make test-runs      tests of whole runs: faults, suites, nodes, watching'
	@echo 'make test-sanitize  most of them under AddressSanitizer and UBSan'
	@echo 'make test-contributing  follow CONTRIBUTING.md in a copy of the tree'
	@echo 'make fuzz           the harnesses of tests/fuzz, FUZZ_SECONDS (60) each; HARNESSES=fuzz_job for some of them'
	@echo 'make test-mutants   does each mistake in tests/mutants make a test fail?'
	@echo 'make test-mutants-gpu   is each check of the GPU worker needed?'
	@echo 'make torture        kills, faults, power cuts on whole runs, for ten minutes (TORTURE_SHARE=5: percent)'
	@echo 'make golden         rewrite tests/golden, which tests compare the output of commands with'
	@echo 'make test-gpu       tests that need a GPU, on all GPUs of this machine; GPUS=1: on one'
	@echo 'make test-slurm     pools on a Slurm of this machine, which is installed where it may be'
	@echo 'make test-ssh       pools over an sshd of this machine, also installed where it may be'
	@echo 'make test-browser   the pages of reports in Chromium, which is installed where it may be'
	@echo 'make screenshots    rewrite the pictures of reports in docs/images'
	@echo 'make pictures       rewrite the drawings there, with Graphviz'
	@echo 'make benchmarks-gpu measure the rows of these tables; again at the same commit: the other seeds'
	@echo 'make benchmarks     rewrite the tables of figures from docs/benchmarks'
	@echo 'make charts         fetch the libraries of reports again, after npm failed'
	@echo 'make lint           clang-tidy and cppcheck; DEEP=1: along every path'
	@echo 'make test-valgrind  the driver under valgrind, from a search to its report'
	@echo 'make layers         check which folder includes what, and that external functions have users elsewhere'
	@echo 'make prose          unusual words, and long sentences of the documents'
	@echo 'make circles        check that the files of a folder call each other in one direction'
	@echo 'make install        into PREFIX (now $(PREFIX)), below DESTDIR; make uninstall takes it away again'
	@echo 'make deb            a Debian package of what make install would install'
	@echo 'make dist           the sources of this commit as a tarball'
	@echo 'make all | clean | format'
	@echo 'DEADLINE=300: seconds a test program may take; JOBS=2: how many run at once'
	@echo 'WERROR=1 makes warnings errors; CUDA_HOME=... chooses the toolkit (now $(CUDA_HOME))'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
