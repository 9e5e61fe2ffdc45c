// Converts and serialises long lists in pieces, so that a long list does not block other requests.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Number of rows per piece. A few hundred small objects take about a millisecond. */
const PIECE_ROWS = 250

/** Serialises the views of the rows as a JSON array. Other work of the process runs between the pieces. */
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

/** Maximum time before other requests get a turn. */
const TURN_MS = 5
/** Number of values between clock readings, because most values take less time than reading the clock. */
const VALUES_PER_READING = 16

/** Returns `convert` of each value. Other work of the process runs in between. */
export async function convertInPieces<V, D>(values: readonly V[], convert: (value: V) => D): Promise<D[]> {
  const converted: D[] = []
  let startedAt = performance.now()
  for (const value of values) {
    converted.push(convert(value))
    if (converted.length % VALUES_PER_READING > 0 || performance.now() - startedAt < TURN_MS) continue
    await nextTurn()
    startedAt = performance.now()
  }
  return converted
}
