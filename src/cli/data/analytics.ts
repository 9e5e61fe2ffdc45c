// `depot analytics set-aside`: renames an analytics database that cannot be opened.
import { readArguments } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { requireInstance } from '#main/require-instance.ts'
import { setAsideAnalytics } from '#main/set-aside-analytics.ts'
import { loadConfig } from '#platform/config/load-config.ts'

/** Renames the files; the next start creates new ones. Fails while a server uses them. */
export async function analyticsSetAside(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const config = loadConfig(env)
  const { store } = config.analytics
  if (store.kind !== 'embedded')
    throw new OperatorError('CLICKHOUSE_URL is set, so there is no analytics file to rename')
  await requireInstance(config)
  const moved = setAsideAnalytics(config, store.folder)
  const text =
    moved.length === 0
      ? `No analytics file in ${store.folder}`
      : `Renamed to ${moved.join(' and ')}. The next start creates an empty file. Download counters are unchanged.`
  if (moved.length > 0) {
    const details = { files: moved.length }
    await withDeps(env, ({ db }) => recordAudit(db, { action: 'analytics.set_aside', actor: COMMAND, details }))
  }
  print({ json: { moved }, text }, values.json)
}
