// Saves the state of the engine in one file: a header that describes the arrays, the arrays, a checksum.
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { endianness } from 'node:os'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { SavedEngine } from './engine.ts'
import type { Typed } from './storage/memory.ts'

/** Increase it with every change of the saved state. An index of another format is rebuilt from the database. */
const FORMAT = 4
const MAGIC = Buffer.from(`depotidx${endianness()}`)
/** Small, so that searches do not wait while the file is written. */
const CHUNK_BYTES = 1024 * 1024
const MAX_HEADER_BYTES = 64 * 1024 * 1024
const KINDS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array } as const

/**
 * Writes a temporary file and renames it, so that a crash leaves the old file or the new one complete. Calls `onWritten`
 * when the state can change again, before the file is synced.
 */
export async function writeSnapshot(path: string, state: SavedEngine, onWritten: () => void): Promise<void> {
  const arrays: Typed[] = []
  const tree = JSON.stringify({ format: FORMAT, state }, (_key, value: unknown) => {
    const kind = kindOf(value)
    if (kind === undefined) return value
    const array = value as Typed
    arrays.push(array)
    return { array: kind, length: array.length }
  })
  const header = Buffer.from(tree)
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32LE(header.length, 0)
  lengths.writeUInt32LE(crc32(header), 4)
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${randomUUID()}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writev([MAGIC, lengths, header])
      await writeArrays(file, arrays)
      onWritten()
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await using folder = await open(dirname(path))
  await folder.sync()
}

async function writeArrays(file: Awaited<ReturnType<typeof open>>, arrays: readonly Typed[]): Promise<void> {
  let checksum = 0
  for (const array of arrays) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES)
      checksum = crc32(chunk, checksum)
      await file.writeFile(chunk)
    }
  }
  const end = Buffer.alloc(4)
  end.writeUInt32LE(checksum)
  await file.write(end)
}

/** Reads a snapshot; undefined if it does not exist. @throws Error if it has another format, is truncated or damaged. */
export function readSnapshot(path: string): SavedEngine | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const prefix = readBytes(file, new Uint8Array(MAGIC.length + 8))
    if (MAGIC.compare(prefix.subarray(0, MAGIC.length)) !== 0) throw new Error('not a snapshot of this format')
    const lengths = Buffer.from(prefix.subarray(MAGIC.length))
    const length = lengths.readUInt32LE(0)
    if (length > MAX_HEADER_BYTES) throw new Error('damaged header')
    const header = readBytes(file, new Uint8Array(length))
    if (crc32(header) !== lengths.readUInt32LE(4)) throw new Error('damaged header')
    return readState(file, Buffer.from(header.buffer).toString())
  } finally {
    closeSync(file)
  }
}

function readState(file: number, header: string): SavedEngine {
  const { format, state } = JSON.parse(header) as { format: number; state: unknown }
  if (format !== FORMAT) {
    const age = format > FORMAT ? 'a newer' : 'an older'
    throw new Error(`the saved index has format ${format} of ${age} version of Depot, and is built again`)
  }
  let checksum = 0
  // The header lists the arrays in the order of the file.
  const restore = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(restore)
    if ('array' in value && 'length' in value) {
      const array = new KINDS[value.array as keyof typeof KINDS](Number(value.length))
      checksum = crc32(readBytes(file, new Uint8Array(array.buffer)), checksum)
      return array
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]))
  }
  const restored = restore(state) as SavedEngine
  const end = Buffer.from(readBytes(file, new Uint8Array(4)))
  if (end.readUInt32LE() !== checksum) throw new Error('damaged data')
  return restored
}

function readBytes(file: number, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, Math.min(bytes.length - at, 2 ** 30), null)
    if (read === 0) throw new Error('truncated')
    at += read
  }
  return bytes
}

function kindOf(value: unknown): string | undefined {
  return Object.entries(KINDS).find(([, type]) => value instanceof type)?.[0]
}
