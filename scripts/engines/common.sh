# What the start scripts of the test engines share; they source it. Each engine keeps its state, its log and its pid file
# in the folder it is started with, listens on loopback only, and takes its programs from ENGINES_CACHE.
#
# A script exits with 3 when its engine is missing and cannot, or with ENGINES_INSTALL=no must not, be installed here.

ENGINES_CACHE=${ENGINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/depot-engines}
ENGINE=$(basename "$0" .sh)

fail() { echo "$ENGINE: $*" >&2; exit 1; }
missing() { echo "$ENGINE: $*" >&2; exit 3; }

# Exits unless programs may be installed.
may_install() { [ "${ENGINES_INSTALL:-yes}" != no ] || missing "$1 is missing; scripts/engines/$ENGINE.sh install brings it"; }

# as_root COMMAND...
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif sudo -n true 2>/dev/null; then sudo -n "$@"; else return 1; fi
}

# install_packages PACKAGE...: by apt, without starting the services that the packages bring.
install_packages() {
  command -v apt-get >/dev/null || missing "install $* (no apt-get here to do it)"
  local apt=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -o DPkg::Lock::Timeout=300)
  local install=("${apt[@]}" install -y --no-install-recommends "$@")
  as_root "${install[@]}" >/dev/null 2>&1 && return
  as_root "${apt[@]}" update >&2 && as_root "${install[@]}" >/dev/null || missing "apt-get could not install $*"
}

# one_at_a_time FOLDER COMMAND...: waits for other scripts that install into the folder, then runs the command.
one_at_a_time() {
  mkdir -p "$1"
  (flock 9; "${@:2}") 9>"$1/lock"
}

# running FOLDER WORD: prints the engine's process ID. A killed process that nobody has waited for yet does not count,
# nor does another program that has its number since: WORD must be in the command line.
running() {
  local pid state
  pid=$(cat "$1/$ENGINE.pid" 2>/dev/null) && state=$(ps -o stat=,args= -p "$pid" 2>/dev/null) || return 1
  case $state in Z*) return 1 ;; *"$2"*) echo "$pid" ;; *) return 1 ;; esac
}

# await SECONDS PID COMMAND...: repeats the command until it succeeds; fails when the process has ended or time is up.
await() {
  local end=$((SECONDS + $1)) pid=$2
  shift 2
  while [ "$SECONDS" -le "$end" ]; do
    kill -0 "$pid" 2>/dev/null || return 1
    if "$@"; then return; fi
    sleep 0.05
  done
  return 1
}

# stop_engine FOLDER WORD: asks the engine to end, and ends it after ten seconds.
stop_engine() {
  local pid end=$((SECONDS + 10))
  pid=$(running "$1" "$2") || return 0
  # A paused process does not hear the request before it goes on.
  kill "$pid"; kill -CONT "$pid" 2>/dev/null || true
  while running "$1" "$2" >/dev/null; do
    [ "$SECONDS" -le "$end" ] || { kill -9 "$pid" 2>/dev/null || true; break; }
    sleep 0.05
  done
  rm -f "$1/$ENGINE.pid"
}

# give_up FOLDER PID TEXT: shows the end of the log, ends the process and fails.
give_up() {
  tail -5 "$1/$ENGINE.log" >&2 || true
  kill "$2" 2>/dev/null || true
  fail "$3"
}

# main ARGUMENTS...: what every script understands; it defines install_engine, start_engine PORT FOLDER and $WORD.
main() {
  case "${1-} $#" in
    'start 3')
      install_engine
      mkdir -p "$3"
      start_engine "$2" "$(cd "$3" && pwd)"
      ;;
    'stop 2') stop_engine "$2" "$WORD" ;;
    'install 1') install_engine ;;
    *) fail "usage: $ENGINE.sh start PORT FOLDER | stop FOLDER | install" ;;
  esac
}
