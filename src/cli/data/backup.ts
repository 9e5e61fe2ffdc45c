// `depot backup` and `depot restore`.
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { link, open, rename, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { readArguments } from '#cli/kit/arguments.ts'
import { createSteps, shownBytes } from '#cli/kit/progress.ts'
import { type Env, print, withDeps, withUnmigratedDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type EventSource, eventsOfServer, eventsOfStore } from '#features/operations/backup/events/event-parts.ts'
import { restoreBackup } from '#features/operations/backup/restore-backup.ts'
import { isServed } from '#features/operations/backup/rows.ts'
import { type BackupReport, writeBackup } from '#features/operations/backup/write-backup.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { VERSION } from '#main/version.ts'
import type { Deps } from '#ports/deps.ts'

/** An archive is read in pieces of this size. */
const SOURCE_BYTES = 128 * 1024
const LABELS = { rows: 'Rows', files: 'Files', events: 'Events' } as const

export async function backupCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { since: 'string', json: 'boolean' }, 1)
  const [path = '-'] = words
  const target = await openTarget(path)
  const progress = createSteps(LABELS)
  try {
    const report = await withDeps(env, async (deps) => {
      const made = await writeBackup(deps, {
        sink: target.sink,
        events: await chooseEvents(deps),
        version: VERSION,
        since: values.since,
        onProgress: progress.onProgress,
      })
      const { id, rows, files, events, missing } = made
      const details = { id, rows, files, events, missing: missing.length }
      await recordAudit(deps.db, { action: 'backup.made', actor: COMMAND, details })
      return made
    })
    progress.end()
    await target.keep()
    // Standard output may be the archive itself.
    const stream = path === '-' ? process.stderr : process.stdout
    stream.write(`${values.json === true ? JSON.stringify(report) : describe(report, path)}\n`)
    if (report.missing.length > 0) process.exitCode = 1
  } catch (error) {
    progress.end()
    await target.discard()
    throw asOperatorError(error, path)
  }
}

/** Of the embedded store a running server has the only hold. */
async function chooseEvents(deps: Deps): Promise<EventSource> {
  const { store } = deps.config.analytics
  if (store.kind === 'embedded' && (await isServed(deps.pool))) return eventsOfServer(deps, store.folder)
  return eventsOfStore(deps.analytics)
}

type Target = { sink: Writable; keep(): Promise<void>; discard(): Promise<void> }

/** The archive has its name once it is complete and on disk. @throws OperatorError */
async function openTarget(path: string): Promise<Target> {
  if (path === '-') {
    if (process.stdout.isTTY) {
      throw new OperatorError('The archive would be written to this terminal; send it to a file or a program')
    }
    return { sink: process.stdout, keep: async () => {}, discard: async () => {} }
  }
  if (existsSync(path)) {
    const isDevice = !(await isPlain(path))
    if (isDevice) return { sink: createWriteStream(path), keep: async () => {}, discard: async () => {} }
    throw new OperatorError(`${path} exists already; name a new file`)
  }
  const part = `${path}.part-${process.pid}`
  const handle = await open(part, 'wx', 0o600).catch((cause: Error) => {
    throw new OperatorError(`The archive ${path} cannot be made: ${cause.message}`, { cause })
  })
  return {
    sink: handle.createWriteStream({ flush: true, highWaterMark: 1024 * 1024 }),
    async keep() {
      // Two backups to one name: the second must not replace the first.
      await link(part, path).then(
        () => unlink(part),
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') return rename(part, path)
          throw new OperatorError(`${path} exists already; name a new file`)
        },
      )
      await syncFolder(dirname(path))
    },
    async discard() {
      await handle.close().catch(() => undefined)
      await rm(part, { force: true })
    },
  }
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
    return new OperatorError(`There is no room left for the archive at ${where}; nothing was kept of it`, {
      cause: error,
    })
  }
  if (code === 'EPIPE') {
    return new OperatorError(`What reads ${where} has ended before the archive was complete`, { cause: error })
  }
  return error
}

function describe({ rows, files, earlier, events, bytes, missing }: BackupReport, path: string): string {
  const counted = `${rows} rows, ${files} files${earlier === 0 ? '' : ` (${earlier} of them in earlier archives)`}, ${events} events`
  const done = `Wrote ${path === '-' ? 'the archive' : path}: ${counted}, ${shownBytes(bytes)}`
  if (missing.length === 0) return done
  return `${done}\nThe store lacks ${missing.length} files that rows name:\n${missing.map((key) => `  ${key}`).join('\n')}`
}

export async function restoreCommand(args: readonly string[], env: Env): Promise<void> {
  const { values, words } = readArguments(args, { json: 'boolean' }, { min: 1, max: 1000 })
  const [path = '-', ...earlier] = words
  const source = await openSource(path)
  const progress = createSteps(LABELS)
  try {
    const report = await withUnmigratedDeps(env, async (deps) => {
      const restored = await restoreBackup(deps, { source, earlier, onProgress: progress.onProgress })
      const { id, created, rows, files, events, missing } = restored
      const details = { id, created, rows, files, events, missing }
      await recordAudit(deps.db, { action: 'backup.restored', actor: COMMAND, details })
      return restored
    })
    progress.end()
    const { rows, files, events, missing, created } = report
    const lacks = missing === 0 ? '' : `; ${missing} files were missing already when it was made`
    print(
      {
        json: report,
        text: `Restored the archive of ${created}: ${rows} rows, ${files} files, ${events} events${lacks}`,
      },
      values.json,
    )
  } catch (error) {
    progress.end()
    source.destroy()
    throw error
  }
}

async function openSource(path: string): Promise<Readable> {
  if (path === '-') return process.stdin
  const handle = await open(path, 'r').catch((cause: Error) => {
    throw new OperatorError(`The archive ${path} cannot be opened: ${cause.message}`, { cause })
  })
  await handle.close()
  return createReadStream(path, { highWaterMark: SOURCE_BYTES })
}
