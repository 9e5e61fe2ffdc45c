// `depot move PART`: brings a part of the instance onto another engine, which the operator then sets.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { moveAnalytics } from '#features/operations/backup/move-analytics.ts'
import { moveDatabase } from '#features/operations/backup/move-database.ts'
import { moveFiles } from '#features/operations/backup/move-files.ts'
import { moveSearch } from '#features/operations/backup/move-search.ts'
import { isServed } from '#features/operations/backup/rows.ts'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { openStore } from '#main/open-analytics.ts'
import { openFiles } from '#main/open-files.ts'
import { openIdleSearch, openScratchSearch, requireOwnIndex } from '#main/open-search.ts'
import { type FilesConfig, loadConfig } from '#platform/config/config.ts'
import { createDb, createPool } from '#platform/db/db.ts'
import { readArguments, required } from './arguments.ts'
import { createProgress, createSteps, shownBytes } from './progress.ts'
import { type Env, print, withDeps } from './with-deps.ts'

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

const ROWS = { reading: 'Reading rows', copying: 'Copying rows', comparing: 'Comparing rows' } as const

export async function moveDatabaseCommand(args: readonly string[], env: Env): Promise<void> {
  const { path, settings, values } = readTarget(args, env)
  const { database } = settings
  if (database.kind === 'embedded') {
    throw new OperatorError(`${path} names no new database: set DATABASE_URL in it, for example ${DATABASE_EXAMPLE}`)
  }
  const target = createPool(
    { connectionString: (database.directUrl ?? database.url).reveal() },
    { max: 2, applicationName: 'depot-move' },
  )
  try {
    await withDeps(env, async (deps) => {
      const steps = createSteps(ROWS)
      const report = await moveDatabase(deps, target, steps).finally(steps.end)
      const { rows, tables, jobs, from, to } = report
      const details = { rows, tables, jobs, from, to }
      await recordAudit(createDb(target), { action: 'database.moved', actor: COMMAND, details })
      const counted = `Copied ${rows} rows of ${tables} tables and ${jobs} waiting jobs, from PostgreSQL ${from} to ${to}; counts and hashes agree`
      print({ json: report, text: `${counted}\n${nextStart(path)}` }, values.json)
    })
  } finally {
    await target.end()
  }
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

const SEARCH = { building: 'Projects in the index', comparing: 'Comparing searches' } as const

export async function moveSearchCommand(args: readonly string[], env: Env): Promise<void> {
  const { path, settings, values } = readTarget(args, env)
  const { search } = settings
  if (search.kind === 'embedded') {
    throw new OperatorError(`${path} names no OpenSearch: set OPENSEARCH_URL in it, for example ${OPENSEARCH_EXAMPLE}`)
  }
  const used = loadConfig(env).search
  if (used.kind === 'opensearch' && used.url.reveal() === search.url.reveal() && used.prefix === search.prefix) {
    throw new OperatorError(`The settings in ${path} name the index that is used already; nothing was changed`)
  }
  await withDeps(env, async (deps) => {
    const steps = createSteps(SEARCH)
    const needs = { ...deps, config: settings }
    const total = (await getStatistics(deps.db)).projects
    const onBuild = (documents: number) => steps.onProgress('building', documents, Math.max(total, documents))
    try {
      await requireOwnIndex(needs)
      const target = await openIdleSearch(needs, { onBuild })
      if (target === undefined) throw new OperatorError(`A server feeds the index ${search.prefix} already`)
      const scratch = openScratchSearch(deps)
      try {
        const report = await moveSearch({ target, scratch }, steps)
        const { documents, queries } = report
        await recordAudit(deps.db, { action: 'search.moved', actor: COMMAND, details: { documents, queries } })
        const counted = `${search.prefix} has all ${documents} projects; ${queries} sample searches have the same answers as an index in memory`
        print({ json: report, text: `${counted}\n${nextStart(path)}` }, values.json)
      } finally {
        await scratch.close()
        await target.close()
      }
    } finally {
      steps.end()
    }
  })
}

const CLICKHOUSE_EXAMPLE = 'CLICKHOUSE_URL=https://depot:password@clickhouse.example.org:8443/depot'
const OPENSEARCH_EXAMPLE = 'OPENSEARCH_URL=https://depot:password@search.example.org:9200'
const DATABASE_EXAMPLE = 'DATABASE_URL=postgres://depot:password@db.example.org/depot'

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
