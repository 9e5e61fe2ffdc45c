// `depot move database`: copies the database to another server or another data folder.
import { resolve } from 'node:path'
import type pg from 'pg'
import { readArguments } from '#cli/kit/arguments.ts'
import { createSteps } from '#cli/kit/progress.ts'
import { type Env, print } from '#cli/kit/with-deps.ts'
import { moveDatabase } from '#features/operation/backup/move/move-database.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { connectionsOf } from '#main/open-database.ts'
import { openDataFolder } from '#main/preflight.ts'
import { requireInstance } from '#main/require-instance.ts'
import { startDatabase } from '#main/start-database.ts'
import type { Config } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createPool } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { readTarget } from './move.ts'

const LABELS = { copying: 'Rows', comparing: 'Compared tables' } as const

export async function moveDatabaseCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { to: 'string', former: 'string', json: 'boolean' })
  const { path, settings } = readTarget(values, env)
  const config = loadConfig(env)
  await requireInstance(config)
  if (locationOf(settings) === locationOf(config))
    throw new OperatorError(`The settings in ${path} refer to the current database. Nothing was copied.`)
  if (values.former !== undefined && config.database.kind === 'external')
    throw new OperatorError('--former is for the embedded database, but DATABASE_URL is set. Remove the option.')
  await using resources = new AsyncDisposableStack()
  const source = await open(config, resources, values.former)
  const target = await open(settings, resources)
  const steps = createSteps(LABELS)
  const report = await moveDatabase(source, target, steps).finally(steps.end)
  const { tables, rows, jobs } = report
  const counted = `Copied ${rows} rows of ${tables} tables and ${jobs} jobs; numbers and checksums of each table are equal`
  print({ json: report, text: `${counted}\n${nextStep(config, settings, path)}` }, values.json)
}

/** Opens only the database, because the schema might be that of another release. */
async function open(config: Config, resources: AsyncDisposableStack, former?: string): Promise<pg.Pool> {
  openDataFolder(config)
  const log = createLog({ level: 'warn', buffered: false, destination: 2 })
  const embedded = await startDatabase({ config, log }, 'command', former)
  resources.defer(async () => embedded?.stop())
  const pool = createPool(connectionsOf(config, embedded).direct, { max: 2, applicationName: 'depot-move' })
  resources.defer(() => pool.end())
  return pool
}

const locationOf = ({ database, dataDir }: Config): string =>
  database.kind === 'external' ? (database.directUrl ?? database.url).reveal() : resolve(dataDir)

function nextStep(from: Config, to: Config, path: string): string {
  const unchanged = 'The old database is unchanged.'
  if (to.database.kind === 'external' || from.dataDir === to.dataDir)
    return `Start Depot with the settings in ${path}. ${unchanged}`
  return `Replace the folder postgres of ${from.dataDir} by that of ${to.dataDir}, and start Depot. ${unchanged}`
}
