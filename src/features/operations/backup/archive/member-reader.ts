// Reads the members of a tar file in order from a stream. A small member is a slice of the current chunk, without a copy.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { damaged, truncated, unreadable } from './archive-format.ts'
import { BLOCK, paddingOf, readPaxName, readTarHeader } from './tar-blocks.ts'

export type Member = {
  name: string
  size: number
  /** Returns the whole content. Call either this or `stream`, once. @throws ArchiveError */
  bytes(): Promise<Buffer>
  /** Returns the content as a stream, which must be consumed or destroyed before the next member is requested. */
  stream(): Readable
  /** Reads the rest of the member and returns the SHA-256 of the whole content, in hex. */
  sha256(): Promise<string>
}

/** Maximum size of a name record. Real names have some hundred bytes. */
const PAX_BYTES_MAX = 64 * 1024
const PIECE_BYTES = 256 * 1024

/** Creates a reader. @throws ArchiveError from `next` if the source fails, is truncated or is not a tar file. */
export function createMemberReader(source: Readable): { next(): Promise<Member | undefined> } {
  const cursor = createCursor(source)
  let current: Member | undefined
  let padding = 0

  /** Returns the name and the size of the next file, or undefined at the end of the source. */
  async function nextHeader(): Promise<{ name: string; size: number } | undefined> {
    let name: string | undefined
    for (;;) {
      const block = await cursor.take(BLOCK)
      if (block.length === 0) return undefined
      if (block.length < BLOCK) throw truncated()
      const header = orDamaged(() => readTarHeader(block))
      if (header === undefined) continue
      if (header.kind === 'file') return { name: name ?? header.name, size: header.size }
      if (header.kind === 'other' || header.size > PAX_BYTES_MAX) throw damaged(`${header.name} is not a regular file`)
      const records = await cursor.take(header.size)
      if (records.length < header.size) throw truncated()
      name = orDamaged(() => readPaxName(records))
      await skip(paddingOf(header.size))
    }
  }

  async function skip(count: number): Promise<void> {
    if ((await cursor.take(count)).length < count) throw truncated()
  }

  function memberOf({ name, size }: { name: string; size: number }): Member {
    let left = size
    let digest: string | undefined
    const running = createHash('sha256')

    async function* pieces(): AsyncGenerator<Buffer> {
      while (left > 0) yield await take(Math.min(left, PIECE_BYTES))
    }

    async function take(count: number): Promise<Buffer> {
      const bytes = await cursor.take(count)
      if (bytes.length < count) throw truncated()
      left -= count
      running.update(bytes)
      return bytes
    }

    return {
      name,
      size,
      bytes: () => take(size),
      stream: () => Readable.from(pieces(), { objectMode: false }),
      async sha256() {
        for await (const _ of pieces());
        digest ??= running.digest('hex')
        return digest
      },
    }
  }

  return {
    async next() {
      try {
        await current?.sha256()
        await skip(padding)
        const header = await nextHeader()
        current = header === undefined ? undefined : memberOf(header)
        padding = paddingOf(header?.size ?? 0)
        return current
      } catch (cause) {
        throw unreadable(cause)
      }
    },
  }
}

function orDamaged<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw damaged((cause as Error).message, cause)
  }
}

/** Reads exact numbers of bytes from a stream. */
function createCursor(source: Readable): { take(count: number): Promise<Buffer> } {
  const chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let chunk: Buffer = Buffer.alloc(0)
  let at = 0

  return {
    /** Returns `count` bytes, or fewer at the end of the source. */
    async take(count) {
      if (chunk.length - at >= count) {
        at += count
        return chunk.subarray(at - count, at)
      }
      const parts: Buffer[] = []
      for (let wanted = count; wanted > 0; ) {
        if (at === chunk.length) {
          const { value, done } = await chunks.next()
          if (done === true) break
          chunk = value
          at = 0
        }
        const part = chunk.subarray(at, at + wanted)
        parts.push(part)
        at += part.length
        wanted -= part.length
      }
      return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
    },
  }
}
