// `depot backup`: writes the rows of one snapshot, their files and the events as one stream.

import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type pg from 'pg'
import pgCopy from 'pg-copy-streams'
import { type ReadAhead, readAhead } from '#lib/concurrency/read-ahead.ts'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { connectAlone, withConnection } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { Files } from '#ports/files/files.ts'
import { holdRemovals } from '#ports/files/removals.ts'
import { FORMAT, fileMember, type Head, type ManifestEntry, partMember } from './archive/archive-format.ts'
import { type ArchiveWriter, type Content, createArchiveWriter } from './archive/archive-writer.ts'
import { encryptTo } from './archive/encryption.ts'
import { openPrevious, type Previous } from './archive/open-previous.ts'
import { EVENT_COLUMNS, type EventPart, type EventSource } from './events/event-parts.ts'
import {
  type Client,
  columnList,
  listJobs,
  listSequences,
  listTables,
  quote,
  readCopy,
  type Table,
  unreadableRows,
  withCounts,
} from './rows.ts'
import { countStoredKeys, inBatches, type StoredKey, storedKeys } from './stored-keys.ts'

export type BackupDeps = Pick<Deps, 'pool' | 'files' | 'now'>

export type BackupOptions = {
  /** The writer owns and ends it. */
  sink: Writable
  events: EventSource
  /** Version of Depot. */
  version: string
  /** Public keys of age that can decrypt the backup. Without them, it is not encrypted and has no secrets of the instance. */
  recipients?: readonly string[]
  /** Receives the index of an encrypted backup, which a later backup needs. The writer owns and ends it. */
  index?: Writable | undefined
  /** Path of an earlier backup, whose files are not copied again. */
  since?: string | undefined
  onProgress?: (step: 'rows' | 'files' | 'events', done: number, total?: number) => void
}

export type BackupReport = {
  id: string
  rows: number
  files: number
  /** Number of these files that are in earlier backups. */
  earlier: number
  events: number
  bytes: number
  /** Whether the backup is encrypted, and thus contains the secrets of the instance. */
  encrypted: boolean
  /** Keys of files that are not in the store. */
  missing: string[]
}

/** Key of the lock that lets only one backup run at a time. */
export const LOCK = 7_300_426
/** Size of the rows in one member, before compression. */
const PART_BYTES = 1024 * 1024
/** Files up to this size are read in batches of `BATCH_FILES`, while the previous batch is written. */
const SMALL_BYTES = 128 * 1024
const BATCH_FILES = 64
/** Maximum size of the files, and number of parts of events, that are in memory before they can be written. */
const AHEAD_BYTES = 16 * 1024 * 1024
const AHEAD_EVENT_PARTS = 32
/** Approximate size of a listed file in memory without its content. */
const KEY_BYTES = 256
/** Maximum number of missing files that the report lists. */
const MISSING_MAX = 1_000

const compress = promisify(gzip)
const packed = (bytes: Buffer): Promise<Buffer> => compress(bytes, { level: 1 })

/**
 * Writes a backup, also while servers run. The rows are one snapshot, and no file of the snapshot is removed before it is
 * copied. Later changes are not included.
 * @throws OperatorError if another backup runs or `since` is unusable.
 */
export async function writeBackup(deps: BackupDeps, options: BackupOptions): Promise<BackupReport> {
  const { recipients = [] } = options
  const isEncrypted = recipients.length > 0
  const opened = [options.sink, options.index]
  let previous: Previous | undefined
  let writer: ArchiveWriter | undefined
  let events: ReadAhead<EventPart> | undefined
  let files: ReadAhead<ReadFile[]> | undefined
  let reader: pg.Client | undefined
  try {
    previous = options.since === undefined ? undefined : await openPrevious(options.since)
    return await withBackupLock(deps, async (client) => {
      await beginSnapshot(client)
      const head = await describeInstance(client, deps, options)
      if (previous !== undefined) head.since = [...previous.head.since, idOf(previous.head)]
      const sink = isEncrypted ? await encryptTo(recipients, options.sink) : options.sink
      opened.push(sink)
      writer = await createArchiveWriter(head, sink, options.index)
      events = readAhead(options.events(), { max: AHEAD_EVENT_PARTS })
      reader = await joinSnapshot(client, deps)
      // While the rows wait for the database and for compression.
      files = readAhead(readFiles(reader, { ...deps, previous }), { max: AHEAD_BYTES, sizeOf: sizeOfBatch })
      const rowCount = await copyRows(client, writer, head.tables, options)
      const copied = await copyFiles(client, { ...deps, store: writer, batches: files.items, options })
      await client.query('commit')
      const eventCount = await copyEvents(writer, { ...options, events: events.items })
      const { bytes } = await writer.finish()
      return { id: head.id, rows: rowCount, ...copied, events: eventCount, bytes, encrypted: isEncrypted }
    })
  } finally {
    await writer?.dispose()
    await events?.stop()
    await files?.stop()
    await reader?.end().catch(() => undefined)
    await previous?.files.return(undefined)
    if (writer === undefined) for (const stream of opened) stream?.destroy()
  }
}

