// Removes metadata of cameras and editors from an image: location, time, device, names, previews, and data after its end.
// Copies the pixels and colour information unchanged, and rewrites the orientation. Only parts on an allow-list are
// copied. The result is decoded afterwards, which validates it. Removed parts are never decoded, because some hundred
// kilobytes can expand to gigabytes.
import { crc32 } from 'node:zlib'
import type { ImageKind } from './image-kind.ts'

/** The structure of the image is invalid. */
export class BrokenImage extends Error {}

/** Far more parts than any encoder writes. Each part blocks the event loop for a moment. */
const MAX_PARTS = 50_000
/** A progressive image has about ten scans. For each scan, a decoder processes all pixels. */
const MAX_SCANS = 100

/**
 * Returns the image without metadata. An upright image without metadata is unchanged.
 * @throws BrokenImage
 */
export function stripMetadata(bytes: Buffer, kind: Exclude<ImageKind, 'svg'>): Buffer {
  return Buffer.concat(WALKS[kind](bytes))
}

const WALKS = { png: walkPng, jpeg: walkJpeg, gif: walkGif, webp: walkWebp } as const

const EXIF_HEAD = Buffer.from('Exif\0\0')
const ORIENTATION_TAG = 0x0112
const SHORT = 3

/** Returns the EXIF orientation, 1 (upright) to 8, or 1 if it is invalid. */
function orientationIn(exif: Buffer): number {
  const tiff = exif.subarray(0, EXIF_HEAD.length).equals(EXIF_HEAD) ? exif.subarray(EXIF_HEAD.length) : exif
  const order = tiff.toString('latin1', 0, 2)
  if (tiff.length < 10 || (order !== 'II' && order !== 'MM')) return 1
  const short = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (directory + 2 > tiff.length) return 1
  const end = Math.min(tiff.length - 12, directory + 2 + 12 * (short(directory) - 1))
  for (let at = directory + 2; at <= end; at += 12) {
    if (short(at) !== ORIENTATION_TAG || short(at + 2) !== SHORT) continue
    const value = short(at + 8)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** Returns the smallest TIFF structure with an orientation, which all formats can embed. */
function orientationTiff(orientation: number): Buffer {
  const tiff = Buffer.from('49492a0008000000010012010300010000000000000000000000', 'hex')
  tiff.writeUInt16LE(orientation, 18)
  return tiff
}

/** Returns `length` bytes at `at`. @throws BrokenImage if there are fewer bytes */
function take(bytes: Buffer, at: number, length: number): Buffer {
  if (at + length > bytes.length) throw new BrokenImage('truncated')
  return bytes.subarray(at, at + length)
}

/** Chunks that are copied in addition to the critical ones: transparency, colour, density, background, animation. */
const PNG_COPIED = new Set('tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST sPLT pHYs acTL fcTL fdAT'.split(' '))

function walkPng(bytes: Buffer): Buffer[] {
  const parts = [take(bytes, 0, 8)]
  let orientation = 1
  let profiles = 0
  for (let at = 8, count = 0; count < MAX_PARTS; count += 1) {
    const length = take(bytes, at, 8).readUInt32BE(0)
    const chunk = take(bytes, at, length + 12)
    const type = chunk.toString('latin1', 4, 8)
    at += chunk.length
    // Only one: each profile can decompress to 8 MB.
    if (type === 'iCCP') profiles += 1
    const isRepeated = type === 'iCCP' && profiles > 1
    // Critical chunks begin with an upper-case letter.
    if ((chunk.readUInt8(4) & 32) === 0 || (PNG_COPIED.has(type) && !isRepeated)) parts.push(chunk)
    if (type === 'eXIf') orientation = orientationIn(chunk.subarray(8, -4))
    if (type !== 'IEND') continue
    // After the header chunk.
    if (orientation > 1) parts.splice(2, 0, pngChunk('eXIf', orientationTiff(orientation)))
    return parts
  }
  throw new BrokenImage('too many parts')
}

function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)])
  chunk.writeUInt32BE(data.length, 0)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
  return chunk
}

const EXIF_FLAG = 0x08
const XMP_FLAG = 0x04

function walkWebp(bytes: Buffer): Buffer[] {
  const kept: Buffer[] = []
  let extended: Buffer | undefined
  let orientation = 1
  const end = Math.min(bytes.length, take(bytes, 0, 12).readUInt32LE(4) + 8)
  for (let at = 12, count = 0; at + 8 <= end; count += 1) {
    if (count === MAX_PARTS) throw new BrokenImage('too many parts')
    const type = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const padded = 8 + length + (length % 2)
    // Some programs omit the padding of the last chunk.
    const chunk =
      at + padded === end + 1 ? Buffer.concat([take(bytes, at, padded - 1), Buffer.alloc(1)]) : take(bytes, at, padded)
    at += padded
    if (type === 'EXIF') orientation = orientationIn(chunk.subarray(8, 8 + length))
    if (type === 'VP8X' && extended === undefined) {
      // The extended header has flags for EXIF and XMP chunks.
      extended = Buffer.from(chunk)
      take(extended, 8, 10)
      extended.writeUInt8(extended.readUInt8(8) & ~(EXIF_FLAG | XMP_FLAG), 8)
      kept.push(extended)
    } else if (['VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP'].includes(type)) kept.push(chunk)
  }
  // Only the extended format can contain an orientation.
  if (orientation > 1 && extended !== undefined) {
    extended.writeUInt8(extended.readUInt8(8) | EXIF_FLAG, 8)
    kept.push(Buffer.from('EXIF\x1a\0\0\0', 'latin1'), orientationTiff(orientation))
  }
  const header = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  header.writeUInt32LE(
    kept.reduce((sum, { length }) => sum + length, 4),
    4,
  )
  return [header, ...kept]
}

