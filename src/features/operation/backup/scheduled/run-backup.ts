// A scheduled backup: stores the files that the target does not contain in packs, then the rows, the events and the list of
// all files in a new archive, and deletes what is too old.

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { withConnection } from '#platform/db/db.ts'
import type { Head, ManifestEntry } from '../archive/archive-format.ts'
import { readEntries } from '../archive/archive-reader.ts'
import { createArchiveWriter, writeTo } from '../archive/archive-writer.ts'
import { encryptTo } from '../archive/encryption.ts'
import { openPrevious, type Previous, readHeadOf } from '../archive/open-previous.ts'
import { type Client, type Copy, readCopy } from '../rows.ts'
import {
  type BackupDeps,
  type BackupOptions,
  type BackupReport,
  beginSnapshot,
  copyEvents,
  copyFiles,
  copyRows,
  describeInstance,
  readFiles,
  withBackupLock,
} from '../write-backup.ts'
import { createPackWriter, nameOfRecipients, packedBytes, reusablePacks } from './packs.ts'
import {
  backupKey,
  backupName,
  claimTarget,
  indexKey,
  listTarget,
  objectSource,
  openUpload,
  type Target,
} from './target.ts'

export type ScheduledOptions = Pick<BackupOptions, 'events' | 'version' | 'onProgress'> & {
  recipients: readonly string[]
  /** Number of backups to keep. */
  keep: number
  /** Whether to use a target at which another copy of the instance made the last backup. */
  mayTakeOver?: boolean
  /** Called when the backup is complete, before older backups are deleted. */
  onWritten(report: BackupReport & { name: string }): Promise<void>
}

/**
 * Makes a backup at the target. A failed or killed backup leaves no archive, and the next backup deletes its remains.
 * @throws OperatorError if another backup runs, or if the target cannot be used.
 */
