# Each target does all of its own set-up, in a virtual environment inside the checkout.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
COPIED := asgi.py background.py configuration.py # into an environment: it is installed again when they change
PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-emit-index-url --upgrade \
	--generate-hashes --custom-compile-command "make lock"
PYTEST = $(BIN)/pytest -n 2 --dist worksteal --hypothesis-profile $(EXAMPLES)
EXAMPLES := few
SUITES := postgresql browser shops faults image citus
NPM_CI := npm ci --silent --no-audit --no-fund

.PHONY: serve test test-all $(SUITES:%=test-%) check format-check lint types format bench drills faults generated screenshots browser lock audit

serve: .venv/serve ## start the service on the embedded database, on PORT
	exec $(BIN)/svc serve --port $(PORT)

test: .venv/develop ## what the product does on the embedded database: needs Python and make, and nothing else
	$(PYTEST) -m embedded

test-all: test $(SUITES:%=test-%) ## every suite that this machine can run; `.ci/install` installs what they need

$(SUITES:%=test-%): test-%: .venv/develop ## one suite: test-postgresql, test-browser, test-shops, test-faults, test-image, test-citus
	$(PYTEST) -m $*

$(SUITES:%=test-%) test-all: EXAMPLES := many
test-citus: export SVC_TEST_ON = citus

check: format-check lint types test-all ## what CI checks

format-check: .venv/develop
	$(BIN)/ruff format --check .

lint: .venv/develop
	$(BIN)/ruff check .

types: .venv/develop
	$(BIN)/mypy

format: .venv/develop
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/develop ## the ratios of docs/performance.md on SQLite
	$(BIN)/python -m benchmarks

drills: .venv/develop ## run the drills among the tests, and write the table of docs/operations.md
	$(BIN)/python -m tests.faults.drills

faults: .venv/develop ## kill and break everything at length, and write the table of docs/reliability.md
	$(BIN)/python -m tests.faults

generated: .venv/develop ## write the files that come from the code: the errors guide, docs/settings.md
	$(BIN)/python -m tests.generated

screenshots: .venv/develop ## take docs/screenshots anew
	$(BIN)/python -m tests.tracking_api.dashboard.pages.screenshots

browser: ## with Node.js: check, build and test the tracker, the SDK and its examples
	cd browser/tracker && $(NPM_CI) && npm run --silent check
	cd browser/sdk && $(NPM_CI) && npm run --silent check && npm run --silent build && npm test
	cd sdks/node && $(NPM_CI) && npm run --silent check
	cd examples/vite-react && $(NPM_CI) && npm run --silent sdk && npm run --silent build
	cd examples/next && $(NPM_CI) && npm run --silent sdk && npm run --silent check

audit: .venv/develop ## known vulnerabilities of the dependencies; needs PyPI's and npm's advisory services
	$(BIN)/pip install --quiet pip-audit
	$(BIN)/pip-audit --disable-pip --requirement requirements.lock
	npm audit --prefix browser/tracker
	npm audit --prefix browser/sdk
	npm audit --prefix sdks/node

lock: .venv/develop ## pin the newest versions that pyproject.toml allows
	$(BIN)/pip install --quiet uv
	$(PIN) pyproject.toml --group build -o requirements.lock
	$(PIN) pyproject.toml --group dev -o requirements-dev.lock
	$(PIN) tests/openapi_clients/requirements.in -o tests/openapi_clients/requirements.lock

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/serve: requirements.lock pyproject.toml $(COPIED) | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv/develop: requirements-dev.lock pyproject.toml $(COPIED) | .venv/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@ .venv/serve
