#!/usr/bin/env bash
# A real OpenSearch 2.19.1 for tests, on loopback and without security, from its Maven artifacts. The programs (53 MB)
# are kept in ENGINES_CACHE. Needs a JDK of version 11 to 21, and Maven for the first start; on Debian both are installed.
#   opensearch.sh start PORT FOLDER    prints OPENSEARCH_URL and OPENSEARCH_PID as shell assignments once it answers;
#                                      takes PORT + 1 too
#   opensearch.sh stop FOLDER          what it stored stays in FOLDER
#   opensearch.sh install
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$HERE/common.sh"
WORD=' Engine '

VERSION=2.19.1
PROGRAMS=$ENGINES_CACHE/opensearch-$VERSION-depot
START_SECONDS=${ENGINE_START_SECONDS:-240}

install_engine() {
  [ -f "$PROGRAMS/classes/Engine.class" ] && command -v java >/dev/null && return
  may_install OpenSearch
  local packages=()
  command -v javac >/dev/null || packages+=(openjdk-17-jdk-headless)
  command -v mvn >/dev/null || packages+=(maven)
  [ ${#packages[@]} = 0 ] || install_packages "${packages[@]}"
  one_at_a_time "$PROGRAMS" fetch_programs
}

fetch_programs() {
  [ -f "$PROGRAMS/classes/Engine.class" ] && return
  mvn -B -q -f "$HERE/opensearch/pom.xml" dependency:copy-dependencies -DoutputDirectory="$PROGRAMS/lib" >&2 ||
    missing 'the artifacts could not be fetched'
  rm -rf "$PROGRAMS/classes.new"
  javac -cp "$PROGRAMS/lib/*" -d "$PROGRAMS/classes.new" "$HERE/opensearch/Engine.java" >&2
  mv "$PROGRAMS/classes.new" "$PROGRAMS/classes"
}

start_engine() {
  local port=$1 folder=$2 pid
  mkdir -p "$folder"/{config,data,logs,snapshots}
  if pid=$(running "$folder" "$WORD"); then report "$(cat "$folder/port")" "$pid"; return; fi
  echo "$port" >"$folder/port"
  # Collector and compiler are those that start soonest.
  nohup java -Xms192m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.security.manager=allow \
    -Dlog4j2.disable.jmx=true -cp "$PROGRAMS/classes:$PROGRAMS/lib/*" Engine "$folder" "$port" "$((port + 1))" \
    </dev/null >"$folder/opensearch.log" 2>&1 &
  pid=$!
  echo "$pid" >"$folder/opensearch.pid"
  await "$START_SECONDS" "$pid" answers "$port" || give_up "$folder" "$pid" "no answer on port $port"
  report "$port" "$pid"
}

answers() { curl -s -m 2 "http://127.0.0.1:$1/_cluster/health" | grep -qE '"status":"(green|yellow)"'; }

report() { printf 'OPENSEARCH_URL=http://127.0.0.1:%s\nOPENSEARCH_PID=%s\n' "$1" "$2"; }

main "$@"
