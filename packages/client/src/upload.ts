// Uploads that survive an unreliable connection, by tus 1.0.0: a file is sent in parts, and after a failure the client
// continues where the server stopped.
import type { Transport } from './client.ts'
import { errorOf, retryAfterSeconds } from './errors.ts'
import { asError, backoff, messageOf, sleep } from './retry.ts'

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
  /** Size of a part. Default: 16 MiB */
  partBytes?: number
}

/** A finished upload: `upload:ID` in `file_parts` names it. */
export type Upload = { id: string }

const PART_BYTES = 16 * 1024 * 1024
const TUS = { 'Tus-Resumable': '1.0.0' }

export const nameOf = (file: Blob): string | undefined =>
  'name' in file && typeof file.name === 'string' ? file.name : undefined

/** Whether the instance accepts resumable uploads. */
export async function acceptsUploads({ baseUrl, send }: Transport): Promise<boolean> {
  const response = await send(`${baseUrl}/v3/upload`, { method: 'OPTIONS' })
  return response.ok && (response.headers.get('tus-version') ?? '').split(',').includes('1.0.0')
}

/** Uploads a file. @throws DepotError if the server refuses it, and the last error if the connection does not recover. */
export async function uploadFile(transport: Transport, file: Blob, options: UploadOptions = {}): Promise<Upload> {
  const { resume } = options
  const key = resumeKey(transport, file, options)
  let id = resume?.getItem(key) ?? undefined
  if (id !== undefined) {
    const outcome = await sendParts(transport, id, file, options, undefined)
    if (outcome === 'unknown') id = undefined
  }
  if (id === undefined) {
    id = await createUpload(transport, file, options)
    resume?.setItem(key, id)
    const outcome = await sendParts(transport, id, file, options, 0)
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
  // An upload of which the client has not received the ID stays empty and expires, so creating another one is safe.
  const response = await repeat(transport, options.signal, () =>
    transport.send(`${transport.baseUrl}/v3/upload`, { method: 'POST', headers, ...withSignal(options) }),
  )
  if (response.status !== 201) throw await errorOf(response)
  const id = response.headers.get('location')?.split('/').at(-1)
  if (id === undefined || id === '') throw new Error('The server has not named the upload')
  return id
}

/** Sends a request again after failures of the connection or the server. */
async function repeat(
  { retry }: Transport,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await send().catch((error: unknown) => asError(error))
    const isPassing = outcome instanceof Error || outcome.status === 429 || outcome.status >= 500
    if (!isPassing || attempt >= attemptsOf(retry) || signal?.aborted === true) {
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    await pause(retry, outcome, attempt, signal)
  }
}

/** Sends the parts from `start`, or from the server's offset. Returns `unknown` if the server does not know the upload. */
async function sendParts(
  transport: Transport,
  id: string,
  file: Blob,
  options: UploadOptions,
  start: number | undefined,
): Promise<'finished' | 'unknown'> {
  const { onProgress, signal, partBytes = PART_BYTES } = options
  const url = `${transport.baseUrl}/v3/upload/${id}`
  let offset = start ?? (await findOffset(transport, url, options))
  if (offset === undefined) return 'unknown'
  let failures = 0
  for (;;) {
    onProgress?.({ sent: offset, total: file.size })
    if (offset >= file.size) return 'finished'
    const outcome: Response | Error = await sendPart(transport, url, file, offset, partBytes, options).catch(
      (error: unknown) => asError(error),
    )
    if (!(outcome instanceof Error) && outcome.status === 204) {
      offset = Number(outcome.headers.get('upload-offset'))
      failures = 0
      continue
    }
    if (!(outcome instanceof Error) && [404, 410].includes(outcome.status)) return 'unknown'
    if (!canContinue(outcome) || ++failures >= attemptsOf(transport.retry) || signal?.aborted === true) {
      throw outcome instanceof Error ? outcome : await errorOf(outcome)
    }
    await pause(transport.retry, outcome, failures, signal)
    const previous: number = offset
    const confirmed = await findOffset(transport, url, options)
    if (confirmed === undefined) return 'unknown'
    // Bytes that arrived before the failure are progress, too.
    if (confirmed > previous) failures = 0
    offset = confirmed
  }
}

/** Returns the number of bytes that the server has; undefined if it does not know the upload. */
async function findOffset(transport: Transport, url: string, options: UploadOptions): Promise<number | undefined> {
  const init = { method: 'HEAD', headers: TUS, ...withSignal(options) }
  const head = await repeat(transport, options.signal, () => transport.send(url, init))
  if (head.status === 404 || head.status === 410) return undefined
  if (!head.ok) throw await errorOf(head)
  return Number(head.headers.get('upload-offset'))
}

/** 409: another request writes. 460: the part was damaged on its way. */
const canContinue = (outcome: Response | Error): boolean =>
  outcome instanceof Error || [409, 429, 460].includes(outcome.status) || outcome.status >= 500

async function sendPart(
  transport: Transport,
  url: string,
  file: Blob,
  offset: number,
  partBytes: number,
  options: UploadOptions,
): Promise<Response> {
  const body = await file.slice(offset, offset + partBytes).arrayBuffer()
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
  return transport.send(url, { method: 'PATCH', headers, body: new Blob([body]), ...withSignal(options) })
}

/** @throws the error that would be repeated, if the server requests a longer pause than the client accepts. */
async function pause(
  retry: Transport['retry'],
  outcome: Response | Error,
  attempt: number,
  signal?: AbortSignal,
): Promise<void> {
  const after = outcome instanceof Error ? undefined : retryAfterSeconds(outcome)
  const seconds = after ?? backoff(attempt)
  if (seconds > (retry.maxPauseSeconds ?? 60)) throw outcome instanceof Error ? outcome : await errorOf(outcome)
  const reason = outcome instanceof Error ? messageOf(outcome) : `HTTP ${outcome.status}`
  if (!(outcome instanceof Error)) await outcome.body?.cancel()
  retry.onRetry?.({ attempt, seconds, reason })
  await sleep(seconds * 1000, signal)
}

const attemptsOf = ({ attempts = 4 }: Transport['retry']): number => attempts

const withSignal = ({ signal }: UploadOptions): RequestInit => (signal === undefined ? {} : { signal })

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
