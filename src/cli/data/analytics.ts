// `depot analytics set-aside`: renames an analytics database that cannot be opened.
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { readArguments } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { lockAnalytics, openDataFolder } from '#main/preflight.ts'
import { requireInstance } from '#main/require-instance.ts'
import type { Config } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'

/** The database and its write-ahead log. */
const FILES = ['events.duckdb', 'events.duckdb.wal']

/** Renames the files; the next start creates new ones. Fails while a server uses them. */
export async function analyticsSetAside(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const config = loadConfig(env)
  const { store } = config.analytics
  if (store.kind !== 'embedded')
    throw new OperatorError('CLICKHOUSE_URL is set, so there is no analytics file to rename')
  await requireInstance(config)
  const { moved, text } = setAside(config, store.folder)
  if (moved.length > 0) {
    const details = { files: moved.length }
    await withDeps(env, ({ db }) => recordAudit(db, { action: 'analytics.set_aside', actor: COMMAND, details }))
  }
  print({ json: { moved }, text }, values.json)
}

function setAside(config: Config, folder: string): { moved: string[]; text: string } {
  openDataFolder(config)
  const lock = lockAnalytics(config)
  try {
    const ending = `.set-aside-${new Date().toISOString().replace(/[:.]/g, '-')}`
    const moved = FILES.filter((name) => existsSync(join(folder, name))).map((name) => {
      renameSync(join(folder, name), join(folder, name + ending))
      return join(folder, name + ending)
    })
    const text =
      moved.length === 0
        ? `No analytics file in ${folder}`
        : `Renamed to ${moved.join(' and ')}. The next start creates an empty file. Download counters are unchanged.`
    return { moved, text }
  } finally {
    lock?.release()
  }
}
