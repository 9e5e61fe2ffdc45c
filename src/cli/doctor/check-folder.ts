// Checks the data folder before anything opens it: its owner and modes, free space, and what failures left behind.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { error, type Finding, warning, when } from '#features/operation/doctor/finding.ts'
import { makePrivate } from '#main/private-folder.ts'
import type { Config } from '#platform/config/config.ts'

/** Shares of the disk. */
const FREE_WARNING = 0.1
const FREE_ERROR = 0.03
/** Number of entries that are checked in one folder and below it. */
const ENTRIES_MAX = 100_000
/** The database and its programs have their own user and modes, which PostgreSQL checks itself. */
const OF_POSTGRES = /^(postgres|run|postgres-|postgres\.)/
const SET_ASIDE = /\.(?:set-aside-|broken$|refused$)/

export type Space = { freeBytes: number; totalBytes: number }

export function checkFolder({ dataDir }: Pick<Config, 'dataDir'>, { freeBytes, totalBytes }: Space): Finding[] {
  const found = { open: 0, foreign: [] as string[], aside: [] as string[] }
  walk(dataDir, found, { left: ENTRIES_MAX })
  const share = freeBytes / totalBytes
  const space = `${Math.round(freeBytes / 1_000_000)} MB are free on the disk of ${dataDir}; free space, or use a larger disk.`
  const [foreign] = found.foreign
  return [
    ...when(
      found.open > 0,
      error(
        'folder_readable',
        `Other users of this machine can read ${found.open} files or folders in ${dataDir}; close them with \`depot doctor --fix\`.`,
        async () => makePrivate(dataDir),
      ),
    ),
    ...when(
      foreign !== undefined,
      error(
        'folder_owner',
        `${foreign} belongs to another user than the data folder${found.foreign.length > 1 ? `, like ${found.foreign.length - 1} more` : ''}; run \`chown -R\` with the owner of ${dataDir}.`,
      ),
    ),
    ...when(
      found.aside.length > 0,
      warning(
        'files_set_aside',
        `${found.aside.length} damaged or refused files are kept, such as ${found.aside[0]}; report them, and delete them when you need them no more.`,
      ),
    ),
    ...when(share < FREE_ERROR, error('disk_full', `Only ${space}`)),
    ...when(share >= FREE_ERROR && share < FREE_WARNING, warning('disk_filling', `Only ${space}`)),
  ]
}

type Found = { open: number; foreign: string[]; aside: string[] }

function walk(folder: string, found: Found, budget: { left: number }, depth = 0): void {
  const owner = lstatSync(folder, { throwIfNoEntry: false })?.uid
  const own = process.getuid?.()
  for (const name of readdirSync(folder)) {
    if (depth === 0 && OF_POSTGRES.test(name)) continue
    if (budget.left <= 0) return
    budget.left -= 1
    const path = join(folder, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined || !(stat.isDirectory() || stat.isFile())) continue
    if ((stat.mode & 0o077) !== 0 && (own === 0 || own === stat.uid)) found.open += 1
    if (stat.uid !== owner) found.foreign.push(path)
    if (SET_ASIDE.test(name)) found.aside.push(path)
    if (stat.isDirectory() && stat.uid === owner) walk(path, found, budget, depth + 1)
  }
}
