#!/usr/bin/env bash
# A Redis for tests and trials, from Debian's package redis-server.
#   redis.sh start PORT FOLDER    prints REDIS_URL and REDIS_PID as shell assignments once it answers
#   redis.sh stop FOLDER
#   redis.sh install
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
WORD=redis-server

install_engine() {
  command -v redis-server >/dev/null && return
  may_install redis-server
  install_packages redis-server
}

start_engine() {
  local port=$1 folder=$2 pid
  if pid=$(running "$folder" "$WORD"); then report "$(cat "$folder/port")" "$pid"; return; fi
  echo "$port" >"$folder/port"
  # Counters are not data: nothing is written to disk. A counter must not vanish because another key came: noeviction.
  nohup redis-server --port "$port" --bind 127.0.0.1 --dir "$folder" --save '' --appendonly no \
    --maxmemory 256mb --maxmemory-policy noeviction </dev/null >"$folder/redis.log" 2>&1 &
  pid=$!
  echo "$pid" >"$folder/redis.pid"
  await 20 "$pid" answers "$port" || give_up "$folder" "$pid" "no answer on port $port"
  report "$port" "$pid"
}

answers() { [ "$(redis-cli -h 127.0.0.1 -p "$1" ping 2>/dev/null)" = PONG ]; }

report() { printf 'REDIS_URL=redis://127.0.0.1:%s/0\nREDIS_PID=%s\n' "$1" "$2"; }

main "$@"
