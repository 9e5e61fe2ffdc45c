// Uploads that survive an unreliable connection, by tus 1.0.0: a file is sent in parts, and after a failure the client
// continues where the server stopped.
import type { Transport } from './client.ts'
import { errorOf, retryAfterSeconds } from './errors.ts'
import { asError, backoff, isFinal, messageOf, type RetryOptions, sleep } from './retry.ts'

export type UploadProgress = { sent: number; total: number }

/** Where the client remembers unfinished uploads; `localStorage` is one. */
export type ResumeStore = {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export type UploadOptions = {
  /** Default: the name of the `File` */
  filename?: string
  /** Called after each part that the server has confirmed. */
  onProgress?: (progress: UploadProgress) => void
  signal?: AbortSignal
  /** Remembers the upload, so that another call with the same file continues it. Default: only this call continues it */
  resume?: ResumeStore
  /** Largest part. Parts are smaller while the connection is slow. Default: 16 MiB */
  partBytes?: number
  /** Seconds without progress after which the upload fails. Default: 120 */
  patienceSeconds?: number
}

/** A finished upload: `upload:ID` in `file_parts` names it. */
export type Upload = { id: string }

const PART_BYTES = 16 * 1024 * 1024
const FIRST_PART_BYTES = 1024 * 1024
/** With these, the largest file has fewer parts than the server accepts. */
const SMALLEST_PART_BYTES = 256 * 1024
/** A part that takes longer than this is followed by a smaller one; a faster one by a larger one. */
const PART_SECONDS = 4
const PATIENCE_SECONDS = 120
const DAMAGED_MAX = 4
const TUS = { 'Tus-Resumable': '1.0.0' }

export const nameOf = (file: Blob): string | undefined =>
  'name' in file && typeof file.name === 'string' ? file.name : undefined

/** Uploads a file. @throws DepotError if the server rejects it, and the last error if the connection does not recover. */
export async function uploadFile(transport: Transport, file: Blob, options: UploadOptions = {}): Promise<Upload> {
  const { resume } = options
  const key = resumeKey(transport, file, options)
  let id = resume?.getItem(key) ?? undefined
  if (id !== undefined) {
    const outcome = await sendParts(transport, { id, file, start: undefined }, options)
    if (outcome === 'unknown') id = undefined
  }
  if (id === undefined) {
    id = await createUpload(transport, file, options)
    resume?.setItem(key, id)
    const outcome = await sendParts(transport, { id, file, start: 0 }, options)
    if (outcome === 'unknown') throw new Error('The server has deleted the upload')
  }
  resume?.removeItem(key)
  return { id }
}

/** Names the file and the server; a file that was changed has another size or time. */
function resumeKey({ baseUrl }: Transport, file: Blob, { filename = nameOf(file) }: UploadOptions): string {
  const time = 'lastModified' in file ? file.lastModified : ''
  return `depot-upload ${baseUrl} ${filename ?? ''} ${file.size} ${time}`
}

async function createUpload(transport: Transport, file: Blob, options: UploadOptions): Promise<string> {
  const filename = options.filename ?? nameOf(file) ?? 'file'
  const headers = {
    ...TUS,
    'Upload-Length': String(file.size),
    'Upload-Metadata': `filename ${toBase64(new TextEncoder().encode(filename))}`,
  }
  const patience = makePatience(transport.retry, options)
  for (;;) {
    // If the response is lost, the upload stays empty and expires, so creating another one is safe.
    const init = { method: 'POST', headers, ...withSignal(options) }
    const outcome = await transport.send(`${transport.baseUrl}/v3/upload`, init).catch(asError)
    if (outcome instanceof Error || outcome.status !== 201) {
      await patience.wait(outcome)
      continue
    }
    const id = outcome.headers.get('location')?.split('/').at(-1)
    if (id === undefined || id === '') throw new Error('The server has not named the upload')
    return id
  }
}

/** Sends the parts from `start`, or from the server's offset. Returns `unknown` if the server does not know the upload. */
async function sendParts(
  transport: Transport,
  { id, file, start }: { id: string; file: Blob; start: number | undefined },
  options: UploadOptions,
): Promise<'finished' | 'unknown'> {
  const { onProgress } = options
  let { partBytes = PART_BYTES } = options
  const url = `${transport.baseUrl}/v3/upload/${id}`
  const patience = makePatience(transport.retry, options)
  let size = Math.min(partBytes, FIRST_PART_BYTES)
  let offset = start
  for (;;) {
    if (offset === undefined) {
      // Unlike HEAD, it says what is wrong.
      const state = await transport.send(url, { method: 'GET', headers: TUS, ...withSignal(options) }).catch(asError)
      if (isUnknown(state)) return 'unknown'
      if (state instanceof Error || !state.ok) {
        await patience.wait(state)
        continue
      }
      offset = offsetOf(state)
      await state.body?.cancel()
      patience.reach(offset)
    }
    onProgress?.({ sent: offset, total: file.size })
    if (offset >= file.size) return 'finished'
    const began = Date.now()
    const outcome = await sendPart(transport, url, file, { offset, size, options }).catch(asError)
    if (isUnknown(outcome)) return 'unknown'
    if (isTooLarge(outcome) && size > SMALLEST_PART_BYTES) {
      // The limit of a proxy.
      size = partBytes = Math.floor(size / 2)
      continue
    }
    if (outcome instanceof Error || outcome.status !== 204) {
      size = Math.max(size / 4, Math.min(partBytes, SMALLEST_PART_BYTES))
      offset = undefined
      await patience.wait(outcome)
      continue
    }
    offset = offsetOf(outcome)
    patience.reach(offset)
    const seconds = (Date.now() - began) / 1000
    if (seconds < PART_SECONDS / 2) size = Math.min(size * 2, partBytes)
    else if (seconds > PART_SECONDS) size = Math.max(size / 2, Math.min(partBytes, SMALLEST_PART_BYTES))
  }
}

const isUnknown = (outcome: Response | Error): boolean =>
  !(outcome instanceof Error) && (outcome.status === 404 || outcome.status === 410)

const isTooLarge = (outcome: Response | Error): boolean => !(outcome instanceof Error) && outcome.status === 413

/** @throws Error if the response is not from a tus server, but for example from a proxy. */
function offsetOf(response: Response): number {
  const value = response.headers.get('upload-offset')
  if (value === null || !/^\d+$/.test(value)) throw new Error('The server has not stated the offset of the upload')
  return Number(value)
}

async function sendPart(
  transport: Transport,
  url: string,
  file: Blob,
  { offset, size, options }: { offset: number; size: number; options: UploadOptions },
): Promise<Response> {
  const body = await file.slice(offset, offset + Math.ceil(size)).arrayBuffer()
  const headers: Record<string, string> = {
    ...TUS,
    'Upload-Offset': String(offset),
    'Content-Type': 'application/offset+octet-stream',
  }
  // Browsers have no digests on pages without TLS.
  const subtle = globalThis.crypto?.subtle
  if (subtle !== undefined) {
    headers['Upload-Checksum'] = `sha256 ${toBase64(new Uint8Array(await subtle.digest('SHA-256', body)))}`
  }
  return transport.send(url, { method: 'PATCH', headers, body, ...withSignal(options) })
}

/** Deletes an upload that no version will use. Otherwise it expires. */
export async function deleteUpload({ baseUrl, send }: Transport, { id }: Upload): Promise<void> {
  const response = await send(`${baseUrl}/v3/upload/${id}`, { method: 'DELETE', headers: TUS })
  if (!response.ok && response.status !== 404) throw await errorOf(response)
}

type Patience = {
  /** Reports an offset that the server has confirmed. */
  reach(offset: number): void
  /** Waits until the next attempt. @throws the failure, if another attempt is useless or there was no progress for too long. */
  wait(failure: Response | Error): Promise<void>
}

function makePatience(
  { maxPauseSeconds = 60, onRetry }: RetryOptions,
  { signal, patienceSeconds = PATIENCE_SECONDS }: UploadOptions,
): Patience {
  let last = { offset: 0, time: Date.now() }
  let failures = 0
  let damaged = 0
  return {
    reach(offset) {
      if (offset <= last.offset) return
      last = { offset, time: Date.now() }
      failures = 0
      damaged = 0
    },
    async wait(failure) {
      if (!(failure instanceof Error) && failure.status === 460) damaged += 1
      failures += 1
      const seconds = pauseAfter(failure, failures)
      const isTooLate = Date.now() + seconds * 1000 - last.time > patienceSeconds * 1000
      const isUseless = signal?.aborted === true || !isPassing(failure) || damaged >= DAMAGED_MAX
      if (isUseless || seconds > maxPauseSeconds || isTooLate) {
        throw failure instanceof Error ? failure : await errorOf(failure)
      }
      if (!(failure instanceof Error)) await failure.body?.cancel()
      // A server that still reads a cut request is not worth a message.
      if (failure instanceof Error || failure.status !== 409) {
        onRetry?.({
          attempt: failures,
          seconds,
          reason: failure instanceof Error ? messageOf(failure) : `HTTP ${failure.status}`,
        })
      }
      await sleep(seconds * 1000, signal)
    },
  }
}

/** 409: another request writes. 460: the part was damaged on its way. */
const isPassing = (failure: Response | Error): boolean =>
  failure instanceof Error ? !isFinal(failure) : [409, 429, 460].includes(failure.status) || failure.status >= 500

const pauseAfter = (failure: Response | Error, failures: number): number =>
  (failure instanceof Error ? undefined : retryAfterSeconds(failure)) ?? Math.min(backoff(failures), 5)

const withSignal = ({ signal }: UploadOptions): RequestInit => (signal === undefined ? {} : { signal })

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
