// What a published file may be called: one path component that is safe on every system that may unpack or save it.
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { FileRules } from '#platform/taxonomy/file-rules.ts'

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
// Separators, what Windows forbids in a name, control characters, and characters that make a name read as another one:
// marks of direction, and those that take no room. (Joiners stay: Persian and emoji need them.)
const UNSAFE =
  /[/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffd]|\p{Cs}/u

/** Why a name cannot be one path component on every system; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `is longer than ${NAME_BYTES_MAX} bytes`
  if (UNSAFE.test(name)) return 'contains a character that is not allowed in a file name'
  if (name === '.' || name === '..') return 'is a folder'
  if (/[. ]$/.test(name)) return 'ends in a dot or a space'
  return WINDOWS_DEVICE.test(name) ? 'is the name of a device' : undefined
}

/**
 * Checks the name of an uploaded file as the client sent it: one path component, nothing a file system reads
 * specially, 1 to 255 bytes, and an extension of the data file.
 * @throws ApiError `invalid_input` naming the part.
 */
export function checkFilename(rules: Pick<FileRules, 'extensions'>, part: string, filename: string): CheckedFilename {
  const refuse = (reason: string): ApiError => invalidInput(`The file name of part ${part} ${reason}`, part)
  const problem = nameProblem(filename)
  if (problem !== undefined) throw refuse(problem)
  const dot = filename.lastIndexOf('.')
  const extension = dot === -1 ? '' : filename.slice(dot + 1).toLowerCase()
  const known = Object.hasOwn(rules.extensions, extension) ? rules.extensions[extension] : undefined
  if (known === undefined || dot === 0) {
    throw refuse(`must be a name and one of the extensions ${Object.keys(rules.extensions).join(', ')}`)
  }
  return { filename, extension, contentType: known.content_type, isArchive: known.archive }
}
