// Test support: writes zip archives, true ones and lying ones.
import { crc32, deflateRawSync } from 'node:zlib'

export type TestEntry = {
  name: string
  data?: string | Uint8Array
  /** Default: deflated. */
  stored?: boolean
  /** Values to write instead of the true ones. */
  lie?: {
    sizeBytes?: number
    packedBytes?: number
    crc32?: number
    method?: number
    flags?: number
    /** The name in the local header. */
    localName?: string
    /** Index of the entry whose offset the directory entry repeats. */
    sameOffsetAs?: number
    unixMode?: number
    packed?: Uint8Array
  }
}

const UTF8_FLAG = 0x800

/** A zip archive with these entries in this order. */
export function makeZip(entries: readonly TestEntry[], { comment = '' }: { comment?: string } = {}): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  const offsets: number[] = []
  let position = 0
  for (const { name, data = '', stored = false, lie = {} } of entries) {
    const content = Buffer.from(data)
    const packed = lie.packed ?? (stored ? content : deflateRawSync(content))
    const common = Buffer.alloc(22)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(UTF8_FLAG | (lie.flags ?? 0), 2)
    common.writeUInt16LE(lie.method ?? (stored ? 0 : 8), 4)
    common.writeUInt32LE(lie.crc32 ?? crc32(content), 10)
    common.writeUInt32LE(lie.packedBytes ?? packed.length, 14)
    common.writeUInt32LE(lie.sizeBytes ?? content.length, 18)
    const localName = Buffer.from(lie.localName ?? name)
    offsets.push(position)
    const head = Buffer.concat([uint32(0x04034b50), common, uint16(localName.length), uint16(0), localName])
    local.push(head, Buffer.from(packed))
    position += head.length + packed.length
    const offset = lie.sameOffsetAs === undefined ? offsets.at(-1) : offsets[lie.sameOffsetAs]
    central.push(centralRecord({ name, common, offset: offset ?? 0, unixMode: lie.unixMode ?? 0o100644 }))
  }
  return Buffer.concat([...local, ...central, endRecord(entries.length, central, position, comment)])
}

const END_BYTES = 22
type EndRecord = { count: number; bytes: number; start: number }

/** Reads an end record. */
export function readEnd(end: Buffer): EndRecord {
  return { count: end.readUInt16LE(10), bytes: end.readUInt32LE(12), start: end.readUInt32LE(16) }
}

/** The same archive, without a comment, whose end record tells something else about the directory. */
export function rewriteEnd(zip: Buffer, change: (record: EndRecord) => Partial<EndRecord>): Buffer {
  const end = Buffer.from(zip.subarray(-END_BYTES))
  const record = { ...readEnd(end), ...change(readEnd(end)) }
  end.writeUInt16LE(record.count, 10)
  end.writeUInt32LE(record.bytes, 12)
  end.writeUInt32LE(record.start, 16)
  return Buffer.concat([zip.subarray(0, -END_BYTES), end])
}

/** The same archive, without a comment, with end records of the larger form. `recordAt` is where the locator says they are. */
export function toZip64(
  zip: Buffer,
  change: (end: EndRecord) => Partial<EndRecord & { recordAt: number }> = () => ({}),
): Buffer {
  const before = readEnd(zip.subarray(-END_BYTES))
  const recordAt = zip.length - END_BYTES
  const end = { ...before, recordAt, ...change(before) }
  const fields = [44, (45 << 16) | 45, end.count, end.count, end.bytes, end.start]
  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50, 0)
  for (const [i, offset] of [4, 12, 24, 32, 40, 48].entries()) record.writeBigUInt64LE(BigInt(fields[i] ?? 0), offset)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(end.recordAt), 8)
  locator.writeUInt32LE(1, 16)
  const small = rewriteEnd(zip, () => ({ count: 0xffff, bytes: 0xffffffff, start: 0xffffffff }))
  return Buffer.concat([zip.subarray(0, -END_BYTES), record, locator, small.subarray(-END_BYTES)])
}

function centralRecord(entry: { name: string; common: Buffer; offset: number; unixMode: number }): Buffer {
  const name = Buffer.from(entry.name)
  const rest = Buffer.alloc(12)
  rest.writeUInt32LE(entry.unixMode * 0x10000, 4)
  rest.writeUInt32LE(entry.offset, 8)
  const madeByUnix = uint16((3 << 8) | 20)
  return Buffer.concat([
    uint32(0x02014b50),
    madeByUnix,
    entry.common,
    uint16(name.length),
    uint16(0),
    uint16(0),
    rest,
    name,
  ])
}

function endRecord(count: number, central: Buffer[], start: number, comment: string): Buffer {
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Math.min(count, 0xffff), 4)
  end.writeUInt16LE(Math.min(count, 0xffff), 6)
  end.writeUInt32LE(
    central.reduce((sum, record) => sum + record.length, 0),
    8,
  )
  end.writeUInt32LE(start, 12)
  end.writeUInt16LE(Buffer.byteLength(comment), 16)
  return Buffer.concat([uint32(0x06054b50), end, Buffer.from(comment)])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
