// Reads multipart/form-data requests part by part: first the JSON part `data`, then the files, each streamed to the
// store as it arrives. Knows nothing of the features that ask.
import { on } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { addAbortSignal, type Readable } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { App } from '../server.ts'
import { parseJson } from './json-body.ts'

/** What of the files port this reader needs. */
export type Staging<Staged> = {
  /** Throws while the store does not answer. */
  assertAvailable(): Promise<void>
  stage(source: Readable, options: { maxBytes: number; field?: string; signal?: AbortSignal }): Promise<Staged>
  discard(staged: Staged): Promise<void>
}

export type FilePartHead = {
  /** The part's name; unique in its request. */
  readonly name: string
  /** As the client sent it: not cut to a base name, not checked. */
  readonly filename: string
  /** As the client claims; lower case. */
  readonly mimeType: string
}

export type FilePart<Staged> = FilePartHead & { readonly staged: Staged }

export type MultipartOptions<Staged> = {
  files: Staging<Staged>
  /**
   * The size limit of one file part, asked before its first byte is stored. Throws to refuse the part: an unknown
   * name, an unsafe file name.
   */
  maxBytesOf: (part: FilePartHead) => number
  /** Limit of the JSON part, in bytes. */
  maxDataBytes: number
  /** How many file parts there may be. */
  maxParts: number
  /** Limit of the whole body, in bytes. */
  maxBodyBytes: number
  /** Whether the part `data` must be there; default true. When it is there it comes first. */
  dataRequired?: boolean
  /** Called once with the parsed `data`, before the first file is stored; throws to refuse the request. */
  onData?: (data: unknown) => void | Promise<void>
}

export type MultipartForm<Staged> = {
  /** The parsed JSON of the part `data`; undefined when the part is absent. */
  data: unknown
  /** In the order sent. Whoever receives them publishes or discards each. */
  parts: FilePart<Staged>[]
}

/** The request, as far as this reader needs it: Node's IncomingMessage, or Fastify's `request.raw`. */
export type MultipartRequest = Readable & { headers: IncomingHttpHeaders }

type RawPart = { name: string | undefined; filename: string | undefined; mimeType: string; stream: BusboyFileStream }

const PART_NAME_LENGTH_MAX = 255
const HEADER_PAIRS_MAX = 20
const HEADER_BYTES_MAX = 16 * 1024

/**
 * Reads the whole form. On any failure what is staged so far is discarded, and the rest of the body is left unread:
 * the server answers, then drains or closes.
 * @throws ApiError what `parseJson` throws for the `data` part; `invalid_input` for every other error of the form,
 * naming the part; and what `maxBytesOf`, `onData` and the store throw.
 */
export async function readMultipart<Staged>(
  req: MultipartRequest,
  options: MultipartOptions<Staged>,
): Promise<MultipartForm<Staged>> {
  const parser = openParser(req.headers, options.maxBodyBytes)
  // Before the first byte is taken: an upload that cannot be kept is not waited for.
  await options.files.assertAvailable()
  const stop = new AbortController()
  const form: MultipartForm<Staged> = { data: undefined, parts: [] }
  const release = connect(req, parser, stop, options.maxBodyBytes)
  try {
    let position = 0
    for await (const part of partsOf(parser, stop.signal)) {
      await takePart(part, position, form, options, stop.signal)
      stop.signal.throwIfAborted()
      position += 1
    }
    if (position === 0 && options.dataRequired !== false) throw missingData()
    return form
  } catch (error) {
    // Before anything else: no byte more is taken in while the cleaning runs.
    release()
    await Promise.allSettled(form.parts.map(({ staged }) => options.files.discard(staged)))
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    release()
  }
}

/** In this scope forms are left unread, for the handler. Some clients call a form `multipart/mixed`. */
export function leaveFormsUnparsed(scope: App): void {
  scope.addContentTypeParser(/^multipart\/(form-data|mixed)(\s*;|$)/i, (_req, _payload, done) => done(null, undefined))
}

function openParser(headers: IncomingHttpHeaders, maxBodyBytes: number): BusboyInstance {
  const contentType = headers['content-type'] ?? ''
  if (!/^multipart\/(form-data|mixed)(\s*;|$)/i.test(contentType)) {
    throw invalidInput('The content type must be multipart/form-data', 'Content-Type')
  }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw bodyTooLarge(maxBodyBytes)
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': contentType.replace(/^multipart\/mixed/i, 'multipart/form-data') },
      preservePath: true,
      // Each part comes as a stream, also one without a file name: then `data` may be sent either way, and nothing
      // is held in memory but what this reader holds.
      isPartAFile: () => true,
      limits: { headerPairs: HEADER_PAIRS_MAX, headerSize: HEADER_BYTES_MAX },
    })
  } catch (cause) {
    throw new ApiError('invalid_input', 'The multipart content type has no usable boundary', { cause })
  }
}

/** Pipes the body into the parser and aborts `stop` when either breaks; returns what undoes it. */
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
    stop.abort(new ApiError('invalid_input', 'The multipart body is cut off or its boundary is wrong', { cause }))
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

/** The parts as they arrive; the parser waits while a part is being read. Throws when `signal` is aborted. */
async function* partsOf(parser: BusboyInstance, signal: AbortSignal): AsyncGenerator<RawPart> {
  // A body that breaks emits the error on the part's stream as well, maybe before anybody listens there.
  parser.on('file', (_name: string, stream: BusboyFileStream) => stream.on('error', () => undefined))
  for await (const [name, stream, filename, , mimeType] of on(parser, 'file', { close: ['finish'], signal })) {
    yield { name, stream, filename, mimeType }
  }
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
    if (form.data !== undefined) throw invalidInput('The part data is there twice', 'data')
    if (position > 0) throw invalidInput('The part data must come before every file', 'data')
    form.data = await readJson(part.stream, options.maxDataBytes, signal)
    await options.onData?.(form.data)
    return
  }
  if (position === 0 && options.dataRequired !== false) throw missingData()
  const head = checkHead(part, form.parts)
  if (form.parts.length === options.maxParts) {
    throw invalidInput(`There are more than ${options.maxParts} file parts`, head.name)
  }
  const maxBytes = options.maxBytesOf(head)
  form.parts.push({ ...head, staged: await options.files.stage(part.stream, { maxBytes, field: head.name, signal }) })
}

function checkHead({ name, filename, mimeType }: RawPart, before: readonly FilePartHead[]): FilePartHead {
  if (name === undefined || name === '') throw invalidInput('A part has no name')
  if (name.length > PART_NAME_LENGTH_MAX) {
    throw invalidInput(`A part's name is longer than ${PART_NAME_LENGTH_MAX} characters`)
  }
  if (filename === undefined || filename === '') {
    throw invalidInput(`The part ${name} has no file name; every part but data is a file`, name)
  }
  if (before.some((part) => part.name === name)) throw invalidInput(`The part ${name} is there twice`, name)
  return { name, filename, mimeType }
}

async function readJson(stream: Readable, maxBytes: number, signal: AbortSignal): Promise<unknown> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  addAbortSignal(signal, stream)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) throw invalidInput(`The part data is larger than the limit of ${maxBytes} bytes`, 'data')
    chunks.push(chunk)
  }
  signal.throwIfAborted()
  return parseJson(Buffer.concat(chunks), { what: 'part data' })
}

function missingData(): ApiError {
  return invalidInput('The part data is missing; it must come first', 'data')
}

function bodyTooLarge(maxBytes: number): ApiError {
  return invalidInput(`The body is larger than the limit of ${maxBytes} bytes`)
}
