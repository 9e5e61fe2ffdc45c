// Growing typed arrays, and storage in blocks for data that is too large to copy when it grows.

export type Typed = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

/** Returns `array`, or a copy filled with 0 if it is shorter than `length`. */
export function withLength<A extends Typed>(array: A, length: number): A {
  if (length <= array.length) return array
  const grown = new (array.constructor as new (length: number) => A)(
    Math.max(length, Math.ceil(array.length * 1.5), 64),
  )
  grown.set(array)
  return grown
}

/** Contiguous runs of items in blocks of a fixed size. A run has one number as its address and never moves. */
export class Arena<A extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>> {
  readonly #make: (length: number) => A
  readonly #shift: number
  /** A released block has length 0. */
  readonly blocks: A[]
  /** Next free address in the current block. */
  end: number

  /** A block, and the longest run, has 2^`shift` items. */
  constructor(make: (length: number) => A, shift: number, saved?: { blocks: A[]; end: number }) {
    this.#make = make
    this.#shift = shift
    this.blocks = saved?.blocks ?? []
    this.end = saved?.end ?? 0
  }

  /** Returns the address of `length` unused items in one block. */
  allocate(length: number): number {
    const size = 2 ** this.#shift
    if (length > size) throw new RangeError(`a run of ${length} items is longer than a block of ${size}`)
    const filled = this.blockOf(this.end)
    if (filled >= this.blocks.length || this.offset(this.end) + length > size || this.offset(this.end) === 0)
      this.end = this.#freeBlock() * size
    const address = this.end
    this.end += length
    return address
  }

  block(address: number): A {
    const block = this.blocks[this.blockOf(address)]
    if (block === undefined) throw new RangeError('no such address')
    return block
  }

  blockOf(address: number): number {
    return Math.floor(address / 2 ** this.#shift)
  }

  offset(address: number): number {
    return address % 2 ** this.#shift
  }

  /** Releases an unused block, which must not be the current one. */
  release(index: number): void {
    this.blocks[index] = this.#make(0)
  }

  #freeBlock(): number {
    const free = this.blocks.findIndex((block) => block.length === 0)
    const index = free < 0 ? this.blocks.length : free
    this.blocks[index] = this.#make(2 ** this.#shift)
    return index
  }
}