/** Runs `act` with a connection that holds the lock of backups. @throws OperatorError if another backup runs. */
export async function withBackupLock<T>({ pool }: Pick<Deps, 'pool'>, act: (client: Client) => Promise<T>): Promise<T> {
  return withConnection(pool, 'depot-backup', async (client) => {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as is_mine', [LOCK])
    if (rows[0]?.is_mine !== true)
      throw new OperatorError('Another backup of this instance is running. Run the command again when it has ended.')
    return act(client)
  })
}

/** Begins the snapshot. Files that are deleted later remain until the connection is closed. */
export async function beginSnapshot(client: Client): Promise<void> {
  await holdRemovals(client)
  await client.query('begin isolation level repeatable read read only')
}

/** Opens a second connection with the snapshot of `client`. The caller must end it. */
async function joinSnapshot(client: Client, { pool }: Pick<Deps, 'pool'>): Promise<pg.Client> {
  const { rows } = await client.query<{ id: string }>('select pg_export_snapshot() as id')
  const second = await connectAlone(pool, 'depot-backup')
  try {
    await second.query('begin isolation level repeatable read read only')
    await second.query(`set transaction snapshot '${rows[0]?.id}'`)
    return second
  } catch (error) {
    await second.end()
    throw error
  }
}

export const idOf = ({ id, created }: Head): Head['since'][number] => ({ id, created })

export async function describeInstance(
  client: Client,
  { now }: Pick<Deps, 'now'>,
  { version, recipients = [] }: Pick<BackupOptions, 'version' | 'recipients'>,
): Promise<Head> {
  const { rows: applied } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration order by name',
  )
  const { rows: server } = await client.query<{ version: string }>(
    "select current_setting('server_version') as version",
  )
  return {
    format: FORMAT,
    id: newId(),
    created: new Date(now()).toISOString(),
    writer: (await readCopy(client)).writer,
    version,
    migrations: applied,
    postgres: server[0]?.version ?? '',
    tables: await withCounts(client, await listTables(client, { withSecrets: recipients.length > 0 })),
    sequences: await listSequences(client),
    events: EVENT_COLUMNS,
    since: [],
  }
}

export async function copyRows(
  client: Client,
  writer: ArchiveWriter,
  tables: readonly Table[],
  { onProgress }: Pick<BackupOptions, 'onProgress'>,
): Promise<number> {
  let count = 0
  for (const table of tables) {
    count += await copyTable(client, writer, table).catch((cause) => Promise.reject(unreadableRows(table.name, cause)))
    onProgress?.('rows', count)
  }
  const jobs = await listJobs(client)
  if (jobs.length > 0) {
    const lines = Buffer.from(jobs.map((job) => `${JSON.stringify(job)}\n`).join(''))
    await writer.add(partMember('jobs', 1, 'jsonl.gz'), await packed(lines))
  }
  return count
}

async function copyTable(client: Client, writer: ArchiveWriter, table: Table): Promise<number> {
  const copy = client.query(pgCopy.to(`copy ${quote(table.name)} (${columnList(table)}) to stdout`))
  let part = 0
  for await (const bytes of oneAhead(inParts(copy, PART_BYTES), packed)) {
    part += 1
    await writer.add(partMember(`rows/${table.name}`, part, 'copy.gz'), bytes)
  }
  return copy.rowCount ?? 0
}

/** Starts `work` for each item while the consumer uses the result of the previous item. */
async function* oneAhead<Item, Result>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  let before: Promise<Result> | undefined
  try {
    for await (const item of items) {
      const now = work(item)
      now.catch(() => undefined)
      if (before !== undefined) yield await before
      before = now
    }
    if (before !== undefined) yield await before
  } finally {
    await before?.catch(() => undefined)
  }
}

