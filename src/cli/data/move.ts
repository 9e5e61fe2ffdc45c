// `depot move files` and `depot move analytics`: copy a part of the instance to another engine.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { readArguments, required } from '#cli/kit/arguments.ts'
import { createProgress, createSteps, shownBytes } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { moveAnalytics } from '#features/operation/backup/move/move-analytics.ts'
import { moveFiles } from '#features/operation/backup/move/move-files.ts'
import { isServed } from '#features/operation/backup/rows.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import { openStore } from '#main/open-analytics.ts'
import { openFiles } from '#main/open-ports.ts'
import type { FilesConfig } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { checkSettingsFile } from '#platform/config/settings-file.ts'

export async function moveFilesCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { to: 'string', json: 'boolean' })
  const { path, variables, settings } = readTarget(values, env)
  const target = settings.files.store
  if (locationOf(target) === locationOf(loadConfig(env).files.store))
    throw new OperatorError(`The settings in ${path} refer to the current store. Nothing was copied.`)
  await withDeps(env, async (deps) => {
    // The S3 library reads its keys only from the environment. The old store has already read its keys.
    Object.assign(env, Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith('AWS_'))))
    const store = await openFiles(target, deps)
    const progress = createProgress({ label: 'Files' })
    try {
      const served = await isServed(deps.pool)
      const report = await moveFiles(deps, store, { onProgress: progress.update }).finally(progress.end)
      const { copied, present, bytes, missing } = report
      const details = { copied, present, missing: missing.length }
      await recordAudit(deps.db, { action: 'files.moved', actor: COMMAND, details })
      const counted = `Copied ${copied} files (${shownBytes(bytes)}); skipped ${present} that the new store already has`
      const lacking = missing.map((key) => `\nMissing in the old store: ${key}`).join('')
      const next = served
        ? 'A server is running. Stop it and run this command again to copy newer files. Then start the server with the new settings.'
        : `Restart Depot with the settings in ${path}. Run \`depot doctor --full\` with them to compare every file.`
      print({ json: { ...report, served }, text: `${counted}${lacking}\n${next}` }, values.json)
      if (missing.length > 0) process.exitCode = 1
    } finally {
      await store.close()
    }
  })
}

const EVENTS = { reading: 'Reading events', storing: 'Storing events', comparing: 'Comparing events' } as const

export async function moveAnalyticsCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { to: 'string', json: 'boolean' })
  const { path, settings } = readTarget(values, env)
  const { store } = settings.analytics
  if (store.kind === 'embedded')
    throw new OperatorError(`${path} does not set CLICKHOUSE_URL, for example ${CLICKHOUSE_EXAMPLE}`)
  if (loadConfig(env).analytics.store.kind !== 'embedded') {
    throw new OperatorError(
      'The events of this instance are already in ClickHouse. To move them, use the backup of ClickHouse.',
    )
  }
  await withDeps(env, async (deps) => {
    const target = await openStore(store).catch((cause: unknown) => {
      if (!(cause instanceof ApiError)) throw cause
      throw new OperatorError(`ClickHouse does not respond at the CLICKHOUSE_URL in ${path}`, { cause })
    })
    try {
      const steps = createSteps(EVENTS)
      const report = await moveAnalytics(deps, target, steps).finally(steps.end)
      const { events, days, resumed } = report
      await recordAudit(deps.db, { action: 'analytics.moved', actor: COMMAND, details: { events, days } })
      const again = resumed ? ', and continued an interrupted move' : ''
      const counted = `Copied ${events} events${again}; counts and hashes of each kind and day are equal`
      const next = `Restart Depot with the settings in ${path}. The old data is unchanged.`
      print({ json: report, text: `${counted}\n${next}` }, values.json)
    } finally {
      await target.close()
    }
  })
}

const CLICKHOUSE_EXAMPLE = 'CLICKHOUSE_URL=https://depot:password@clickhouse.example.org:8443/depot'

/** Reads the file that `--to` names over the settings of this instance. @throws UsageError; OperatorError */
export function readTarget({ to }: { to?: string }, env: Env) {
  const path = required(to, 'to')
  const variables = readSettings(path)
  return { path, variables, settings: loadConfig({ ...env, ...variables }) }
}

/** Reads variables in the format of `.env`. @throws OperatorError if the file cannot be read or has an invalid line. */
function readSettings(path: string): Env {
  let text: string
  try {
    text = withoutMark(readFileSync(path, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`Cannot read the settings in ${path}: ${reason}`, { cause })
  }
  checkSettingsFile({ path, text })
  return parseEnv(text)
}

const locationOf = (store: FilesConfig): string =>
  store.kind === 'folder' ? resolve(store.folder) : `${store.endpoint ?? store.region} ${store.bucket}/${store.prefix}`
