// Encodes messages for a stream: a length in 4 bytes, then a list of messages. The format of `node:v8` keeps dates, maps and
// buffers intact.
import { deserialize, serialize } from 'node:v8'

/** Maximum size of a frame in bytes, in both directions. */
export const FRAME_BYTES_MAX = 64 * 1024 * 1024
const LENGTH_BYTES = 4

/** @throws RangeError if the frame would exceed FRAME_BYTES_MAX; DataCloneError if a value cannot be serialized. */
export function encodeFrame(messages: readonly unknown[]): Buffer {
  const body = serialize(messages)
  if (body.length > FRAME_BYTES_MAX) throw new RangeError(`A message must be at most ${FRAME_BYTES_MAX} bytes`)
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length)
  frame.writeUInt32LE(body.length, 0)
  body.copy(frame, LENGTH_BYTES)
  return frame
}

/**
 * Returns a function that accepts the next chunk of a stream and returns the messages that are complete.
 * @throws RangeError from that function if a frame is too large; Error if the data is not a frame.
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
      if (!Array.isArray(decoded)) throw new Error('A frame must contain a list of messages')
      for (const message of decoded) messages.push(message)
      rest = rest.subarray(needed)
    }
    pieces = rest.length === 0 ? [] : [rest]
    bytes = rest.length
    return messages
  }
}