/** Application extensions that are copied: repetition and colour. */
const GIF_COPIED = ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']

function walkGif(bytes: Buffer): Buffer[] {
  const colors = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1))
  let at = 13 + colors(take(bytes, 0, 13).readUInt8(10))
  const parts = [take(bytes, 0, at)]
  for (let count = 0; count < MAX_PARTS; count += 1) {
    const start = at
    const kind = take(bytes, at, 1).readUInt8(0)
    if (kind === 0x3b) return [...parts, take(bytes, at, 1)]
    if (kind === 0x2c) at = skipBlocks(bytes, at + 11 + colors(take(bytes, at, 10).readUInt8(9)))
    else if (kind === 0x21) at = skipBlocks(bytes, at + 2)
    else throw new BrokenImage('unknown block')
    if (kind === 0x2c || isCopiedExtension(bytes, start)) parts.push(bytes.subarray(start, at))
  }
  throw new BrokenImage('too many parts')
}

function isCopiedExtension(bytes: Buffer, at: number): boolean {
  const label = bytes.readUInt8(at + 1)
  // 0xf9: timing and transparency. 0xff: applications. Comments and texts are removed.
  return label === 0xf9 || (label === 0xff && GIF_COPIED.includes(bytes.toString('latin1', at + 3, at + 14)))
}

/** Returns the end of the blocks that begin at `at`. Each block starts with its length, and an empty block is the last. */
function skipBlocks(bytes: Buffer, at: number): number {
  for (let next = at; ; ) {
    const length = bytes[next]
    if (length === undefined) throw new BrokenImage('truncated')
    next += length + 1
    if (length === 0) return next
  }
}

function walkJpeg(bytes: Buffer): Buffer[] {
  const parts = [take(bytes, 0, 2)]
  let orientation = 1
  let scans = 0
  for (let at = 2, count = 0; count < MAX_PARTS; count += 1) {
    at = nextMarker(bytes, at)
    const marker = bytes.readUInt8(at + 1)
    if (marker === END_OF_IMAGE) {
      const exif = Buffer.concat([EXIF_HEAD, orientationTiff(orientation)])
      if (orientation > 1) parts.splice(1, 0, jpegSegment(EXIF_SEGMENT, exif))
      return [...parts, bytes.subarray(at, at + 2)]
    }
    const length = take(bytes, at, 4).readUInt16BE(2)
    let end = at + take(bytes, at, 2 + length).length
    if (marker === SCAN) {
      scans += 1
      if (scans > MAX_SCANS) throw new BrokenImage('too many scans')
      end = nextMarker(bytes, end)
    }
    const segment = bytes.subarray(at, end)
    if (marker === EXIF_SEGMENT && holds(segment, 'Exif\0\0')) orientation = orientationIn(segment.subarray(4))
    const kept = copiedSegment(marker, segment)
    if (kept !== undefined) parts.push(kept)
    at = end
  }
  throw new BrokenImage('too many parts')
}

const SCAN = 0xda
const END_OF_IMAGE = 0xd9
const EXIF_SEGMENT = 0xe1

/** Returns whether a segment belongs to this application. */
function holds(segment: Buffer, name: string): boolean {
  return segment.toString('latin1', 4, 4 + name.length) === name
}

/** Returns the position of the next marker after coded data, restart markers and fill bytes. */
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue
    const code = bytes[at + 1] ?? 0
    if (code !== 0 && code !== 0xff && code !== 1 && !(code >= 0xd0 && code <= 0xd8)) return at
  }
  // A decoder would fill the rest of the image with grey.
  throw new BrokenImage('truncated')
}

function jpegSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/** Returns the segment to copy: undefined for comments, and for application segments that do not affect colours. */
function copiedSegment(marker: number, segment: Buffer): Buffer | undefined {
  if (marker === 0xfe || (marker >= 0xf0 && marker <= 0xfd)) return undefined
  if (marker < 0xe0 || marker > 0xef) return segment
  if (marker === 0xe2 && holds(segment, 'ICC_PROFILE\0')) return segment
  if (marker === 0xee && holds(segment, 'Adobe')) return jpegSegment(marker, segment.subarray(4, 16))
  if (marker !== 0xe0 || !holds(segment, 'JFIF\0')) return undefined
  // Removes the preview image.
  const head = Buffer.from(segment.subarray(4, 18))
  if (head.length < 14) throw new BrokenImage('truncated')
  head.fill(0, 12)
  return jpegSegment(marker, head)
}
