// A text as a picture for the camera of a phone.
import { encode } from 'uqr'

/** Light modules around the dark ones, without which cameras do not find the picture (ISO/IEC 18004). */
const QUIET_ZONE = 4

export type QrPicture = { side: number; path: string }

/**
 * A QR code as a square of `side` modules and the path that covers the dark ones, row by row, for an SVG in the page:
 * nothing is loaded for it, so that its text is in no address.
 * @throws Error for a text of more than 2331 bytes
 */
export function qrPicture(text: string): QrPicture {
  const { data, size: side } = encode(text, { ecc: 'M', border: QUIET_ZONE })
  const path = data.flatMap((row, y) => darkRuns(row).map(({ x, length }) => `M${x} ${y}h${length}v1h-${length}z`))
  return { side, path: path.join('') }
}

/** Where dark modules follow each other, and how many. */
function darkRuns(row: readonly boolean[]): { x: number; length: number }[] {
  const runs: { x: number; length: number }[] = []
  row.forEach((isDark, x) => {
    const last = runs.at(-1)
    if (!isDark) return
    if (last !== undefined && last.x + last.length === x) last.length += 1
    else runs.push({ x, length: 1 })
  })
  return runs
}
