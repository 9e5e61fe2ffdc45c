// Growth of typed arrays, and storage in blocks for what is too large to be copied when it grows.

export type Typed = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

/** `array` itself, or a copy at least `length` long when it is shorter; the rest is 0. */
export function withLength<A extends Typed>(array: A, length: number): A {
  if (length <= array.length) return array
  const grown = new (array.constructor as new (length: number) => A)(
    Math.max(length, Math.ceil(array.length * 1.5), 64),
  )
  grown.set(array)
  return grown
}

/** Contiguous runs of items in blocks of fixed size, addressed by one number; nothing moves once placed. */
export class Arena<A extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>> {
  readonly #make: (length: number) => A
  readonly #shift: number
  readonly blocks: A[]
  /** The next free address. */
  end: number

  /** A block holds 2^`shift` items; no run may be longer. */
  constructor(make: (length: number) => A, shift: number, saved?: { blocks: A[]; end: number }) {
    this.#make = make
    this.#shift = shift
    this.blocks = saved?.blocks ?? []
    this.end = saved?.end ?? 0
  }

  /** Room for `length` items inside one block. */
  allocate(length: number): number {
    const size = 2 ** this.#shift
    if (length > size) throw new RangeError(`a run of ${length} items is longer than a block of ${size}`)
    const rest = size - (this.end % size)
    const address = rest < length ? this.end + rest : this.end
    this.end = address + length
    if (address + length > this.blocks.length * size) this.blocks.push(this.#make(size))
    return address
  }

  block(address: number): A {
    const block = this.blocks[Math.floor(address / 2 ** this.#shift)]
    if (block === undefined) throw new RangeError('no such address')
    return block
  }

  offset(address: number): number {
    return address % 2 ** this.#shift
  }
}
