# SPDX-License-Identifier: GPL-2.0-only
#
# dm-lifezone.  "make help" lists what there is.

ifneq ($(KERNELRELEASE),)
# Called by kbuild: it reads Kbuild, not this.
else

KDIR ?= /lib/modules/$(shell uname -r)/build
O ?= $(CURDIR)/build
KREL = $(shell cat $(KDIR)/include/config/kernel.release)
MODROOT = $(or $(INSTALL_MOD_PATH),$(DESTDIR))
# O is ours, not kbuild's.
KBUILD = $(MAKE) -C $(KDIR) M=$(CURDIR) O=
# Where there is no System.map beside the headers, as on Debian, kbuild leaves it out.
DEPMOD = depmod $(if $(MODROOT),-b $(MODROOT)) $(KREL)
VM := tests/vm
export VM_ZNS VM_CPUS VM_MEM VM_KERNEL VM_DISK VM_ICOUNT VM_REBOOT VM_PLANTS VM_KMEMLEAK \
	VM_TIMEOUT VM_ACCEL VM_LOG VM_VERBOSE VM_QEMU VM_APPEND

# As it was typed: make must not expand the $ of a shell command.
export LZ_CMD := $(value CMD)

.PHONY: all module tools vm deps check unit crash exhaust fault fuzz coverage mutants kunit \
	guest logs debug bench placement seeds demo lint analyze analyze-deps clean distclean help install uninstall

all: module tools

module:
	$(KBUILD) modules

tools:
	$(MAKE) -C tools O=$(O)/host

install: all
	$(KBUILD) INSTALL_MOD_PATH=$(MODROOT) modules_install
	$(DEPMOD)
	$(MAKE) -C tools O=$(O)/host install

uninstall:
	rm -rf $(MODROOT)/lib/modules/$(KREL)/updates/dm-lifezone
	$(DEPMOD)
	$(MAKE) -C tools O=$(O)/host uninstall

deps:
	@$(VM)/deps

vm: deps
	@$(VM)/vm "$$LZ_CMD"

unit:
	@$(MAKE) -s -C tests/unit O=$(O)/host/unit check

crash:
	@$(MAKE) -s -C tests/crash O=$(O)/host/crash check

exhaust:
	@$(MAKE) -s -C tests/crash O=$(O)/host/crash exhaust

fault:
	@$(MAKE) -s -C tests/crash O=$(O)/host/crash fault

fuzz:
	@$(VM)/deps clang libclang-rt-dev llvm gcc make libc6-dev pkg-config libjson-c-dev uuid-dev
	@$(MAKE) -s -C tests/fuzz O=$(O)/host/fuzz fuzzers
	@tests/fuzz/run fuzz $(O)/host/fuzz $(or $(T),60)

coverage:
	@$(VM)/deps clang libclang-rt-dev llvm gcc make libc6-dev pkg-config libjson-c-dev uuid-dev
	@tests/coverage/run --list

mutants:
	@tests/crash/mutate --work $(O)/mutate --jobs $(or $(JOBS),2) $(if $(N),--count $(N))

kunit: deps
	@$(VM)/kunit

guest: deps
	@$(if $(CUTS),LZ_TEST_CUTS=$(CUTS)) $(VM)/run $(T)

logs: deps
	@$(VM)/replay-logs $(or $(N),20) $(or $(SEED),1)

debug: deps
	@tests/check kunit debug kcsan

bench: deps
	@tests/bench/run $(BENCH)

placement seeds:
	@$(VM)/deps gcc make libc6-dev pkg-config libdevmapper-dev libblkid-dev uuid-dev libjson-c-dev
	@$(if $(PLOT),$(VM)/deps gnuplot-nox && mkdir -p '$(PLOT)')
	@$(MAKE) -s -C tools O=$(O)/host
	@$(if $(PLOT),PLOT='$(PLOT)') tests/$@/run $(O)/host/lifezone

demo: deps
	@VM_ZNS=$(or $(VM_ZNS),size=8G,zone=32M,cap=24M,open=14,active=14) VM_MEM=$(or $(VM_MEM),3G) \
		VM_TIMEOUT=$(or $(VM_TIMEOUT),1800) $(VM)/vm bash $(VM)/demo.sh

