// Messages as bytes on a stream: the length of the rest in four bytes, then a list of messages in the form of
// `structuredClone`, so that dates, maps and bytes arrive as what they were.
import { deserialize, serialize } from 'node:v8'

/** The largest frame, either way. */
export const FRAME_BYTES_MAX = 64 * 1024 * 1024
const LENGTH_BYTES = 4

/** @throws RangeError for more than FRAME_BYTES_MAX; DataCloneError for what cannot be sent. */
export function encodeFrame(messages: readonly unknown[]): Buffer {
  const body = serialize(messages)
  if (body.length > FRAME_BYTES_MAX) throw new RangeError(`A message may take ${FRAME_BYTES_MAX} bytes`)
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length)
  frame.writeUInt32LE(body.length, 0)
  body.copy(frame, LENGTH_BYTES)
  return frame
}

/**
 * Returns a function that takes the pieces of a stream as they come and gives the messages that are whole.
 * @throws RangeError from that function when a frame says that it is too large, Error when it is not one.
 */
export function createFrameReader(): (piece: Buffer) => unknown[] {
  let pieces: Buffer[] = []
  let bytes = 0
  let needed = LENGTH_BYTES

  return (piece) => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes < needed) return []
    let rest = pieces.length === 1 ? piece : Buffer.concat(pieces, bytes)
    const messages: unknown[] = []
    for (;;) {
      needed = LENGTH_BYTES
      if (rest.length < needed) break
      const length = rest.readUInt32LE(0)
      if (length > FRAME_BYTES_MAX) throw new RangeError(`A message of ${length} bytes is too large`)
      needed += length
      if (rest.length < needed) break
      const decoded: unknown = deserialize(rest.subarray(LENGTH_BYTES, needed))
      if (!Array.isArray(decoded)) throw new Error('A frame holds a list of messages')
      for (const message of decoded) messages.push(message)
      rest = rest.subarray(needed)
    }
    pieces = rest.length === 0 ? [] : [rest]
    bytes = rest.length
    return messages
  }
}
