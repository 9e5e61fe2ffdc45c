// Reads the members of a tar file one after the other, as they come from a stream. A member that is small is taken out
// of the bytes that are there already.
import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { cutOff, damaged, unreadable } from './archive-format.ts'
import { BLOCK, paddingOf, readPaxName, readTarHeader } from './tar-blocks.ts'

export type Member = {
  name: string
  size: number
  /** All of its bytes, for a member that fits into memory; this or `stream`, once. @throws ArchiveError */
  bytes(): Promise<Buffer>
  /** Consumed, or destroyed, before the next member is asked for. */
  stream(): Readable
  /** Reads what is left of it and gives the SHA-256 of all of it, in hex. */
  sha256(): Promise<string>
}

/** A name has at most some hundred bytes. */
const PAX_BYTES_MAX = 64 * 1024
const PIECE_BYTES = 256 * 1024

/** @throws ArchiveError for bytes that are no tar file, or one that is cut off; what the source fails with. */
export function createMemberReader(source: Readable): { next(): Promise<Member | undefined> } {
  const cursor = createCursor(source)
  let current: Member | undefined
  let padding = 0

  /** The header of the next file, and its name. Undefined at the end of the source. */
  async function nextHeader(): Promise<{ name: string; size: number } | undefined> {
    let name: string | undefined
    for (;;) {
      const block = await cursor.take(BLOCK)
      if (block.length === 0) return undefined
      if (block.length < BLOCK) throw cutOff()
      const header = orDamaged(() => readTarHeader(block))
      if (header === undefined) continue
      if (header.kind === 'file') return { name: name ?? header.name, size: header.size }
      if (header.kind === 'other' || header.size > PAX_BYTES_MAX) throw damaged(`${header.name} is no file`)
      const records = await cursor.take(header.size)
      if (records.length < header.size) throw cutOff()
      name = orDamaged(() => readPaxName(records))
      await skip(paddingOf(header.size))
    }
  }

  async function skip(count: number): Promise<void> {
    if ((await cursor.take(count)).length < count) throw cutOff()
  }

  function memberOf({ name, size }: { name: string; size: number }): Member {
    let left = size
    let digest: string | undefined
    const running = createHash('sha256')

    async function* pieces(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const piece = await take(Math.min(left, PIECE_BYTES))
        running.update(piece)
        yield piece
      }
    }

    async function take(count: number): Promise<Buffer> {
      const bytes = await cursor.take(count)
      if (bytes.length < count) throw cutOff()
      left -= count
      return bytes
    }

    return {
      name,
      size,
      async bytes() {
        const bytes = await take(size)
        digest = hash('sha256', bytes)
        return bytes
      },
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

/** Gives bytes of a stream as they are asked for. */
function createCursor(source: Readable): { take(count: number): Promise<Buffer> } {
  const chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let chunk: Buffer = Buffer.alloc(0)
  let at = 0

  return {
    /** So many bytes, or fewer at the end of the source. */
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