export async function backUpTo(
  target: Target,
  deps: BackupDeps,
  options: ScheduledOptions,
): Promise<BackupReport & { name: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-backup-'))
  try {
    return await withBackupLock(deps, async (client) => {
      const copy = await readCopy(client)
      await claimTarget(target, copy, options.mayTakeOver === true)
      // Only this process uses the target.
      await target.files.sweep({ olderThanMs: 0, nowMs: Number.MAX_SAFE_INTEGER })
      const report = await write(target, deps, { client, folder, options, copy })
      await options.onWritten(report)
      await removeOld(target, options.keep, copy)
      return report
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Work = { client: Client; folder: string; options: ScheduledOptions; copy: Copy }

async function write(target: Target, deps: BackupDeps, { client, folder, options, copy }: Work) {
  const { recipients } = options
  const previous = await openNewest(target, join(folder, 'previous'), recipients)
  await beginSnapshot(client)
  const head = await describeInstance(client, deps, options)
  const listPath = join(folder, 'files')
  const { packs, ...files } = await storeFiles(target, deps, { client, options, head, previous, listPath })
  const [archive, index] = [openUpload(target), openUpload(target)]
  let sink: Writable = archive.sink
  let writer: Awaited<ReturnType<typeof createArchiveWriter>> | undefined
  try {
    if (recipients.length > 0) sink = await encryptTo(recipients, archive.sink)
    writer = await createArchiveWriter({ ...head, since: packs }, sink, index.sink)
    const rows = await copyRows(client, writer, head.tables, options)
    await client.query('commit')
    for await (const { entry } of readEntries(createReadStream(listPath))) await writer.note(entry)
    const events = await copyEvents(writer, { ...options, events: options.events() })
    await writer.finish()
    // Another copy that has taken the target over in the meantime might delete the new packs.
    await claimTarget(target, copy, false)
    const name = backupName(head.created, head.id)
    await index.publish(indexKey(name))
    const bytes = files.bytes + (await archive.publish(backupKey(name)))
    return { id: head.id, name, rows, ...files, events, bytes, encrypted: recipients.length > 0 }
  } finally {
    await writer?.dispose()
    await Promise.all([archive.discard(), index.discard()])
  }
}

type FilesWork = Pick<Work, 'client' | 'options'> & { head: Head; previous: Previous | undefined; listPath: string }

/** Stores the files that no usable pack contains, and writes the entries of all files to `listPath`. */
async function storeFiles(target: Target, deps: BackupDeps, { client, options, head, previous, listPath }: FilesWork) {
  const list = createWriteStream(listPath, { mode: 0o600 })
  const used = new Map<string, Head['since'][number]>()
  const known = new Map(previous?.head.since.map((pack) => [pack.id, pack]))
  const note = async (entry: ManifestEntry): Promise<void> => {
    const pack = 'absent' in entry ? undefined : known.get(entry.in ?? '')
    if (pack !== undefined) used.set(pack.id, pack)
    await writeTo(list, Buffer.from(`${JSON.stringify(entry)}\n`))
  }
  const store = createPackWriter(target, { head, recipients: options.recipients, note })
  try {
    const batches = readFiles(client, { ...deps, previous })
    const files = await copyFiles(client, { ...deps, store, batches, options })
    const { packs, bytes } = await store.finish()
    list.end()
    await finished(list)
    return { ...files, bytes, packs: [...used.values(), ...packs] }
  } finally {
    list.destroy()
    await store.dispose()
    await previous?.files.return(undefined)
  }
}

/** Opens the newest backup of the target, with those of its files whose packs can be used again. */
async function openNewest(target: Target, path: string, recipients: readonly string[]): Promise<Previous | undefined> {
  const { backups, packs, indexes } = await listTarget(target)
  const newest = backups.find(({ name }) => indexes.includes(name))
  const opened = newest && (await target.files.open(indexKey(newest.name)))
  if (opened === undefined) return undefined
  await pipeline(opened.stream, createWriteStream(path, { mode: 0o600 }))
  const used = new Map<string, number>()
  for await (const entry of (await openPrevious(path)).files) {
    if ('absent' in entry || entry.in === undefined) continue
    used.set(entry.in, (used.get(entry.in) ?? 0) + packedBytes(entry))
  }
  const reusable = reusablePacks(packs, nameOfRecipients(recipients), used)
  const { head, files } = await openPrevious(path)
  return { head, files: only(files, reusable) }
}

async function* only(entries: AsyncGenerator<ManifestEntry>, packs: ReadonlySet<string>): Previous['files'] {
  for await (const entry of entries) if (!('absent' in entry) && packs.has(entry.in ?? '')) yield entry
}

/** Returns the names of the backups that the next backup deletes. */
export async function listExpiring(target: Target, deps: Pick<BackupDeps, 'pool'>, keep: number): Promise<string[]> {
  const copy = await withConnection(deps.pool, 'depot-backup', readCopy)
  const { own, others } = await separate(target, copy)
  const isComplete = [...own.slice(0, keep - 1), ...others].every(({ head }) => head !== undefined)
  return isComplete ? own.slice(keep - 1).map(({ name }) => name) : []
}

type Described = { name: string; head: Head | undefined }

/** Separates the backups of this copy, newest first. Those of 1.0 name no copy, and belong to the one that was never restored. */
async function separate(
  target: Target,
  { writer, restored }: Copy,
): Promise<{ own: Described[]; others: Described[] }> {
  const { backups, indexes } = await listTarget(target)
  const [own, others]: [Described[], Described[]] = [[], []]
  for (const { name } of backups) {
    // Without an index, the head of an encrypted backup cannot be read.
    const head = indexes.includes(name) ? await readHeadOf(objectSource(target, indexKey(name))) : undefined
    const isOwn = head?.writer === undefined ? !restored : head.writer === writer
    ;(isOwn ? own : others).push({ name, head })
  }
  return { own, others }
}

/** Deletes all but the newest backups of this copy, and what no remaining backup refers to. */
async function removeOld(target: Target, keep: number, copy: Copy): Promise<void> {
  const { files } = target
  const { own, others } = await separate(target, copy)
  const { backups, packs, indexes } = await listTarget(target)
  const remaining = [...own.slice(0, keep), ...others]
  const kept = new Set(remaining.map(({ name }) => name))
  const used = new Set<string>()
  for (const { head } of remaining) {
    // Nothing can be deleted if the packs of a backup are not known.
    if (head === undefined) return
    for (const { id } of head.since) used.add(id)
  }
  // An archive goes before its files, so that each archive that exists can be restored.
  for (const { name } of backups) if (!kept.has(name)) await files.remove(backupKey(name))
  for (const name of indexes) if (!kept.has(name)) await files.remove(indexKey(name))
  for (const { id, key } of packs) if (!used.has(id)) await files.remove(key)
}
