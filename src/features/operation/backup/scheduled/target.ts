// The place of scheduled backups, a folder or a bucket: what it contains, and how a backup is stored there as a whole.
// `NAME.tar` is a backup and exists only when it is complete. `NAME.index` has its head and its manifest, not encrypted, for
// later backups. `files-ID-KEY.tar` is a pack of files, to which several backups refer.
import { PassThrough, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Files } from '#ports/files/files.ts'
import type { Source } from '../archive/encryption.ts'
import type { Copy } from '../rows.ts'

type Store = Pick<Files, 'receive' | 'publish' | 'discard' | 'put' | 'open' | 'list' | 'remove' | 'sweep' | 'close'>

export type Target = {
  files: Store
  /** As BACKUP_TARGET names it. */
  address: string
  /** Maximum size of one object. */
  maxBytes: number
}

export type StoredBackup = { name: string; sizeBytes: number }
export type StoredPack = { id: string; key: string; recipients: string; sizeBytes: number }
type Content = { backups: StoredBackup[]; packs: StoredPack[]; indexes: string[] }

const BACKUP_NAME = /^depot-\d{8}T\d{6}(\d{3})?Z-[0-9A-Za-z]{8}$/
const PACK_KEY = /^files-([0-9A-Za-z]{8})-(plain|[0-9a-f]{8})\.tar$/
const OWNER = 'instance.json'
const CHUNK_BYTES = 256 * 1024
const TYPE = { contentType: 'application/octet-stream' }

export const isBackupName = (text: string): boolean => BACKUP_NAME.test(text)
/** Contains milliseconds, because the order of names is that of the backups, which can take less than a second. */
export const backupName = (created: string, id: string): string => `depot-${created.replaceAll(/[-:.]/g, '')}-${id}`
/** Returns when a backup was made, from its name. */
export function timeOfBackup(name: string): Date {
  const [, year, month, day, hour, minute, second, ms = '000'] =
    /^depot-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})?Z/.exec(name) ?? []
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`)
}
export const backupKey = (name: string): string => `${name}.tar`
export const indexKey = (name: string): string => `${name}.index`
export const packKey = (id: string, recipients: string): string => `files-${id}-${recipients}.tar`

/** Returns a target whose errors name it. */
export function createTarget(files: Files, { address, maxBytes }: Omit<Target, 'files'>): Target {
  const named = (error: unknown): unknown => {
    if (!(error instanceof ApiError)) return error
    const { cause } = error
    const reason = cause instanceof Error ? cause.message : error.message
    return new OperatorError(`Cannot use BACKUP_TARGET ${address}: ${reason}`, { cause: cause ?? error })
  }
  const guard =
    <Args extends unknown[], Result>(step: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      step(...args).catch((error: unknown) => Promise.reject(named(error)))
  const store: Store = {
    receive: guard(files.receive),
    publish: guard(files.publish),
    discard: guard(files.discard),
    put: guard(files.put),
    open: guard(files.open),
    remove: guard(files.remove),
    sweep: guard(files.sweep),
    close: files.close,
    async *list() {
      try {
        yield* files.list()
      } catch (error) {
        throw named(error)
      }
    },
  }
  return { files: store, address, maxBytes }
}

/** Lists a target. The newest backup is the first. */
export async function listTarget({ files }: Pick<Target, 'files'>): Promise<Content> {
  const content: Content = { backups: [], packs: [], indexes: [] }
  for await (const { key, sizeBytes } of files.list()) {
    const [, id, recipients] = PACK_KEY.exec(key) ?? []
    const name = key.replace(/\.(tar|index)$/, '')
    if (id !== undefined && recipients !== undefined) content.packs.push({ id, key, recipients, sizeBytes })
    else if (isBackupName(name) && key === backupKey(name)) content.backups.push({ name, sizeBytes })
    else if (isBackupName(name) && key === indexKey(name)) content.indexes.push(name)
  }
  content.backups.sort((one, other) => (one.name < other.name ? 1 : -1))
  return content
}

/** The instance that uses a target, and the copy of it that wrote last. Targets of 1.0 have no writer. */
const Owner = Type.Object({ instance: Type.String(), writer: Type.Optional(Type.String()) })

/**
 * Marks the target as that of this copy of an instance.
 * @throws OperatorError if another instance uses it, or if another copy wrote last and this copy does not take it over. A
 * target of 1.0 belongs to the copy that was never restored.
 */
export async function claimTarget(
  { files, address }: Target,
  { instance, writer, restored }: Copy,
  mayTakeOver: boolean,
): Promise<void> {
  const owner = await readOwner(files)
  if (owner !== undefined && owner.instance !== instance) {
    throw new OperatorError(
      `BACKUP_TARGET ${address} contains the backups of another instance. Choose another folder or prefix for this instance.`,
    )
  }
  if (owner?.writer === writer) return
  const isFree = owner === undefined || (owner.writer === undefined && !restored)
  if (isFree || mayTakeOver) return files.put(OWNER, Buffer.from(`${JSON.stringify({ instance, writer })}\n`), TYPE)
  throw new OperatorError(
    `Another copy of this instance made the last backup at BACKUP_TARGET ${address}. If that copy is not used any more, run \`depot backup --take-over\`; otherwise, choose another folder or prefix for this copy.`,
  )
}

