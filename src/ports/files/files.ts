// The files port: stores published files and images. An upload is first staged on the local disk, because checks of
// archives need random access, and then published under a key. Adapters: `disk/`, `s3/`.
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { ApiError } from '#lib/errors.ts'

/** A complete and hashed upload on the local disk, not published yet. */
export type StagedFile = {
  /** Local path for archive checks and image processing; valid until `publish` or `discard`. */
  readonly path: string
  readonly sizeBytes: number
  /** Lower-case hex. */
  readonly sha1: string
  /** Lower-case hex. */
  readonly sha512: string
}

/** A file on the local disk that can be published. Without `sha1`, the store does not compare the content. */
export type LocalFile = Pick<StagedFile, 'path' | 'sizeBytes'> & { readonly sha1?: string }

export type ReceiveOptions = {
  /** Maximum size, inclusive. */
  maxBytes: number
  /** Error of a larger body. */
  tooLarge: () => Error
  /** Called for each chunk before it is written. */
  onChunk: (chunk: Buffer) => void
  /** Stops the reception; the received bytes remain. */
  signal: AbortSignal
}

export type StageOptions = {
  /** Maximum size, inclusive. */
  maxBytes: number
  /** Request part or field that an error names. */
  field?: string
  /** Stops the staging; the promise then rejects with the signal's reason. */
  signal?: AbortSignal
}

export type StoreOptions = { contentType: string }

/** Content in memory, and the key to store it under. */
export type StoredBytes = StoreOptions & { key: string; bytes: Uint8Array }

/** Headers of the response at a signed URL. */
export type LinkOptions = StoreOptions & { contentDisposition: string }

/** Byte positions as in an HTTP range: inclusive; an `end` past the last byte means the last byte. */
export type ByteRange = { start?: number; end?: number }

export type OpenedFile = {
  /** The requested bytes. The caller must consume or destroy the stream, because it keeps a file open. */
  readonly stream: Readable
  /** Size of the whole file, also if a range was requested. */
  readonly sizeBytes: number
}

/**
 * A file store. A failure of the store (full, not permitted) is an ApiError `file_hosting_error` with the cause, or
 * `files_unavailable` if the store does not respond; neither leaves content behind without a claim. Depot generates the
 * keys (see `assertFileKey`) and never takes them from a request. A key must not be the folder of another (`a`, `a/b`).
 */
export interface Files extends BulkFiles {
  /**
   * Streams `source` to the local disk and computes both digests, in constant memory. If it fails, it destroys the
   * source and leaves nothing on disk.
   * @throws ApiError `invalid_input` with the limit if the source is larger than `maxBytes`; the error of the source,
   * or the reason of the signal.
   */
  stage(source: Readable, options: StageOptions): Promise<StagedFile>
  /**
   * Streams a part of an upload to the local disk without digests, in constant memory. If the source fails, keeps the
   * received bytes: `cut` is then the error. The caller publishes or discards the part.
   */
  receive(source: Readable, options: ReceiveOptions): Promise<{ part: LocalFile; cut: unknown }>
  /** Present if the store can extend files, so that an upload in parts is not copied. */
  readonly extensible?: ExtensibleFiles
  /**
   * Moves a staged file to `key` durably and atomically, replacing an existing file. After a failure the staged file
   * still exists and must be discarded.
   */
  publish(staged: LocalFile, key: string, options: StoreOptions): Promise<void>
  /** Stores content that is in memory, such as an image, durably and atomically. */
  put(key: string, bytes: Uint8Array, options: StoreOptions): Promise<void>
  /**
   * Opens a file or a range of it; undefined if the file does not exist.
   * @throws ApiError `range_not_satisfiable` if the range starts at or after the end of the file.
   */
  open(key: string, range?: ByteRange): Promise<OpenedFile | undefined>
  /**
   * Returns a URL at which the store itself serves the file for some minutes; undefined if the store has no such URLs.
   * Does not check whether the file exists.
   */
  link(key: string, options: LinkOptions): Promise<string | undefined>
  /** Returns undefined if the file does not exist. */
  stat(key: string): Promise<{ sizeBytes: number } | undefined>
  /** Removes a file; does nothing if it does not exist. */
  remove(key: string): Promise<void>
  /** Removes a staged file; does nothing after `publish` and on a second call. */
  discard(staged: Pick<StagedFile, 'path'>): Promise<void>
  /** Removes staged files of killed processes, unchanged for `olderThanMs` before `nowMs`. Returns their number. */
  sweep(options: { olderThanMs: number; nowMs: number }): Promise<number>
  /**
   * Checks the store before an upload is received. Sends no request if the store responded recently.
   * @throws ApiError `files_unavailable` if the store does not respond.
   */
  assertAvailable(): Promise<void>
  /** @throws ApiError `file_hosting_error` or `files_unavailable` unless the store accepts writes and has free space. */
  check(): Promise<void>
  close(): Promise<void>
}

