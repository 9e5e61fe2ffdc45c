// Reads the members of a tar file in order from a stream.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Entry, extract } from 'tar-stream'
import { damaged, truncated, unreadable } from './archive-format.ts'

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

/** Creates a reader. @throws ArchiveError from `next` if the source fails, is truncated or is not a tar file. */
export function createMemberReader(source: Readable): { next(): Promise<Member | undefined> } {
  const tar = extract()
  const entries = tar[Symbol.asyncIterator]()
  const piped = pipeline(source, tar).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  /** Throws the reason: the stream of a member only says that it was destroyed. @throws ArchiveError */
  const rethrow = async (cause: unknown): Promise<never> => {
    throw archiveError((await piped) ?? cause)
  }
  let current: Member | undefined

  return {
    async next() {
      await current?.sha256()
      const { value, done } = await entries.next().catch(rethrow)
      current = done === true ? undefined : memberOf(value, rethrow)
      return current
    },
  }
}

function memberOf(entry: Entry, rethrow: (cause: unknown) => Promise<never>): Member {
  const { name, size = 0, type } = entry.header
  if (type !== 'file') throw damaged(`${name} is not a regular file`)
  // Not `for await`: if its consumer stops, it would end the source instead of this member.
  const chunks: AsyncIterator<Buffer, undefined> = entry[Symbol.asyncIterator]()
  const running = createHash('sha256')
  let digest: string | undefined

  async function* pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const { value, done } = await chunks.next().catch(rethrow)
      if (done === true) return
      running.update(value)
      yield value
    }
  }

  return {
    name,
    size,
    async bytes() {
      const parts: Buffer[] = []
      for await (const piece of pieces()) parts.push(piece)
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
    },
    stream: () => Readable.from(pieces(), { objectMode: false }),
    async sha256() {
      for await (const _ of pieces());
      digest ??= running.digest('hex')
      return digest
    },
  }
}

/** Returns the error for one of the source or of the library. */
function archiveError(cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : ''
  if (message === 'Unexpected end of data') return truncated()
  if (/^(Invalid|Header exceeds)/.test(message)) return damaged('a header of its tar file is broken', cause)
  return unreadable(cause)
}
