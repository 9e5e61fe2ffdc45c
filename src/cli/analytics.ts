// `depot analytics set-aside`: begins an empty analytics database beside one that cannot be opened.
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '#config/config.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { holdAnalytics, openDataFolder } from '#main/preflight.ts'
import { readArguments } from './arguments.ts'
import { type Env, print } from './with-deps.ts'

/** The database and the log of what is not in it yet. */
const FILES = ['events.duckdb', 'events.duckdb.wal']

/** Renames the files, so that nothing is lost; the next start makes new ones. Refused while a server holds them. */
export async function analyticsSetAside(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const config = loadConfig(env)
  const { store } = config.analytics
  if (store.kind !== 'embedded') throw new OperatorError('With CLICKHOUSE_URL there is no analytics file to set aside')
  openDataFolder(config.dataDir)
  const lock = holdAnalytics(config)
  try {
    const ending = `.set-aside-${new Date().toISOString().replace(/[:.]/g, '-')}`
    const moved = FILES.filter((name) => existsSync(join(store.folder, name))).map((name) => {
      renameSync(join(store.folder, name), join(store.folder, name + ending))
      return join(store.folder, name + ending)
    })
    const text =
      moved.length === 0
        ? `There is no analytics file in ${store.folder}`
        : `Set aside as ${moved.join(' and ')}; the next start begins an empty one. Download counters are not affected.`
    print({ json: { moved }, text }, values.json)
  } finally {
    lock?.release()
  }
}