/** Files of uploads that only one request changes at a time. Bytes beyond the known size have no meaning. */
export interface ExtensibleFiles {
  /**
   * Removes the bytes after the first `at` of a file, and writes the source durably in their place. If the source fails, keeps
   * the received bytes, like `receive`.
   */
  extend(source: Readable, file: { key: string; at: number }, options: ReceiveOptions): Promise<Received>
  /** Shortens a file to its first `at` bytes. Does nothing if the file is not longer. */
  shorten(file: { key: string; at: number }): Promise<void>
  /** Stages the first `sizeBytes` bytes of a file that no request changes any more, without a copy, and computes the digests. */
  stageStored(file: { key: string; sizeBytes: number }): Promise<StagedFile>
}

export type Received = { sizeBytes: number; cut: unknown }

/** Functions that only commands use (backup, move, seed). `concurrentBulk` implements the first four. */
export interface BulkFiles {
  /**
   * Stores many small files that no one reads yet. Can block the event loop. The files are durable when `flush` has
   * resolved; after a failure some are stored, the last of them incompletely.
   */
  putAll(items: readonly StoredBytes[]): Promise<void>
  /**
   * Stores a large file that no one reads yet, and returns its size. The file is durable when `flush` has resolved; after a
   * failure it can be incomplete. Errors of the source are thrown as they are.
   */
  putStream(key: string, source: Readable, options: StoreOptions & Pick<StageOptions, 'maxBytes'>): Promise<number>
  /** Makes all files durable that `putAll` and `putStream` have stored. */
  flush(): Promise<void>
  /** Reads small files in the order of `keys`: undefined if missing, `larger` if larger than `maxBytes`. */
  readAll(keys: readonly string[], options: { maxBytes: number }): Promise<(Buffer | 'larger' | undefined)[]>
  /** Lists every key with its size, unordered. Files that are added or removed during the call can be missing. */
  list(): AsyncIterable<{ key: string; sizeBytes: number }>
}

/** Implements the bulk functions of a remote store by concurrent calls of `put` and `publish`, which are durable, and `open`. */
export function concurrentBulk({
  put,
  open,
  stage,
  publish,
  discard,
}: Pick<Files, 'put' | 'open' | 'stage' | 'publish' | 'discard'>): Omit<BulkFiles, 'list'> {
  return {
    async putStream(key, source, { contentType, maxBytes }) {
      const staged = await stage(source, { maxBytes })
      try {
        await publish(staged, key, { contentType })
        return staged.sizeBytes
      } finally {
        await discard(staged)
      }
    },
    putAll: (items) => forEachConcurrently(items, ({ key, bytes, contentType }) => put(key, bytes, { contentType })),
    flush: async () => {},
    async readAll(keys, { maxBytes }) {
      const contents = new Map<string, Buffer | 'larger'>()
      await forEachConcurrently(keys, async (key) => {
        const opened = await open(key)
        if (opened === undefined) return
        if (opened.sizeBytes > maxBytes) opened.stream.destroy()
        contents.set(key, opened.sizeBytes > maxBytes ? 'larger' : await buffer(opened.stream))
      })
      return keys.map((key) => contents.get(key))
    },
  }
}

/** Returns the error of a failed store for the client; the cause, which names the path, is logged. */
export function hostingError(cause: unknown, path?: string): ApiError {
  // Calls on an open file, such as writes to a full disk, do not name it.
  if (cause instanceof Error && path !== undefined && !cause.message.includes(path)) cause.message += ` '${path}'`
  return new ApiError('file_hosting_error', 'The file store failed; nothing was stored', { cause })
}

/** Returns the error for an unavailable store, with `Retry-After`. */
export function filesUnavailable(cause: unknown, retryAfterSeconds: number): ApiError {
  return new ApiError('files_unavailable', 'The file store does not respond; try again later', {
    cause,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

const KEY_LENGTH_MAX = 512
const KEY_SEGMENT = /^(?!\.)[A-Za-z0-9._-]{1,255}$/

/**
 * Checks that a key has 1 to 512 characters: segments of letters, digits, dots, underscores and hyphens, joined by `/`. No
 * segment begins with a dot, which could leave the store. @throws Error, because a wrong key is an error of Depot
 */
export function assertFileKey(key: string): void {
  if (key.length > KEY_LENGTH_MAX || !key.split('/').every((segment) => KEY_SEGMENT.test(segment)))
    throw new Error(`Not a file key: ${JSON.stringify(key.slice(0, KEY_LENGTH_MAX))}`)
}
