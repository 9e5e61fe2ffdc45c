// Reads multipart/form-data requests part by part: first the JSON part `data`, then the files, which are streamed to the
// file store.

import { on } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { addAbortSignal, type Readable } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import { openScope } from '../mounts.ts'
import type { App } from '../server.ts'
import { parseJson } from './json-body.ts'

/** The subset of the files port that this module uses. */
export type Staging<Staged> = {
  /** Throws if the store is unavailable. */
  assertAvailable(): Promise<void>
  stage(source: Readable, options: { maxBytes: number; field?: string; signal?: AbortSignal }): Promise<Staged>
  discard(staged: NoInfer<Staged>): Promise<void>
}

export type FilePartHead = {
  /** Name of the part, unique in its request. */
  readonly name: string
  /** File name from the client, unchecked. It can contain a path. */
  readonly filename: string
  /** Content type from the client, unchecked, in lower case. */
  readonly mimeType: string
}

export type FilePart<Staged> = FilePartHead & { readonly staged: Staged }

export type MultipartOptions<Staged> = {
  files: Staging<Staged>
  /**
   * Returns the size limit of a file part, before its first byte is stored. Throws to reject the part, for example because
   * of an unknown name or an unsafe file name.
   */
  maxBytesOf: (part: FilePartHead) => number
  /** Maximum size of the JSON part. */
  maxDataBytes: number
  /** Maximum number of file parts. */
  maxParts: number
  /** Maximum size of the whole body. */
  maxBodyBytes: number
  /** Whether the part `data` is required. It must be the first part. Default: true. */
  dataRequired?: boolean
  /** Called once with the parsed `data`, before the first file is stored. Throws to reject the request. */
  onData?: (data: unknown) => void | Promise<void>
}

export type MultipartForm<Staged> = {
  /** Parsed JSON of the part `data`; undefined if the part is missing. */
  data: unknown
  /** The file parts in the order of the request. The caller must publish or discard each of them. */
  parts: FilePart<Staged>[]
}

/** Node's IncomingMessage, which is Fastify's `request.raw`. */
export type MultipartRequest = Readable & { headers: IncomingHttpHeaders }

export type RawPart = {
  name: string | undefined
  filename: string | undefined
  mimeType: string
  stream: BusboyFileStream
}

/** Some clients send a form as `multipart/mixed`. */
const FORM = /^multipart\/(form-data|mixed)(\s*;|$)/i
const PART_NAME_LENGTH_MAX = 255
const HEADER_PAIRS_MAX = 20
const HEADER_BYTES_MAX = 16 * 1024

/**
 * Reads the whole form. After an error, discards the staged files and does not read the rest of the body: the server
 * responds, and then discards the rest or closes the connection.
 * @throws ApiError errors of `parseJson` for the part `data`; `invalid_input` with the part for other errors of the form;
 * errors of `maxBytesOf`, `onData` and the store.
 */
export async function readMultipart<Staged>(
  req: MultipartRequest,
  options: MultipartOptions<Staged>,
): Promise<MultipartForm<Staged>> {
  const form: MultipartForm<Staged> = { data: undefined, parts: [] }
  try {
    let position = 0
    await readParts(req, options, async (part, signal) => {
      await takePart(part, position, form, options, signal)
      position += 1
    })
    if (position === 0 && options.dataRequired !== false) throw missingData()
    return form
  } catch (error) {
    await Promise.allSettled(form.parts.map(({ staged }) => options.files.discard(staged)))
    throw error
  }
}

/**
 * Passes each part of the body to `take`, which must consume its stream. After an error, reads no more.
 * @throws ApiError `invalid_input` for a body that is cut off, too large or malformed; the errors of `take` and the store.
 */
export async function readParts(
  req: MultipartRequest,
  { files, maxBodyBytes }: { files: Pick<Staging<unknown>, 'assertAvailable'>; maxBodyBytes: number },
  take: (part: RawPart, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const parser = openParser(req.headers, maxBodyBytes)
  // Before the first byte is read, so that the client does not wait for an upload that cannot be stored.
  await files.assertAvailable()
  const stop = new AbortController()
  const release = connect(req, parser, stop, maxBodyBytes)
  try {
    for await (const part of partsOf(parser, stop.signal)) {
      await take(part, stop.signal)
      stop.signal.throwIfAborted()
    }
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    // The parser receives no more bytes while the caller discards the staged files.
    release()
  }
}

/** Whether the body is a form. */
export function isForm({ headers }: { headers: IncomingHttpHeaders }): boolean {
  return FORM.test(headers['content-type'] ?? '')
}

/** Leaves forms in this scope unread, for the handler. Some clients send a form as `multipart/mixed`. */
export function leaveFormsUnparsed(scope: App): void {
  scope.addContentTypeParser(FORM, (_req, _payload, done) => done(null, undefined))
}

/** Opens a scope whose handlers read forms part by part. The JSON parser stays active for descriptions without files. */
export function openFormScope(app: App, add: (scope: App) => void): void {
  openScope(app, (scope) => {
    leaveFormsUnparsed(scope)
    add(scope)
  })
}

function openParser(headers: IncomingHttpHeaders, maxBodyBytes: number): BusboyInstance {
  const contentType = headers['content-type'] ?? ''
  if (!FORM.test(contentType)) throw invalidInput('The content type must be multipart/form-data', 'Content-Type')
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw bodyTooLarge(maxBodyBytes)
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType.replace(/^multipart\/mixed/i, 'multipart/form-data') },
      preservePath: true,
      // Provides parts without a file name as streams too: clients can send `data` with or without one, and the parser
      // buffers no parts in memory.
      isPartAFile: () => true,
      limits: { headerPairs: HEADER_PAIRS_MAX, headerSize: HEADER_BYTES_MAX },
    })
  } catch (cause) {
    throw new ApiError('invalid_input', 'The multipart content type has no valid boundary', { cause })
  }
}

