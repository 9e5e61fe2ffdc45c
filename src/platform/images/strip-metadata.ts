// Takes out of a picture what its camera and its editors wrote beside the pixels: place, time, device, names, previews,
// and whatever follows its end. The pixels are copied as they are, with what is needed to show them in the right
// colours; how the picture has to be turned is rewritten. The formats are walked by allow-lists: what is not known
// to be needed is left out. What the walk lets through is decoded afterwards, so that it decides nothing about validity;
// nothing else reads what it leaves out, of which some hundred kilobytes can unpack to gigabytes.
import { crc32 } from 'node:zlib'
import type { ImageKind } from './image-kind.ts'

/** The structure is broken where the walk has to follow it. */
export class BrokenPicture extends Error {}

/** Far more than any encoder makes; each costs a step of the event loop's time. */
const MAX_PARTS = 50_000
/** A progressive picture has about ten; each costs a decoder a walk over all pixels. */
const MAX_SCANS = 100

/**
 * The picture with nothing in it but the picture. An upright one without metadata comes back byte for byte.
 * @throws BrokenPicture.
 */
export function stripMetadata(bytes: Buffer, kind: Exclude<ImageKind, 'svg'>): Buffer {
  return Buffer.concat(WALKS[kind](bytes))
}

const WALKS = { png: walkPng, jpeg: walkJpeg, gif: walkGif, webp: walkWebp } as const

const EXIF_HEAD = Buffer.from('Exif\0\0')
const ORIENTATION_TAG = 0x0112
const SHORT = 3

/** How a picture has to be turned to stand upright: 1 (it does) to 8, from what a camera wrote; 1 where that is unclear. */
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

/** The smallest TIFF structure that says how a picture is turned, as all of these formats embed it. */
function orientationTiff(orientation: number): Buffer {
  const tiff = Buffer.from('49492a0008000000010012010300010000000000000000000000', 'hex')
  tiff.writeUInt16LE(orientation, 18)
  return tiff
}

/** The `length` bytes at `at`. @throws BrokenPicture when there are not so many. */
function take(bytes: Buffer, at: number, length: number): Buffer {
  if (at + length > bytes.length) throw new BrokenPicture('cut off')
  return bytes.subarray(at, at + length)
}

/** Beside the critical chunks: transparency, colour, density, background, and the frames of a moving picture. */
const PNG_KEPT = new Set('tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST sPLT pHYs acTL fcTL fdAT'.split(' '))

function walkPng(bytes: Buffer): Buffer[] {
  const parts = [take(bytes, 0, 8)]
  let orientation = 1
  let profiles = 0
  for (let at = 8, count = 0; count < MAX_PARTS; count += 1) {
    const length = take(bytes, at, 8).readUInt32BE(0)
    const chunk = take(bytes, at, length + 12)
    const type = chunk.toString('latin1', 4, 8)
    at += chunk.length
    // Compressed, to as much as 8 MB: one is enough.
    if (type === 'iCCP') profiles += 1
    const isRepeated = type === 'iCCP' && profiles > 1
    // The first letter's case tells critical chunks.
    if ((chunk.readUInt8(4) & 32) === 0 || (PNG_KEPT.has(type) && !isRepeated)) parts.push(chunk)
    if (type === 'eXIf') orientation = orientationIn(chunk.subarray(8, -4))
    if (type !== 'IEND') continue
    // After the header, which comes first.
    if (orientation > 1) parts.splice(2, 0, pngChunk('eXIf', orientationTiff(orientation)))
    return parts
  }
  throw new BrokenPicture('too many parts')
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
    if (count === MAX_PARTS) throw new BrokenPicture('too many parts')
    const type = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const padded = 8 + length + (length % 2)
    // The last chunk's padding is forgotten by some writers.
    const chunk =
      at + padded === end + 1 ? Buffer.concat([take(bytes, at, padded - 1), Buffer.alloc(1)]) : take(bytes, at, padded)
    at += padded
    if (type === 'EXIF') orientation = orientationIn(chunk.subarray(8, 8 + length))
    if (type === 'VP8X' && extended === undefined) {
      // The header of the extended form names what follows: neither EXIF nor XMP.
      extended = Buffer.from(chunk)
      take(extended, 8, 10)
      extended.writeUInt8(extended.readUInt8(8) & ~(EXIF_FLAG | XMP_FLAG), 8)
      kept.push(extended)
    } else if (['VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP'].includes(type)) kept.push(chunk)
  }
  // Only the extended form has room for it.
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

/** Repetition and colour; everything else that applications write is for applications. */
const GIF_KEPT = ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']

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
    else throw new BrokenPicture('unknown block')
    if (kind === 0x2c || isKeptExtension(bytes, start)) parts.push(bytes.subarray(start, at))
  }
  throw new BrokenPicture('too many parts')
}

function isKeptExtension(bytes: Buffer, at: number): boolean {
  const label = bytes.readUInt8(at + 1)
  // Timing and transparency; applications'. Comments and text that nothing draws go.
  return label === 0xf9 || (label === 0xff && GIF_KEPT.includes(bytes.toString('latin1', at + 3, at + 14)))
}

/** Past the blocks that begin at `at`, each with its length before it, and the empty one that ends them. */
function skipBlocks(bytes: Buffer, at: number): number {
  for (let next = at; ; ) {
    const length = bytes[next]
    if (length === undefined) throw new BrokenPicture('cut off')
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
      if (scans > MAX_SCANS) throw new BrokenPicture('too many scans')
      end = nextMarker(bytes, end)
    }
    const segment = bytes.subarray(at, end)
    if (marker === EXIF_SEGMENT && holds(segment, 'Exif\0\0')) orientation = orientationIn(segment.subarray(4))
    const kept = keptSegment(marker, segment)
    if (kept !== undefined) parts.push(kept)
    at = end
  }
  throw new BrokenPicture('too many parts')
}

const SCAN = 0xda
const END_OF_IMAGE = 0xd9
const EXIF_SEGMENT = 0xe1

/** Whether a segment is of this application. */
function holds(segment: Buffer, name: string): boolean {
  return segment.toString('latin1', 4, 4 + name.length) === name
}

/** Where the next marker begins, past coded data, restarts in it, and fill bytes. */
function nextMarker(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue
    const code = bytes[at + 1] ?? 0
    if (code !== 0 && code !== 0xff && code !== 1 && !(code >= 0xd0 && code <= 0xd8)) return at
  }
  // A decoder would fill the rest of a picture that ends here with gray.
  throw new BrokenPicture('cut off')
}

function jpegSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/** A segment as far as it is needed: all but those of applications and comments, and of these what colours rest on. */
function keptSegment(marker: number, segment: Buffer): Buffer | undefined {
  if (marker === 0xfe || (marker >= 0xf0 && marker <= 0xfd)) return undefined
  if (marker < 0xe0 || marker > 0xef) return segment
  if (marker === 0xe2 && holds(segment, 'ICC_PROFILE\0')) return segment
  if (marker === 0xee && holds(segment, 'Adobe')) return jpegSegment(marker, segment.subarray(4, 16))
  if (marker !== 0xe0 || !holds(segment, 'JFIF\0')) return undefined
  // Without the small preview that it may carry.
  const head = Buffer.from(segment.subarray(4, 18))
  if (head.length < 14) throw new BrokenPicture('cut off')
  head.fill(0, 12)
  return jpegSegment(marker, head)
}
