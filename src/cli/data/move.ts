// `depot move PART`: brings a part of the instance onto another engine, which the operator then sets.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { readArguments, required } from '#cli/kit/arguments.ts'
import { createProgress, createSteps, shownBytes } from '#cli/kit/progress.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { moveAnalytics } from '#features/operations/backup/move/move-analytics.ts'
import { moveFiles } from '#features/operations/backup/move/move-files.ts'
import { isServed } from '#features/operations/backup/rows.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { openStore } from '#main/open-analytics.ts'
import { openFiles } from '#main/open-files.ts'
import type { FilesConfig } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'

export async function moveFilesCommand(args: readonly string[], env: Env): Promise<void> {
  const { path, given, settings, values } = readTarget(args, env)
  const target = settings.files.store
  if (placeOf(target) === placeOf(loadConfig(env).files.store)) {
    throw new OperatorError(`The settings in ${path} name the store that is used already; nothing was copied`)
  }
  await withDeps(env, async (deps) => {
    // The library of the store finds its keys in the environment alone; the old store has found its own by now.
    Object.assign(env, Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith('AWS_'))))
    const store = await openFiles(target, deps)
    const progress = createProgress({ label: 'Files' })
    try {
      const served = await isServed(deps.pool)
      const report = await moveFiles(deps, store, { onProgress: progress.update }).finally(progress.end)
      const { copied, present, bytes, missing } = report
      const details = { copied, present, missing: missing.length }
      await recordAudit(deps.db, { action: 'files.moved', actor: COMMAND, details })
      const counted = `Copied ${copied} files (${shownBytes(bytes)}); ${present} were there already`
      const lacking = missing.map((key) => `\nThe old store lacks ${key}, which a row names`).join('')
      const next = served
        ? 'A server is running: stop it, run this again for what came meanwhile, then use the new settings.'
        : `Use the settings in ${path} from the next start; \`depot verify\` with them compares every file.`
      print({ json: { ...report, served }, text: `${counted}${lacking}\n${next}` }, values.json)
      if (missing.length > 0) process.exitCode = 1
    } finally {
      await store.close()
    }
  })
}

const EVENTS = { reading: 'Reading events', storing: 'Storing events', comparing: 'Comparing events' } as const

export async function moveAnalyticsCommand(args: readonly string[], env: Env): Promise<void> {
  const { path, settings, values } = readTarget(args, env)
  const { store } = settings.analytics
  if (store.kind === 'embedded') {
    throw new OperatorError(`${path} names no ClickHouse: set CLICKHOUSE_URL in it, for example ${CLICKHOUSE_EXAMPLE}`)
  }
  if (loadConfig(env).analytics.store.kind !== 'embedded') {
    throw new OperatorError('The events of this instance are in ClickHouse already; move them there, by its own backup')
  }
  const target = await openStore(store).catch((cause: unknown) => {
    if (!(cause instanceof ApiError)) throw cause
    throw new OperatorError(`ClickHouse does not answer at CLICKHOUSE_URL in ${path}`, { cause })
  })
  try {
    await withDeps(env, async (deps) => {
      const steps = createSteps(EVENTS)
      const report = await moveAnalytics(deps, target, steps).finally(steps.end)
      const { events, days, resumed } = report
      await recordAudit(deps.db, { action: 'analytics.moved', actor: COMMAND, details: { events, days } })
      const again = resumed ? ', going on where a move was interrupted' : ''
      const counted = `Copied ${events} events${again}; counts and hashes of each kind and day agree`
      print({ json: report, text: `${counted}\n${nextStart(path)}` }, values.json)
    })
  } finally {
    await target.close()
  }
}

const CLICKHOUSE_EXAMPLE = 'CLICKHOUSE_URL=https://depot:password@clickhouse.example.org:8443/depot'

const nextStart = (path: string): string => `Use the settings in ${path} from the next start; the old part is as it was`

/** What `--to` names, over the settings of this instance. @throws UsageError; OperatorError for what is wrong in it. */
function readTarget(args: readonly string[], env: Env) {
  const { values } = readArguments(args, { to: 'string', json: 'boolean' })
  const path = required(values.to, 'to')
  const given = readSettings(path)
  return { path, values, given, settings: loadConfig({ ...env, ...given }) }
}

/** Variables in the form of `.env`. @throws OperatorError when the file cannot be read. */
function readSettings(path: string): Env {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`The settings in ${path} cannot be read: ${reason}`, { cause })
  }
}

const placeOf = (store: FilesConfig): string =>
  store.kind === 'folder' ? resolve(store.folder) : `${store.endpoint ?? store.region} ${store.bucket}/${store.prefix}`
