// Long JSON lists, written a piece at a time, so that whoever asks for a long one does not keep the others waiting.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A few hundred small objects take about a millisecond. */
const PIECE_ROWS = 250

/** The JSON array of what `toView` makes of each row, as bytes; other work of the process runs between its pieces. */
export async function writeJsonArray<Row>(rows: readonly Row[], toView: (row: Row) => unknown): Promise<Buffer> {
  const pieces: Buffer[] = [Buffer.from('[')]
  for (let from = 0; from < rows.length; from += PIECE_ROWS) {
    if (from > 0) await nextTurn()
    const views = rows.slice(from, from + PIECE_ROWS).map(toView)
    const json = JSON.stringify(views).slice(1, -1)
    pieces.push(Buffer.from(from === 0 ? json : `,${json}`))
  }
  pieces.push(Buffer.from(']'))
  return Buffer.concat(pieces)
}