/** Pipes the body into the parser and aborts `stop` if either fails. Returns a function that disconnects them. */
function connect(
  req: MultipartRequest,
  parser: BusboyInstance,
  stop: AbortController,
  maxBodyBytes: number,
): () => void {
  let bodyBytes = 0
  const onChunk = (chunk: Buffer) => {
    bodyBytes += chunk.length
    if (bodyBytes > maxBodyBytes) stop.abort(bodyTooLarge(maxBodyBytes))
  }
  const onClose = () => {
    if (!req.readableEnded) stop.abort(invalidInput('The connection closed before the body was complete'))
  }
  const onParserError = (cause: unknown) => {
    stop.abort(new ApiError('invalid_input', 'The multipart body is truncated or its boundary is wrong', { cause }))
  }
  req.on('data', onChunk)
  req.on('error', onClose)
  req.on('close', onClose)
  parser.on('error', onParserError)
  req.pipe(parser)
  return () => {
    req.off('data', onChunk)
    req.off('error', onClose)
    req.off('close', onClose)
    req.unpipe(parser)
  }
}

/** Yields the parts as they arrive. The parser waits while a part is read. Throws if `signal` is aborted. */
async function* partsOf(parser: BusboyInstance, signal: AbortSignal): AsyncGenerator<RawPart> {
  // An invalid body also emits the error on the stream of the part, possibly before another listener exists.
  parser.on('file', (_name: string, stream: BusboyFileStream) => stream.on('error', () => undefined))
  for await (const [name, stream, filename, , mimeType] of on(parser, 'file', { close: ['finish'], signal }))
    yield { name, stream, filename, mimeType }
  signal.throwIfAborted()
}

async function takePart<Staged>(
  part: RawPart,
  position: number,
  form: MultipartForm<Staged>,
  options: MultipartOptions<Staged>,
  signal: AbortSignal,
): Promise<void> {
  if (part.name === 'data') {
    if (form.data !== undefined) throw invalidInput('The request has more than one part data', 'data')
    if (position > 0) throw invalidInput('The part data must come before all files', 'data')
    form.data = await readJson(part.stream, options.maxDataBytes, signal)
    await options.onData?.(form.data)
    return
  }
  if (position === 0 && options.dataRequired !== false) throw missingData()
  const head = checkHead(part, form.parts)
  if (form.parts.length === options.maxParts)
    throw invalidInput(`The request has more than ${options.maxParts} file parts`, head.name)
  const maxBytes = options.maxBytesOf(head)
  form.parts.push({ ...head, staged: await options.files.stage(part.stream, { maxBytes, field: head.name, signal }) })
}

function checkHead({ name, filename, mimeType }: RawPart, before: readonly FilePartHead[]): FilePartHead {
  if (name === undefined || name === '') throw invalidInput('A part has no name')
  if (name.length > PART_NAME_LENGTH_MAX)
    throw invalidInput(`The name of a part must be at most ${PART_NAME_LENGTH_MAX} characters`)
  if (filename === undefined || filename === '')
    throw invalidInput(`The part ${name} has no file name; every part but data is a file`, name)
  if (before.some((part) => part.name === name)) throw invalidInput(`The request has more than one part ${name}`, name)
  return { name, filename, mimeType }
}

async function readJson(stream: Readable, maxBytes: number, signal: AbortSignal): Promise<unknown> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  addAbortSignal(signal, stream)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes)
      throw invalidInput(`The part data is larger than the limit of ${describeBytes(maxBytes)}`, 'data')
    chunks.push(chunk)
  }
  signal.throwIfAborted()
  return parseJson(Buffer.concat(chunks), { what: 'part data' })
}

function missingData(): ApiError {
  return invalidInput('The part data is missing; it must come first', 'data')
}

function bodyTooLarge(maxBytes: number): ApiError {
  return invalidInput(`The body is larger than the limit of ${describeBytes(maxBytes)}`)
}
