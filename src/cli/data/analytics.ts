// `depot analytics set-aside`: begins an empty analytics database beside one that cannot be opened.
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { readArguments } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { lockAnalytics, openDataFolder } from '#main/preflight.ts'
import type { Config } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'

/** The database and the log of what is not in it yet. */
const FILES = ['events.duckdb', 'events.duckdb.wal']

/** Renames the files, so that nothing is lost; the next start makes new ones. Refused while a server holds them. */
export async function analyticsSetAside(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const config = loadConfig(env)
  const { store } = config.analytics
  if (store.kind !== 'embedded') throw new OperatorError('With CLICKHOUSE_URL there is no analytics file to set aside')
  const { moved, text } = setAside(config, store.folder)
  if (moved.length > 0) {
    const details = { files: moved.length }
    await withDeps(env, ({ db }) => recordAudit(db, { action: 'analytics.set_aside', actor: COMMAND, details }))
  }
  print({ json: { moved }, text }, values.json)
}

function setAside(config: Config, folder: string): { moved: string[]; text: string } {
  openDataFolder(config.dataDir)
  const lock = lockAnalytics(config)
  try {
    const ending = `.set-aside-${new Date().toISOString().replace(/[:.]/g, '-')}`
    const moved = FILES.filter((name) => existsSync(join(folder, name))).map((name) => {
      renameSync(join(folder, name), join(folder, name + ending))
      return join(folder, name + ending)
    })
    const text =
      moved.length === 0
        ? `There is no analytics file in ${folder}`
        : `Set aside as ${moved.join(' and ')}; the next start begins an empty one. Download counters are not affected.`
    return { moved, text }
  } finally {
    lock?.release()
  }
}
