#!/usr/bin/env bash
# A real OpenSearch 2.19.1 for tests, on loopback and without security, from its Maven artifacts. The programs (53 MB)
# are kept in ENGINES_CACHE (default: ~/.cache/depot-engines). Needs a JDK of version 11 to 21, and Maven for the first
# start; as root on Debian both are installed.
#
#   opensearch.sh install              fetches and compiles, nothing else
#   opensearch.sh start PORT FOLDER    waits until it answers, prints OPENSEARCH_URL=… and OPENSEARCH_PID=… for eval;
#                                      takes PORT + 1 too; a second start of a running folder prints the same
#   opensearch.sh stop FOLDER          ends it; what it stored stays in FOLDER
set -euo pipefail

VERSION=2.19.1
SOURCES=$(cd "$(dirname "${BASH_SOURCE[0]}")/opensearch" && pwd)
PROGRAMS=${ENGINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/depot-engines}/opensearch-$VERSION-depot
START_SECONDS=${ENGINE_START_SECONDS:-240}

die() {
  echo "opensearch.sh: $*" >&2
  exit 1
}

usage() { die 'usage: opensearch.sh install | start PORT FOLDER | stop FOLDER'; }

need_packages() {
  local missing=()
  command -v javac >/dev/null || missing+=(openjdk-17-jdk-headless)
  command -v mvn >/dev/null || missing+=(maven)
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then die "not installed: ${missing[*]}"; fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get -o DPkg::Lock::Timeout=300 update -qq >&2
  apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends "${missing[@]}" >&2
}

install_programs() {
  [ -f "$PROGRAMS/classes/Engine.class" ] && return 0
  need_packages
  mkdir -p "$PROGRAMS"
  # Test files that start at the same time install once.
  exec 9>"$PROGRAMS/lock"
  flock 9
  if [ ! -f "$PROGRAMS/classes/Engine.class" ]; then
    mvn -B -q -f "$SOURCES/pom.xml" dependency:copy-dependencies -DoutputDirectory="$PROGRAMS/lib" >&2
    rm -rf "$PROGRAMS/classes.new"
    javac -cp "$PROGRAMS/lib/*" -d "$PROGRAMS/classes.new" "$SOURCES/Engine.java" >&2
    mv "$PROGRAMS/classes.new" "$PROGRAMS/classes"
  fi
  exec 9>&-
}

# The process ID of the engine of a folder; a zombie, or another program with that number, is not one.
running() {
  local pid line
  pid=$(cat "$1/engine.pid" 2>/dev/null) || return 1
  line=$(ps -o stat=,args= -p "$pid" 2>/dev/null) || return 1
  case $line in
    Z*) return 1 ;;
    *" Engine "*) echo "$pid" ;;
    *) return 1 ;;
  esac
}

report() { printf 'OPENSEARCH_URL=http://127.0.0.1:%s\nOPENSEARCH_PID=%s\n' "$(cat "$1/port")" "$2"; }

start() {
  local port=$1 folder=$2 pid deadline
  install_programs
  mkdir -p "$folder"/{config,data,logs,snapshots}
  folder=$(cd "$folder" && pwd)
  if pid=$(running "$folder"); then
    report "$folder" "$pid"
    return
  fi
  echo "$port" >"$folder/port"
  # Collector and compiler are those that start soonest.
  nohup java -Xms192m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.security.manager=allow \
    -Dlog4j2.disable.jmx=true -cp "$PROGRAMS/classes:$PROGRAMS/lib/*" Engine "$folder" "$port" "$((port + 1))" \
    </dev/null >"$folder/engine.log" 2>&1 &
  pid=$!
  echo "$pid" >"$folder/engine.pid"
  deadline=$((SECONDS + START_SECONDS))
  while [ "$SECONDS" -lt "$deadline" ] && kill -0 "$pid" 2>/dev/null; do
    if curl -s -m 2 "http://127.0.0.1:$port/_cluster/health" | grep -qE '"status":"(green|yellow)"'; then
      report "$folder" "$pid"
      return
    fi
    sleep 0.2
  done
  tail -5 "$folder/engine.log" >&2 || true
  kill "$pid" 2>/dev/null || true
  die "does not answer on port $port"
}

stop() {
  local folder=$1 pid
  pid=$(running "$folder") || return 0
  kill "$pid"
  for _ in $(seq 400); do
    if ! running "$folder" >/dev/null; then
      rm -f "$folder/engine.pid"
      return
    fi
    sleep 0.05
  done
  kill -9 "$pid"
  rm -f "$folder/engine.pid"
}

case "${1-}" in
  install) [ $# = 1 ] || usage; install_programs ;;
  start) [ $# = 3 ] || usage; start "$2" "$3" ;;
  stop) [ $# = 2 ] || usage; stop "$2" ;;
  *) usage ;;
esac