async function readOwner(files: Pick<Store, 'open'>): Promise<Static<typeof Owner> | undefined> {
  const opened = await files.open(OWNER)
  if (opened === undefined) return undefined
  const text = (await buffer(opened.stream)).toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(Owner, value) ? value : { instance: '' }
  } catch {
    return { instance: '' }
  }
}

export type Upload = {
  /** The caller ends it. */
  sink: PassThrough
  /** Waits for the end, and stores everything under a key. Returns the number of bytes. */
  publish(key: string): Promise<number>
  /** Does nothing after `publish`. */
  discard(): Promise<void>
}

/** Starts to receive an object. The object gets its key when it is complete and durable. */
export function openUpload({ files, maxBytes }: Target): Upload {
  const sink = new PassThrough({ highWaterMark: CHUNK_BYTES })
  const received = files.receive(sink, {
    maxBytes,
    tooLarge: () =>
      new OperatorError(
        'The rows and events of the instance are larger than 5 GiB, the maximum of one object in S3. Choose a folder for BACKUP_TARGET.',
      ),
    onChunk: () => undefined,
    signal: new AbortController().signal,
  })
  // Otherwise, the writer would wait for a reader that has failed.
  received.catch((error: Error) => sink.destroy(error))
  let isPublished = false
  return {
    sink,
    async publish(key) {
      const { part, cut } = await received
      if (cut !== undefined) throw cut
      await files.publish(part, key, TYPE)
      isPublished = true
      return part.sizeBytes
    },
    async discard() {
      if (isPublished) return
      sink.destroy()
      const result = await received.catch(() => undefined)
      if (result !== undefined) await files.discard(result.part).catch(() => undefined)
    },
  }
}

/** Returns the backup with this name, or the newest one. @throws OperatorError if the target has no such backup. */
export async function findBackup(target: Target, name: string): Promise<{ source: Source; packs: StoredPack[] }> {
  const { backups, packs } = await listTarget(target)
  const found = name === 'latest' ? backups[0] : backups.find((backup) => backup.name === name)
  if (found === undefined) {
    const what = name === 'latest' ? 'no backup' : `no backup ${name}`
    throw new OperatorError(
      `BACKUP_TARGET ${target.address} contains ${what}. Check the list of \`depot backup list\`.`,
    )
  }
  return { source: objectSource(target, backupKey(found.name)), packs }
}

/** An object of the target, as a source of a restore. */
export const objectSource = ({ files, address }: Pick<Target, 'files' | 'address'>, key: string): Source => ({
  name: `${key} of ${address}`,
  async open(): Promise<Readable> {
    const opened = await files.open(key)
    if (opened === undefined)
      throw new OperatorError(`BACKUP_TARGET ${address} does not contain ${key} any more. Choose another backup.`)
    return opened.stream
  },
})
