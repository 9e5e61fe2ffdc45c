// Encrypts backups for the operator's public keys in the format of age (age-encryption.org), so that the program `age` can
// decrypt them as well.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { PassThrough, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '#lib/operator-error.ts'
import { ArchiveError, USE_ANOTHER } from './archive-format.ts'
import { type ArchiveReader, openArchive } from './archive-reader.ts'

/** First line of an encrypted file. */
const AGE_HEAD = 'age-encryption.org/v1\n'
const CHUNK_BYTES = 128 * 1024

/** Returns a stream whose content is written to `sink` encrypted. @throws OperatorError if a public key is not valid. */
export async function encryptTo(recipients: readonly string[], sink: Writable): Promise<Writable> {
  // The pipeline below throws the error.
  sink.on('error', () => undefined)
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (cause) {
      throw new OperatorError(`BACKUP_RECIPIENT contains ${recipient}, which is not a public key of age`, { cause })
    }
  }
  const plain = new PassThrough({ highWaterMark: CHUNK_BYTES })
  const sealed = await encrypter.encrypt(Readable.toWeb(plain) as ReadableStream<Uint8Array>)
  const encrypted = Readable.fromWeb(sealed as never)
  for (const each of [sink, plain, encrypted]) each.on('error', () => undefined)
  // Standard output must stay open.
  const done = pipeline(encrypted, sink, { end: sink !== process.stdout }).catch((error) => {
    throw sink.errored ?? error
  })
  const stream = new Writable({
    highWaterMark: CHUNK_BYTES,
    write(chunk, _encoding, callback) {
      if (plain.write(chunk)) callback()
      else plain.once('drain', callback)
    },
    final(callback) {
      plain.end()
      done.then(() => callback(), callback)
    },
    destroy(error, callback) {
      if (!plain.writableFinished) plain.destroy(error ?? new Error('The backup was not completed'))
      callback(error)
    },
  })
  // The writer throws the error with its next write.
  stream.on('error', () => undefined)
  done.catch((error) => stream.destroy(error))
  return stream
}

/**
 * Returns the content of a backup, which might be encrypted.
 * @throws ArchiveError if none of the private keys can decrypt it.
 */
export async function decrypted(source: Readable, identities: readonly string[]): Promise<Readable> {
  // Readers of the result throw the error.
  source.on('error', () => undefined)
  const { whole, isEncrypted } = await inspectHead(source)
  if (!isEncrypted) return whole
  if (identities.length === 0) {
    whole.destroy()
    throw new ArchiveError('The backup is encrypted. Name the file with the private key: --identity FILE')
  }
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  try {
    const plain = await decrypter.decrypt(Readable.toWeb(whole) as ReadableStream<Uint8Array>)
    return closing(orArchiveError(Readable.fromWeb(plain as never)), whole)
  } catch (cause) {
    whole.destroy()
    throw cause instanceof Error && /no identity matched/.test(cause.message)
      ? new ArchiveError(
          'The backup is encrypted for another key than that of --identity. Nothing was restored. Check which key it was made for.',
          { cause },
        )
      : new ArchiveError(
          `The backup is damaged: its header cannot be decrypted. Nothing was restored. ${USE_ANOTHER}`,
          { cause },
        )
  }
}

/** A backup that can be read several times. */
export type Source = { name: string; open(): Readable | Promise<Readable> }

export const fileSource = (path: string): Source => ({
  name: path,
  open: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }),
})

/** Opens a backup, which might be encrypted. @throws ArchiveError */
export async function openBackup(source: Source, identities: readonly string[]): Promise<ArchiveReader> {
  return openArchive(await decrypted(await source.open(), identities))
}

export async function isEncrypted(path: string): Promise<boolean> {
  const handle = await open(path, 'r')
  try {
    const head = Buffer.alloc(AGE_HEAD.length)
    await handle.read(head, 0, head.length, 0)
    return head.toString() === AGE_HEAD
  } finally {
    await handle.close()
  }
}

/** Reads the private keys of an identity file of age. @throws OperatorError The message does not quote the file. */
export async function parseIdentities(text: string, path: string): Promise<string[]> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'))
  if (text.startsWith('age-encryption.org/') || text.startsWith('-----BEGIN AGE'))
    throw new OperatorError(`${path} is encrypted itself. Decrypt it first, for example with \`age --decrypt\`.`)
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  try {
    for (const line of lines) decrypter.addIdentity(line.trim())
  } catch {
    throw new OperatorError(`${path} contains a line that is not a private key of age (AGE-SECRET-KEY-1…)`)
  }
  if (lines.length === 0) throw new OperatorError(`${path} contains no private key of age (AGE-SECRET-KEY-1…)`)
  return lines.map((line) => line.trim())
}

async function inspectHead(source: Readable): Promise<{ whole: Readable; isEncrypted: boolean }> {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let size = 0
  let failure: unknown
  try {
    while (size < AGE_HEAD.length) {
      const { value, done } = await chunks.next()
      if (done === true) break
      first.push(value)
      size += value.length
    }
  } catch (error) {
    failure = error
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* first
    if (failure !== undefined) throw failure
    for (;;) {
      const { value, done } = await chunks.next()
      if (done === true) return
      yield value
    }
  }
  const head = Buffer.concat(first).toString('latin1', 0, AGE_HEAD.length)
  return { whole: closing(all(), source), isEncrypted: head === AGE_HEAD }
}

/** Returns a stream of the content that destroys `source` when it closes. */
function closing(content: AsyncIterable<Buffer>, source: Readable): Readable {
  const stream = Readable.from(content, { objectMode: false, highWaterMark: CHUNK_BYTES })
  return stream.once('close', () => source.destroy())
}

async function* orArchiveError(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* plain
  } catch (cause) {
    if (cause instanceof Error && 'syscall' in cause) throw cause
    const reason = 'a part of it cannot be decrypted, because it was cut or changed'
    throw new ArchiveError(`The backup is damaged: ${reason}. Nothing was restored. ${USE_ANOTHER}`, { cause })
  }
}
