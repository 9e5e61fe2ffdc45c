// `depot backup` and `depot backup list`.
import { createWriteStream, existsSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import { createSteps, type Steps, shownBytes } from '#cli/kit/progress.ts'
import { table } from '#cli/kit/table.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { indexPath } from '#features/operation/backup/archive/open-previous.ts'
import { type EventSource, eventsOfServer, eventsOfStore } from '#features/operation/backup/events/event-parts.ts'
import { isServed } from '#features/operation/backup/rows.ts'
import { backUpTo, listExpiring } from '#features/operation/backup/scheduled/run-backup.ts'
import { listTarget } from '#features/operation/backup/scheduled/target.ts'
import { type BackupReport, writeBackup } from '#features/operation/backup/write-backup.ts'
import { saveCheck } from '#features/operation/overview/checks/queries.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { withBackupTarget } from '#main/open-backup-target.ts'
import type { Config } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { VERSION } from '#platform/config/version.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'

const WITHOUT_SECRETS =
  'The backup does not contain the secrets of the instance. Set BACKUP_RECIPIENT to encrypt backups and include the secrets.'
/** Interval at which the progress is stored. */
const STORED_EVERY_MS = 3_000
const LABELS = { rows: 'Rows', files: 'Files', events: 'Events' } as const

export async function backupCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(
    args,
    { since: 'string', 'dry-run': 'boolean', 'take-over': 'boolean', json: 'boolean' },
    { min: 0, max: 1 },
  )
  const [path] = words
  if (values['dry-run'] === true) {
    if (path !== undefined)
      throw new UsageError('--dry-run is for backups at BACKUP_TARGET; a backup file replaces nothing')
    return listExpiringAtTarget(values, env)
  }
  if (path === undefined) {
    if (values.since !== undefined) throw new UsageError('--since needs the name of the new file')
    return backUpToTarget({ json: values.json, mayTakeOver: values['take-over'] === true }, env)
  }
  if (values['take-over'] === true) throw new UsageError('--take-over is for backups at BACKUP_TARGET')
  const target = await openTarget(path)
  const progress = createSteps(LABELS)
  try {
    const report = await withDeps(env, async (deps) => {
      const written = await writeBackup(deps, {
        sink: target.sink,
        events: await chooseEvents(deps),
        version: VERSION,
        since: values.since,
        recipients: deps.config.backup.recipients,
        index: deps.config.backup.recipients.length > 0 ? await target.openIndex() : undefined,
        onProgress: progress.onProgress,
      })
      await record(deps, written, path === '-' ? null : basename(path))
      return written
    })
    progress.end()
    await target.keep()
    // Standard output might contain the backup.
    const stream = path === '-' ? process.stderr : process.stdout
    stream.write(`${values.json === true ? JSON.stringify(report) : describe(report, path)}\n`)
    if (report.missing.length > 0) process.exitCode = 1
  } catch (error) {
    progress.end()
    await target.discard()
    throw asOperatorError(error, path)
  }
}

/** Makes a backup at BACKUP_TARGET, as the schedule does. */
async function backUpToTarget(
  { json, mayTakeOver }: { json: boolean | undefined; mayTakeOver: boolean },
  env: Env,
): Promise<void> {
  const progress = createSteps(LABELS)
  const report = await withDeps(env, (deps) =>
    withBackupTarget(deps, async (target) =>
      backUpTo(target, deps, {
        events: await chooseEvents(deps),
        version: VERSION,
        recipients: deps.config.backup.recipients,
        keep: keepOf(deps.config),
        mayTakeOver,
        onProgress: alsoStored(deps, progress.onProgress),
        onWritten: (written) => record(deps, written, written.name),
      }),
    ),
  ).finally(progress.end)
  print({ json: report, text: describe(report, report.name) }, json)
  if (report.missing.length > 0) process.exitCode = 1
}

/** Also stores the progress every few seconds, for operators in the browser. */
function alsoStored({ db, now, log }: Deps, show: Steps<keyof typeof LABELS>['onProgress']): typeof show {
  let next = 0
  return (step, done, total) => {
    show(step, done, total)
    if (now() < next) return
    next = now() + STORED_EVERY_MS
    const value = { step, done, total: total ?? null }
    saveCheck(db, 'backup_progress', { value, at: new Date(now()) }).catch((err: unknown) =>
      log.debug({ err }, 'Could not store the progress of the backup'),
    )
  }
}

const keepOf = ({ backup }: Config): number => backup.target?.keep ?? 1

/** Prints the backups that the next backup deletes. */
async function listExpiringAtTarget({ json }: { json?: boolean }, env: Env): Promise<void> {
  const backups = await withDeps(env, (deps) =>
    withBackupTarget(deps, (target) => listExpiring(target, deps, keepOf(deps.config))),
  )
  const text = backups.length === 0 ? 'The next backup deletes nothing' : `Would be deleted:\n${backups.join('\n')}`
  print({ json: { dry_run: true, backups }, text }, json)
}

