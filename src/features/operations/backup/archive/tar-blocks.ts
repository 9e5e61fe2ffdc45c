// Reads and writes the blocks of a POSIX tar file (ustar, with pax records for long names), so that any `tar` can read a
// backup. Libraries create a stream for each member; for many small files, this costs ten times as much as the content.

export const BLOCK = 512

/** Two empty blocks, which end a tar file. */
export const TAR_END = Buffer.alloc(2 * BLOCK)

export type TarHeader = { name: string; size: number; kind: 'file' | 'pax' | 'other' }

const NAME_BYTES = 100
const PAX_NAME = 'pax-name'
const SIZE_MAX = 0o77777777777
const CHECKSUM = { start: 148, end: 156 }
const KIND_AT = 156
const MAGIC = { start: 257, text: 'ustar\u000000' }

/** Returns the header blocks of a member. `mtime` is in seconds since 1970. @throws RangeError above 8 GiB. */
export function tarHeader({ name, size, mtime }: { name: string; size: number; mtime: number }): Buffer {
  if (size > SIZE_MAX) throw new RangeError(`${name} is too large for a backup: the maximum is 8 GiB`)
  if (name.length <= NAME_BYTES && isAscii(name)) return header(name, { size, mtime, kind: '0' })
  const record = paxRecord(name)
  return Buffer.concat([
    header(PAX_NAME, { size: record.length, mtime, kind: 'x' }),
    record,
    Buffer.alloc(paddingOf(record.length)),
    header(PAX_NAME, { size, mtime, kind: '0' }),
  ])
}

/** Returns the number of bytes that fill the last block of a member. */
export const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK

/** Parses a header. Returns undefined for an empty block. @throws Error if the block is not a header. */
export function readTarHeader(block: Buffer): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined
  const sum = parseOctal(block, CHECKSUM.start, CHECKSUM.end)
  if (block.toString('latin1', MAGIC.start, MAGIC.start + 5) !== 'ustar' || sum !== checksum(block)) {
    throw new Error('a header of its tar file is broken')
  }
  const prefix = text(block, 345, 500)
  const name = text(block, 0, NAME_BYTES)
  const kind = block[KIND_AT]
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: parseOctal(block, 124, 136),
    kind: kind === 0 || kind === 0x30 ? 'file' : kind === 0x78 ? 'pax' : 'other',
  }
}

/** Returns the name from a member of kind `pax`. @throws Error if there is no name. */
export function readPaxName(records: Buffer): string {
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(' ', at)
    const length = Number(records.toString('latin1', at, space))
    if (space === -1 || !Number.isInteger(length) || length <= space - at || records[at + length - 1] !== 0x0a) break
    const [key, ...value] = records.toString('utf8', space + 1, at + length - 1).split('=')
    if (key === 'path' && value.length > 0) return value.join('=')
    at += length
  }
  throw new Error('a long name in its tar file cannot be read')
}

/** Returns `LENGTH path=NAME\n`. The length includes its own digits. */
function paxRecord(name: string): Buffer {
  const rest = Buffer.from(` path=${name}\n`)
  let length = rest.length
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

function header(name: string, { size, mtime, kind }: { size: number; mtime: number; kind: '0' | 'x' }): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0, 'latin1')
  block.write('0000600\u00000000000\u00000000000\u0000', 100, 'latin1')
  block.write(`${octal(size)} ${octal(mtime)} `, 124, 'latin1')
  block.write(kind, KIND_AT, 'latin1')
  block.write(MAGIC.text, MAGIC.start, 'latin1')
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\u0000 `, CHECKSUM.start, 'latin1')
  return block
}

const octal = (value: number): string => value.toString(8).padStart(11, '0')

/** Returns the sum of all bytes, with the checksum field read as spaces. */
function checksum(block: Buffer): number {
  let sum = (CHECKSUM.end - CHECKSUM.start) * 0x20
  for (let i = 0; i < CHECKSUM.start; i += 1) sum += block[i] as number
  for (let i = CHECKSUM.end; i < BLOCK; i += 1) sum += block[i] as number
  return sum
}

function text(block: Buffer, start: number, end: number): string {
  const zero = block.indexOf(0, start)
  return block.toString('latin1', start, zero === -1 || zero > end ? end : zero)
}

function parseOctal(block: Buffer, start: number, end: number): number {
  const digits = block.toString('latin1', start, end).replaceAll('\0', ' ').trim()
  if (!/^[0-7]{1,12}$/.test(digits)) throw new Error('a header of its tar file is broken')
  return Number.parseInt(digits, 8)
}

const isAscii = (name: string): boolean => /^[\x20-\x7e]*$/.test(name)
