// Joins compressed pieces to one gzip stream (RFC 1952). The fixed pieces of a cached page are compressed once, and only
// the personal parts for each response.
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib'

/** Bytes, and the same bytes as blocks of deflate that other blocks can follow. */
export type Piece = { bytes: Uint8Array; deflated: Buffer }

const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** The last block, which is empty. */
const LAST_BLOCK = Buffer.from([3, 0])
const OPEN_END = { finishFlush: constants.Z_SYNC_FLUSH }
/** Preparing the memory of a larger window would take longer than compressing a short piece. */
const SHORT = { ...OPEN_END, level: 1, windowBits: 12, memLevel: 5 }

/** Compresses a piece that is sent many times. */
export async function deflatePiece(bytes: Uint8Array): Promise<Piece> {
  return { bytes, deflated: await promisify(deflateRaw)(bytes, OPEN_END) }
}

/** Compresses a short piece that is sent once. */
export function deflateOnce(text: string): Piece {
  const bytes = Buffer.from(text)
  return { bytes, deflated: deflateRawSync(bytes, SHORT) }
}

export function joinGzip(pieces: readonly Piece[]): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(pieces.reduce((sum, { bytes }) => crc32(bytes, sum), 0))
  const length = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
  trailer.writeUInt32LE(length % 2 ** 32, 4)
  return Buffer.concat([HEAD, ...pieces.map(({ deflated }) => deflated), LAST_BLOCK, trailer])
}