/** Splits a stream into pieces of at least `size` bytes. The last piece can be smaller. */
async function* inParts(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < size) continue
    yield Buffer.concat(chunks)
    chunks = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(chunks)
}

type FileStore = Pick<ArchiveWriter, 'note'> & {
  add(name: string, content: Buffer): Promise<unknown>
  addStream(name: string, size: number, content: Content): Promise<unknown>
}

type FilesNeeds = Pick<Deps, 'files'> & {
  store: FileStore
  batches: AsyncIterable<ReadFile[]>
  options: Pick<BackupOptions, 'onProgress'>
}

/** A file, and its manifest entry if an earlier backup has it. */
type ListedFile = StoredKey & { entry: ManifestEntry | undefined }
type ReadFile = ListedFile & { content: Awaited<ReturnType<Files['readAll']>>[number] }

const sizeOfBatch = (batch: readonly ReadFile[]): number =>
  batch.reduce((sum, { content }) => sum + KEY_BYTES + (Buffer.isBuffer(content) ? content.length : 0), 0)

/** Lists the files of the snapshot, and reads the small ones that the previous backup does not contain. */
export function readFiles(
  client: Client,
  { files, previous }: Pick<Deps, 'files'> & { previous: Previous | undefined },
): AsyncGenerator<ReadFile[]> {
  async function read(batch: readonly ListedFile[]): Promise<ReadFile[]> {
    const keys = batch.flatMap(({ key, entry }) => (entry === undefined ? key : []))
    const contents = (await files.readAll(keys, { maxBytes: SMALL_BYTES })).values()
    return batch.map((file) => ({ ...file, content: file.entry === undefined ? contents.next().value : undefined }))
  }

  return oneAhead(inBatches(withEntries(storedKeys(client), previous), BATCH_FILES), read)
}

/** Stores the files that the previous backup does not contain, and notes all of them. */
export async function copyFiles(client: Client, { files, store, batches, options }: FilesNeeds) {
  const total = await countStoredKeys(client)
  const report = { files: 0, earlier: 0, missing: [] as string[] }

  async function write({ key, isUploading, entry, content }: ReadFile): Promise<void> {
    const name = fileMember(key)
    if (entry !== undefined) {
      report.earlier += 1
      await store.note(entry)
    } else if (content === undefined) {
      if (isUploading) return
      if (report.missing.length < MISSING_MAX) report.missing.push(key)
      await store.note({ name, absent: true })
      return
    } else if (Buffer.isBuffer(content)) await store.add(name, content)
    else await addLarge(files, store, key)
    report.files += 1
    options.onProgress?.('files', report.files, total)
  }

  for await (const batch of batches) for (const file of batch) await write(file)
  return report
}

async function addLarge(files: Files, store: FileStore, key: string): Promise<void> {
  const opened = await files.open(key)
  if (opened === undefined) throw new Error(`The file ${key} was removed while it was copied`)
  await store.addStream(fileMember(key), opened.sizeBytes, opened.stream)
}

/** Adds the manifest entries of the previous backup, with the ID of the backup that has the file. Both are in ascending order. */
async function* withEntries(
  keys: AsyncIterable<StoredKey>,
  previous: Previous | undefined,
): AsyncGenerator<ListedFile> {
  let current: ManifestEntry | undefined
  let isDone = previous === undefined
  for await (const stored of keys) {
    const name = fileMember(stored.key)
    while (!isDone && (current === undefined || current.name < name)) {
      const next = await previous?.files.next()
      isDone = next?.done !== false
      current = next?.done === false ? next.value : undefined
    }
    const found = current?.name === name && !('absent' in current) ? current : undefined
    yield { ...stored, entry: found && { in: previous?.head.id ?? '', ...found } }
  }
}

export async function copyEvents(
  writer: ArchiveWriter,
  { events, onProgress }: Pick<BackupOptions, 'onProgress'> & { events: AsyncIterable<EventPart> },
): Promise<number> {
  let count = 0
  const parts = new Map<string, number>()
  for await (const { kind, count: more, bytes } of events) {
    const part = (parts.get(kind) ?? 0) + 1
    parts.set(kind, part)
    await writer.add(partMember(`events/${kind}`, part, 'jsonl.gz'), bytes)
    count += more
    onProgress?.('events', count)
  }
  return count
}
