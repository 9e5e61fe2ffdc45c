// `depot move PART`: brings a part of the instance onto another engine, which the operator then sets.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { type FilesConfig, loadConfig } from '#config/config.ts'
import { createDb, createPool } from '#db/db.ts'
import { COMMAND } from '#features/audit/actor.ts'
import { recordAudit } from '#features/audit/record-audit.ts'
import { moveDatabase } from '#features/backup/move-database.ts'
import { moveFiles } from '#features/backup/move-files.ts'
import { isServed } from '#features/backup/rows.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { openFiles } from '#main/open-files.ts'
import { readArguments, required } from './arguments.ts'
import { createProgress, createSteps, shownBytes } from './progress.ts'
import { type Env, print, withDeps } from './with-deps.ts'

export async function moveFilesCommand(args: readonly string[], env: Env): Promise<void> {
  const { path, settings, values } = readTarget(args, env)
  const target = settings.files.store
  if (placeOf(target) === placeOf(loadConfig(env).files.store)) {
    throw new OperatorError(`The settings in ${path} name the store that is used already; nothing was copied`)
  }
  await withDeps(env, async (deps) => {
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

const DATABASE_EXAMPLE = 'DATABASE_URL=postgres://depot:password@db.example.org/depot'

const nextStart = (path: string): string => `Use the settings in ${path} from the next start; the old part is as it was`

/** What `--to` names, over the settings of this instance. @throws UsageError; OperatorError for what is wrong in it. */
function readTarget(args: readonly string[], env: Env) {
  const { values } = readArguments(args, { to: 'string', json: 'boolean' })
  const path = required(values.to, 'to')
  return { path, values, settings: loadConfig({ ...env, ...readSettings(path) }) }
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