check: deps
	@tests/check

lint: deps
	@tests/lint/run

analyze-deps:
	@$(VM)/deps gcc clang coccinelle

analyze: analyze-deps
	@tests/lint/analyze

clean:
	rm -rf $(O)
	rm -f Module.symvers modules.order .module-common.o .*.cmd
	find dm-lifezone tools tests/kernel -name '*.o' -delete -o -name '*.ko' -delete \
		-o -name '.*.cmd' -delete -o -name '*.mod' -delete -o -name '*.mod.c' -delete \
		-o -name modules.order -delete

help:
	@sed -n 's/^# help: \{0,1\}//p' Makefile

# help: Build
# help:   make              the module for KDIR (default: the running kernel) and the tools
# help:   make module       only the module
# help:   make tools        only the tools, into build/host
# help:   make install      both, into the running system or DESTDIR; "make uninstall" removes them
# help: Try
# help:   make demo         the whole thing from nothing, in a virtual machine with a ZNS drive
# help:   make vm CMD='...' run CMD as root in the guest; its settings: tests/vm/vm (which also
# help:                       gives CMD's exact exit status; make's is only zero or not)
# help:                       VM_ZNS=size=4G,zone=16M,cap=12M,open=14,active=14 (or none)
# help:                       VM_CPUS=2 VM_MEM=2G VM_KERNEL=debug VM_DISK=IMAGE VM_ICOUNT=1 VM_REBOOT=1
# help: Test
# help:   make check        unit, crash, exhaust (without four of its runs), fault, what the
# help:                       fuzzers found before, the tool, guest, logs; last line:
# help:                       N passed, N failed, N skipped
# help:   make unit         unit tests of the kernel-free core, on the host (T=SUITE)
# help:   make crash        power cuts of random schedules and planted bugs (N=1000000 SEED=)
# help:   make exhaust      every cut of every short sequence on the smallest drive
# help:   make fault        every allocation and every command fails in turn
# help:   make fuzz T=60    hostile drives and words: the fuzzers for T seconds in all (wants
# help:                       clang; "make check" only runs what they found before)
# help:   make coverage     which branches of the core the tests above reach (wants clang)
# help:   make mutants N=700  small changes to the core by a program: are they noticed? (hours)
# help:   make kunit        the core under the kernel's KUnit (UML)
# help:   make guest T=PAT  guest tests, tests/vm/t/PAT*.sh
# help:                       CUTS=500 T=cut-: so many power cuts below each file system (40);
# help:                       LZ_TEST_FRESH=N: a new file system after every N of them (20)
# help:   make logs N=20    every cut of what the module told a drive in N short loads (SEED=)
# help:   make lint         checkpatch, kernel-doc, sparse, shellcheck, docutils, compiler warnings
# help:   make analyze      gcc's and clang's analyzers on the core, Coccinelle on the module
# help:   make bench        the benchmarks behind Documentation's report (BENCH="NAME..."; rocksdb,
# help:                       inplace, stores and peers only by name)
# help:   make seeds        studies of placement done again, beside what they published (SEEDS=N)
# help:   make placement    our placement against others', in the simulator (SEEDS=N; half an hour)
# help:                       PLOT=DIR: both also as pictures, SVG and PNG, in DIR
# help: Other
# help:   make debug        make kunit, and the guest tests on a kernel with KASAN, lockdep, fault
# help:                       injection ..., then those in which much goes on at a time on one
# help:                       with KCSAN (hours); builds them first (VM_KERNEL=debug, =kcsan)
# help:   make deps         install what build, try and check need on this host (asks first on a
# help:                       terminal); fuzz, coverage and analyze do so for clang and the like
# help:   make clean        remove build products (the guest and kernels stay cached in
# help:                     LIFEZONE_CACHE, default ~/.cache/lifezone; "make distclean" removes them)

distclean: clean
	cd "$${LIFEZONE_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/lifezone}" 2>/dev/null || exit 0; \
		rm -rf guest-* qemu-* linux-* debug-* kcsan-* kunit-* kvm-* *.lock; \
		rmdir --ignore-fail-on-non-empty "$$PWD"

endif