async function record(deps: Deps, report: BackupReport, name: string | null): Promise<void> {
  const { id, rows, files, events, bytes, missing, encrypted } = report
  const details = { id, name, rows, files, events, bytes, missing: missing.length, encrypted }
  await recordAudit(deps.db, { action: 'backup.made', actor: COMMAND, details })
}

/** Returns what opening BACKUP_TARGET needs, without an instance. */
export function targetDeps(env: Env) {
  const log = createLog({ level: 'warn', buffered: false, destination: 2 })
  return { config: loadConfig(env), log, metrics: createMetrics({ process: false }) }
}

/** Works without an instance, so that it helps on a new machine. */
export async function backupListCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  const { backups, packs } = await withBackupTarget(targetDeps(env), listTarget)
  const packBytes = packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const rows = backups.map(({ name, sizeBytes }) => [name, shownBytes(sizeBytes)])
  const text = `${table(['NAME', 'ROWS AND EVENTS'], rows)}\n\nFiles of all backups: ${shownBytes(packBytes)}`
  const json = { backups: backups.map(({ name, sizeBytes }) => ({ name, bytes: sizeBytes })), files_bytes: packBytes }
  print({ json, text }, values.json)
}

/** Only one process can open the embedded store. */
async function chooseEvents(deps: Deps): Promise<EventSource> {
  const { store } = deps.config.analytics
  if (store.kind === 'embedded' && (await isServed(deps.pool))) return eventsOfServer(deps, store.folder)
  return eventsOfStore(deps.analytics)
}

type Target = {
  sink: Writable
  /** Undefined if the backup has no file that a later backup can name. */
  openIndex(): Promise<Writable | undefined>
  keep(): Promise<void>
  discard(): Promise<void>
}

/** The file gets its name when the backup is complete and on disk. @throws OperatorError */
async function openTarget(path: string): Promise<Target> {
  if (path === '-') {
    if (process.stdout.isTTY)
      throw new OperatorError('Standard output is a terminal. Redirect it to a file or a program.')
    return withoutFile(process.stdout)
  }
  if (existsSync(path)) {
    const isDevice = !(await isPlain(path))
    if (isDevice) return withoutFile(createWriteStream(path))
    throw new OperatorError(`${path} already exists. Choose another file name.`)
  }
  const part = `${path}.part-${process.pid}`
  const indexPart = `${indexPath(path)}.part-${process.pid}`
  const create = (name: string) =>
    open(name, 'wx', 0o600).catch((cause: Error) => {
      throw new OperatorError(`Cannot create the backup ${path}: ${cause.message}`, { cause })
    })
  const handle = await create(part)
  let index: FileHandle | undefined
  return {
    sink: handle.createWriteStream({ flush: true, highWaterMark: 1024 * 1024 }),
    async openIndex() {
      index = await create(indexPart)
      return index.createWriteStream({ flush: true })
    },
    async keep() {
      // A second backup with the same name must not replace the first.
      await link(part, path).then(
        () => unlink(part),
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') return rename(part, path)
          throw new OperatorError(`${path} already exists. Choose another file name.`)
        },
      )
      if (index !== undefined) await rename(indexPart, indexPath(path))
      await syncFolder(dirname(path))
    },
    async discard() {
      for (const each of [handle, index]) await each?.close().catch(() => undefined)
      for (const each of [part, indexPart]) await rm(each, { force: true })
    },
  }
}

function withoutFile(sink: Writable): Target {
  return { sink, openIndex: async () => undefined, keep: async () => {}, discard: async () => {} }
}

async function isPlain(path: string): Promise<boolean> {
  const handle = await open(path, 'r')
  try {
    return (await handle.stat()).isFile()
  } finally {
    await handle.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().catch(() => undefined)
  await handle.close()
}

function asOperatorError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const where = path === '-' ? 'standard output' : path
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new OperatorError(`No space left for the backup at ${where}; the incomplete file was deleted`, {
      cause: error,
    })
  }
  if (code === 'EPIPE')
    return new OperatorError(`The program that reads ${where} exited before the backup was complete`, { cause: error })
  return error
}

function describe(report: BackupReport, path: string): string {
  const { rows, files, earlier, events, bytes, missing, encrypted } = report
  const counted = `${rows} rows, ${files} files${earlier === 0 ? '' : ` (${earlier} of them in earlier backups)`}, ${events} events`
  const secrets = encrypted ? 'encrypted' : `not encrypted\n${WITHOUT_SECRETS}`
  const done = `Wrote ${path === '-' ? 'the backup' : path}: ${counted}, ${shownBytes(bytes)}, ${secrets}`
  if (missing.length === 0) return done
  return `${done}\nFiles that are missing in the store: ${missing.length}\n${missing.map((key) => `  ${key}`).join('\n')}`
}
