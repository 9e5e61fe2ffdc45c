// What a published file may be called: one path component that is safe on every system that may unpack or save it.
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { FileRules } from './rule-data.ts'

export type CheckedFilename = {
  /** The name as sent. */
  readonly filename: string
  /** Lower case, without the dot. */
  readonly extension: string
  readonly contentType: string
  /** Whether a file of this extension is an archive, to be inspected. */
  readonly isArchive: boolean
}

const NAME_BYTES_MAX = 255
const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(\.|$)/i
// Separators, what Windows forbids in a name, control characters, and characters that make a name read as another one.
const UNSAFE = /[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\ufffd]|\p{Cs}/u

/**
 * Checks the name of an uploaded file as the client sent it: one path component, nothing a file system reads
 * specially, 1 to 255 bytes, and an extension of the data file.
 * @throws ApiError `invalid_input` naming the part.
 */
export function checkFilename(rules: Pick<FileRules, 'extensions'>, part: string, filename: string): CheckedFilename {
  const refuse = (reason: string): ApiError => invalidInput(`The file name of part ${part} ${reason}`, part)
  if (filename === '') throw refuse('is empty')
  if (Buffer.byteLength(filename) > NAME_BYTES_MAX) throw refuse(`is longer than ${NAME_BYTES_MAX} bytes`)
  if (UNSAFE.test(filename)) throw refuse('contains a character that is not allowed in a file name')
  if (filename === '.' || filename === '..') throw refuse('is a folder')
  if (/[. ]$/.test(filename)) throw refuse('ends in a dot or a space')
  if (WINDOWS_DEVICE.test(filename)) throw refuse('is the name of a device')
  const dot = filename.lastIndexOf('.')
  const extension = dot === -1 ? '' : filename.slice(dot + 1).toLowerCase()
  const known = Object.hasOwn(rules.extensions, extension) ? rules.extensions[extension] : undefined
  if (known === undefined || dot === 0) {
    throw refuse(`must be a name and one of the extensions ${Object.keys(rules.extensions).join(', ')}`)
  }
  return { filename, extension, contentType: known.content_type, isArchive: known.archive }
}
