// The `Range` header (RFC 9110, 14.2), as far as file servers honour it: one range of bytes.

export type ByteRange = { start: number; end: number }

/**
 * The range asked for, clipped to the file; undefined where the header is to be ignored (absent, another unit, several
 * ranges, malformed); `unsatisfiable` when it lies outside the file.
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  if (header === undefined) return undefined
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(header.trim())
  if (match === null) return undefined
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Number(suffix)
    if (length === 0 || sizeBytes === 0) return 'unsatisfiable'
    return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === undefined || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== undefined && last !== '' && Number(last) < start) return undefined
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}

/**
 * Whether the answer is the whole file, given the range that was asked for and the one that is honoured: only that
 * counts as a download (decisions.md 11).
 */
export function isWholeFile(header: string | undefined, honoured: ByteRange | undefined): boolean {
  return honoured === undefined || /^bytes=0-$/.test(header?.trim() ?? '')
}
