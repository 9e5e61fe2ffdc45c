// `npm ci` without a registry: the packages of this checkout take the place of those it would fetch.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

/** Makes a folder to be the first of PATH, whose `npm` knows `ci --omit=dev` and nothing else that does something. */
export function makeFakeNpm(folder: string): string {
  mkdirSync(folder)
  const script = `#!/bin/sh
case "$*" in
  "ci --omit=dev") ln -sfn '${ROOT}/node_modules' node_modules ;;
  *) echo "npm $*: not expected" >&2; exit 1 ;;
esac
`
  writeFileSync(join(folder, 'npm'), script, { mode: 0o755 })
  return folder
}
