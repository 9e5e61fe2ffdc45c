// Data that test runs share: compiled code, the durations of the files, and PostgreSQL with a migrated database.
import { accessSync, chmodSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { canEnter, databaseUser } from '#platform/embedded-postgres/system-user.ts'

export function openCache() {
  const folder = findFolder()
  const durationsFile = join(folder, 'durations.json')
  const known = readDurations(durationsFile)
  return {
    folder,
    compiled: join(folder, 'compiled'),
    /** Sorts files by the duration of their last run, unknown files first. */
    longestFirst: (files) =>
      [...files].sort((a, b) => (known[b] ?? Infinity) - (known[a] ?? Infinity) || a.localeCompare(b)),
    saveDurations: (durations) => {
      const temporary = `${durationsFile}.${process.pid}`
      writeFileSync(temporary, JSON.stringify({ ...known, ...durations }, null, 1))
      renameSync(temporary, durationsFile)
    },
  }
}

/** Returns a folder that this user can write and PostgreSQL's user can enter, which differs if root runs the tests. */
function findFolder() {
  const uid = process.getuid?.() ?? 0
  const inside = join(import.meta.dirname, `../../node_modules/.cache/depot-tests/${uid}`)
  const folder = isUsable(inside) ? inside : join(tmpdir(), `depot-tests-${uid}`)
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o711)
  return folder
}

function isUsable(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    chmodSync(dirname(folder), 0o755)
  } catch {
    // The folder above belongs to another user.
  }
  try {
    accessSync(folder, constants.W_OK)
    const user = databaseUser(undefined)
    return user === undefined || canEnter(user, dirname(folder))
  } catch {
    return false
  }
}

function readDurations(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}
