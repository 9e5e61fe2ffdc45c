// Reads a page's form with files: text fields into memory, and files into the file store, in any order.
import { addAbortSignal, Readable } from 'node:stream'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { withoutMark } from '#lib/text/byte-order-mark.ts'
import { type FilePart, type FilePartHead, type MultipartRequest, readParts, type Staging } from './multipart.ts'

const FIELD_BYTES_MAX = 256 * 1024
const FIELDS_BYTES_MAX = 1024 * 1024
const FIELDS_MAX = 20_000
const BODY_BYTES_MAX = 4 * 1024 * 1024 * 1024

export type FormFields = Record<string, string | string[]>

export type PageFormOptions<Staged> = {
  files: Staging<Staged>
  maxFileBytes: number
  maxParts: number
  /** Called with the fields before the first file, and at the end if there is no file. The object receives later fields too. */
  onFields: (fields: FormFields) => void | Promise<void>
  /** Throws an ApiError to refuse a file. The other parts of the form are read nevertheless. */
  check: (part: FilePartHead) => void
  /** Called for a file that `check` refuses, with its error, and for a file that is too large, with its size. */
  onRefused: (part: FilePartHead, problem: ApiError | { sizeBytes: number }) => void
}

/**
 * Reads the whole form. Each file part gets a unique name: `files.0`, `files.1`. After an error, discards the staged files.
 * @throws ApiError `invalid_input` for a form that is cut off or exceeds the limits; the errors of `onFields` and the store.
 */
export async function readPageForm<Staged>(
  req: MultipartRequest,
  options: PageFormOptions<Staged>,
): Promise<{ parts: FilePart<Staged>[] }> {
  const fields: FormFields = {}
  const parts: FilePart<Staged>[] = []
  const counted = { fields: 0, bytes: 0, files: 0 }
  let isAnnounced = false
  const announce = async (): Promise<void> => {
    if (isAnnounced) return
    isAnnounced = true
    await options.onFields(fields)
  }
  const takeFile = async (head: FilePartHead, stream: Readable, signal: AbortSignal): Promise<void> => {
    const problem = parts.length >= options.maxParts ? tooMany(options.maxParts) : problemOf(() => options.check(head))
    if (problem !== undefined) {
      options.onRefused(head, problem)
      return drain(stream)
    }
    const source = limited(stream, options.maxFileBytes)
    const staged = await options.files.stage(source.stream, {
      maxBytes: options.maxFileBytes,
      field: head.name,
      signal,
    })
    parts.push({ ...head, staged })
    const sizeBytes = source.sizeBytes()
    if (sizeBytes <= options.maxFileBytes) return
    parts.pop()
    await options.files.discard(staged)
    options.onRefused(head, { sizeBytes })
  }
  try {
    await readParts(req, { files: options.files, maxBodyBytes: BODY_BYTES_MAX }, async (part, signal) => {
      const { name = '', filename, mimeType } = part
      const stream = addAbortSignal(signal, part.stream as Readable)
      if (filename === undefined) return addField(fields, name, await readText(stream, counted))
      await announce()
      // Browsers send a part without a name for an empty file field.
      if (filename === '') return drain(stream)
      counted.files += 1
      await takeFile({ name: `files.${counted.files}`, filename, mimeType }, stream, signal)
    })
    await announce()
    return { parts }
  } catch (error) {
    await Promise.allSettled(parts.map(({ staged }) => options.files.discard(staged)))
    throw error
  }
}

function tooMany(max: number): ApiError {
  return invalidInput(`A form can contain at most ${max} files`)
}

function problemOf(check: () => void): ApiError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Keys of JavaScript objects are never fields. */
function addField(fields: FormFields, name: string, value: string): void {
  if (name === '' || name === '__proto__') return
  const before = Object.hasOwn(fields, name) ? fields[name] : undefined
  fields[name] = before === undefined ? value : [before, value].flat()
}

/** Reads a field. @throws ApiError `invalid_input` if this field or all fields together are too large. */
async function readText(stream: Readable, counted: { fields: number; bytes: number }): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  counted.fields += 1
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    counted.bytes += chunk.length
    if (sizeBytes > FIELD_BYTES_MAX || counted.bytes > FIELDS_BYTES_MAX) throw invalidInput('The form is too large')
    chunks.push(chunk)
  }
  if (counted.fields > FIELDS_MAX) throw invalidInput('The form has too many fields')
  return withoutMark(Buffer.concat(chunks).toString('utf8'))
}

async function drain(stream: Readable): Promise<void> {
  for await (const _ of stream) void _
}

/**
 * Passes on at most `maxBytes` and reads the rest without storing it, so that the parts after the file are read. `sizeBytes`
 * returns the size so far.
 */
function limited(source: Readable, maxBytes: number): { stream: Readable; sizeBytes: () => number } {
  let sizeBytes = 0
  async function* pass(): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      if (sizeBytes <= maxBytes) yield chunk
    }
  }
  return { stream: Readable.from(pass()), sizeBytes: () => sizeBytes }
}
