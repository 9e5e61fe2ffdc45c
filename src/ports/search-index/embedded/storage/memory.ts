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
  /** One that was given back has no length. */
  readonly blocks: A[]
  /** The next free address, in the block that is being filled. */
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
    const filled = this.blockOf(this.end)
    if (filled >= this.blocks.length || this.offset(this.end) + length > size || this.offset(this.end) === 0) {
      this.end = this.#freeBlock() * size
    }
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

  /** Gives a block back, which nothing is placed in any more and which is not the one being filled. */
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
