#!/bin/sh
# Puts playwright-core (a driver only: the browser is the system's Chromium) where the browser tests look for it.
# Does nothing when it is there already, so it works offline from the second time on.
set -eu
VERSION=1.58.2   # a version that runs on node 18, which is what Debian 12 has
cd "$(dirname "$0")/../../.."
mkdir -p build/node
cd build/node
# Tests that run side by side wait here for the one that installs. The file that ends an installation is the proof of a complete one.
exec 9>setup.lock
flock 9
complete=playwright-core-$VERSION
if [ -f $complete ] && [ -f node_modules/playwright-core/package.json ]; then exit 0; fi
command -v npm >/dev/null || { echo "setup.sh: npm is missing: apt-get install npm" >&2; exit 1; }
[ -f package.json ] || echo '{"private":true}' >package.json
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --no-save --no-audit --no-fund --silent "playwright-core@$VERSION" 9>&-
: >$complete
