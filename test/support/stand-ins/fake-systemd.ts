// Programs that stand in for systemd and its journal, which run in no container.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Does what the units say, and waits until the service `depot` is ready. */
const SYSTEMCTL = `#!/bin/bash
set -e
start() {
  local name=$1
  unit() { sed -n "s/^$1=//p" "/etc/systemd/system/\${name/@*/@}.service" | sed "s/%i/\${name#*@}/"; }
  install -d -o "$(unit User)" -g "$(unit Group)" -m "$(unit StateDirectoryMode)" "/var/lib/$(unit StateDirectory)"
  cd "$(unit WorkingDirectory)"
  env -i PATH=/usr/local/bin:/usr/bin:/bin $(unit Environment) setpriv --reuid "$(unit User)" --regid "$(unit Group)" \\
    --clear-groups --no-new-privs $(unit ExecStart) > "/run/$name.log" 2>&1 < /dev/null &
  echo $! > "/run/$name.pid"
  [ "$name" != depot ] ||
    curl -sf -o /dev/null --retry 1200 --retry-all-errors --retry-delay 1 http://127.0.0.1:8080/ready || cat /run/depot.log
}
stop() {
  kill "$(cat "/run/$1.pid")"
  tail --pid="$(cat "/run/$1.pid")" -f /dev/null
}
case "$1 $2" in
  "daemon-reload ") ;;
  "enable --now") for name in "\${@:3}"; do start "$name"; done ;;
  "disable --now") stop "$3" ;;
  "reload nginx") nginx -q -t && if [ -s /run/nginx.pid ]; then nginx -s reload; else nginx; fi ;;
  "start depot"*) start "$2" ;;
  "stop depot"*) stop "$2" ;;
  "restart depot"*) stop "$2" && start "$2" ;;
  *) echo "systemctl $*: not expected" >&2; exit 1 ;;
esac
`

/** Has what the service prints. */
const JOURNALCTL = `#!/bin/bash
[ "$*" = '--unit depot --no-pager' ] || { echo "journalctl $*: not expected" >&2; exit 1; }
cat /run/depot.log
`

/** Writes the programs into a folder. */
export function makeFakeSystemd(folder: string): void {
  writeFileSync(join(folder, 'systemctl'), SYSTEMCTL, { mode: 0o755 })
  writeFileSync(join(folder, 'journalctl'), JOURNALCTL, { mode: 0o755 })
}
