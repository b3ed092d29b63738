#!/bin/sh
# Puts express-pouchdb, the CouchDB API on node, where the tests of stores look for it: 28 MB, half a minute, once.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/node-stores
cd build/node-stores
# Callers that run side by side wait here for the one that installs. The file that ends an installation is the proof of a complete one.
exec 9>setup.lock
flock 9
if [ -f complete ] && [ -f node_modules/express-pouchdb/package.json ]; then exit 0; fi
command -v npm >/dev/null || { echo "setup.sh: npm is missing: apt-get install npm" >&2; exit 1; }
[ -f package.json ] || echo '{"private":true}' >package.json
npm install --no-save --no-audit --no-fund --silent --omit=optional express@4.19.2 express-pouchdb@4.2.0 pouchdb-core@7.3.1 \
	pouchdb-adapter-memory@7.3.1 pouchdb-find@7.3.1 pouchdb-mapreduce@7.3.1 9>&-
: >complete
