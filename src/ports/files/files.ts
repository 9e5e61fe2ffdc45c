// The files port: where the bytes of published files and pictures live. An upload is first staged on the local disk,
// because archives need random access to be checked, and then published under a key. Adapters: `disk/`, `s3/`.
import type { Readable } from 'node:stream'
import { ApiError } from '#lib/errors.ts'

/** An upload on the local disk, complete and hashed, not yet visible to anybody. */
export type StagedFile = {
  /** Local path, for random access by archive checks and picture work; valid until `publish` or `discard`. */
  readonly path: string
  readonly sizeBytes: number
  /** Lower-case hex. */
  readonly sha1: string
  /** Lower-case hex. */
  readonly sha512: string
}

export type StageOptions = {
  /** The largest size accepted; one byte more is refused. */
  maxBytes: number
  /** The request part or field that an error names. */
  field?: string
  /** Ends the staging early; the promise then rejects with the signal's reason. */
  signal?: AbortSignal
}

export type StoreOptions = { contentType: string }

/** Bytes in memory and the key they are to have. */
export type StoredBytes = StoreOptions & { key: string; bytes: Uint8Array }

/** What the answer at a file's own address says of it. */
export type LinkOptions = StoreOptions & { contentDisposition: string }

/** Byte positions as in an HTTP range: both ends are included; an `end` past the last byte means the last byte. */
export type ByteRange = { start?: number; end?: number }

export type OpenedFile = {
  /** The bytes asked for. Whoever opens a file consumes this stream or destroys it: it holds a file open. */
  readonly stream: Readable
  /** The size of the whole file, whatever the range. */
  readonly sizeBytes: number
}

/**
 * Where files live. Every failure of the store itself (full, not permitted) is an ApiError `file_hosting_error` with the
 * cause, and `files_unavailable` when it does not answer for now; neither leaves anything behind that no claim names. Keys are made by this service, never taken from a
 * request: see `assertFileKey`. No key may be the folder of another (`a` and `a/b`).
 */
export interface Files {
  /**
   * Streams `source` to the local disk while both digests are computed; memory stays flat. The source is destroyed
   * when the staging fails.
   * @throws ApiError `invalid_input` naming the limit when the source is larger than `maxBytes`; the source's own
   * error, or the signal's reason, when the source breaks. In each case nothing stays on disk.
   */
  stage(source: Readable, options: StageOptions): Promise<StagedFile>
  /**
   * Makes a staged file durable under `key`, replacing what is there; a reader sees the old bytes or the new ones.
   * The staged file is used up. After a failure it is still there, to be discarded.
   */
  publish(staged: StagedFile, key: string, options: StoreOptions): Promise<void>
  /** Stores bytes that are in memory already (pictures), with the promises of `publish`. */
  put(key: string, bytes: Uint8Array, options: StoreOptions): Promise<void>
  /**
   * Stores many small files that nobody reads yet, for commands: the disk may hold the event loop for as long as it takes.
   * They are durable once `flush` resolves; after a failure some may be there, the last of them in part.
   */
  putAll(items: readonly StoredBytes[]): Promise<void>
  /** Makes everything durable that `putAll` has stored. */
  flush(): Promise<void>
  /**
   * Opens a file or a part of it; undefined when the key is absent.
   * @throws ApiError `range_not_satisfiable` when the range starts at or after the end of the file.
   */
  open(key: string, range?: ByteRange): Promise<OpenedFile | undefined>
  /**
   * Reads many small files, for commands as `putAll` is: in the order of `keys`, undefined where one is absent, `larger`
   * where it has more than `maxBytes`.
   */
  readAll(keys: readonly string[], options: { maxBytes: number }): Promise<(Buffer | 'larger' | undefined)[]>
  /**
   * An address at which the store itself gives the file to anybody who has it, for some minutes; undefined when this
   * store has none. Whether the file is there is not looked up.
   */
  link(key: string, options: LinkOptions): Promise<string | undefined>
  /** The size of a file; undefined when the key is absent. */
  stat(key: string): Promise<{ sizeBytes: number } | undefined>
  /** Every key with its size, in no order; files that come and go meanwhile may be in it or not. */
  list(): AsyncIterable<{ key: string; sizeBytes: number }>
  /** Removes a file; removing what is absent is not an error. */
  remove(key: string): Promise<void>
  /** Removes a staged file; harmless after `publish` and when called twice. */
  discard(staged: StagedFile): Promise<void>
  /** Removes staged files untouched for `olderThanMs` before `nowMs` (a killed process leaves them); returns how many. */
  sweep(options: { olderThanMs: number; nowMs: number }): Promise<number>
  /**
   * Asked before the bytes of an upload are taken; costs nothing while the store is in use and answers.
   * @throws ApiError `files_unavailable` when it does not answer.
   */
  assertAvailable(): Promise<void>
  /** Resolves when the store takes writes and has room; otherwise rejects with `file_hosting_error` or `files_unavailable`. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The failure of a store, as the client sees it; the cause is for the log. */
export function hostingError(cause: unknown): ApiError {
  return new ApiError('file_hosting_error', 'The file store could not do this; nothing was stored', { cause })
}

/** The answer while a store is away: come back after so many seconds. */
export function filesUnavailable(cause: unknown, retryAfterSeconds: number): ApiError {
  return new ApiError('files_unavailable', 'The file store does not answer at the moment; please try again', {
    cause,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

const KEY_LENGTH_MAX = 512
const KEY_SEGMENT = /^(?!\.)[A-Za-z0-9._-]{1,255}$/

/**
 * A key is 1 to 512 characters: segments of letters, digits, dot, underscore and hyphen, joined by `/`; a segment does
 * not begin with a dot, so that no key climbs out of the store or meets a hidden file.
 * @throws Error (an error of the caller, not of a client).
 */
export function assertFileKey(key: string): void {
  if (key.length > KEY_LENGTH_MAX || !key.split('/').every((segment) => KEY_SEGMENT.test(segment))) {
    throw new Error(`Not a file key: ${JSON.stringify(key.slice(0, KEY_LENGTH_MAX))}`)
  }
}

/** A byte count in words a person can compare: `500 MiB`, `256 KiB`, `10 bytes`. */
export function describeBytes(bytes: number): string {
  for (const [unit, size] of [
    ['MiB', 1024 * 1024],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`
  }
  return `${bytes} bytes`
}
