// Draws QR codes.
import { encode } from 'uqr'

/** Width of the light border in modules. Cameras do not find the code without it (ISO/IEC 18004). */
const QUIET_ZONE = 4

export type QrCode = { side: number; path: string }

/**
 * Returns a QR code as a square of `side` modules, and the SVG path of the dark modules. Pages embed the SVG, so that the
 * secret in the text is in no URL.
 * @throws Error for a text of more than 2331 bytes
 */
export function qrCode(text: string): QrCode {
  const { data, size: side } = encode(text, { ecc: 'M', border: QUIET_ZONE })
  const path = data.flatMap((row, y) => darkRuns(row).map(({ x, length }) => `M${x} ${y}h${length}v1h-${length}z`))
  return { side, path: path.join('') }
}

/** Returns the runs of dark modules in a row. */
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
