#!/usr/bin/env bash
# The tests on real engines: installs what is missing, then `npm run test:engines` and `npm run test:cluster`. Apart from
# .ci/run, because building and fetching engines takes long on a fresh machine; ENGINES_CACHE names a folder to keep.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/engines/common.sh

MINUTES=${INSTALL_MINUTES:-20}
for engine in redis s3 opensearch clickhouse; do
  echo "== $engine"
  timeout "${MINUTES}m" "scripts/engines/$engine.sh" install ||
    echo "$engine could not be installed within $MINUTES minutes: what needs it is left out"
done
for program in haproxy pgbouncer; do
  command -v "$program" >/dev/null || (install_packages "$program") || true
done

echo "== adapters on their engines"
npm run test:engines
echo "== three servers, a balancer and all engines"
npm run test:cluster
