/** What the list needs to know of an entry; `evicted` is called when the list throws it out, not on `remove`. */
export interface LruNode {
  bytes: number
  older: LruNode | undefined
  newer: LruNode | undefined
  evicted(): void
}

/**
 * A list in order of use whose members together never exceed `maxBytes`. The links live in the entries, so that a
 * hit costs a few pointer writes and no allocation. It holds no keys: whoever finds entries has its own map.
 */
export class ByteLru {
  readonly maxBytes: number
  #bytes = 0
  #oldest: LruNode | undefined
  #newest: LruNode | undefined

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Enters a node as the newest and throws out the oldest ones, the new one included, until all fit. */
  add(node: LruNode): void {
    this.#link(node)
    this.#bytes += node.bytes
    this.#shrink()
  }

  /** Counts more bytes for a member, and throws out the oldest ones, this one included, until all fit. */
  grow(node: LruNode, bytes: number): void {
    node.bytes += bytes
    this.#bytes += bytes
    this.#shrink()
  }

  #shrink(): void {
    while (this.#bytes > this.maxBytes && this.#oldest !== undefined) {
      const victim = this.#oldest
      this.remove(victim)
      victim.evicted()
    }
  }

  /** Marks a member as used just now. */
  touch(node: LruNode): void {
    if (node === this.#newest) return
    this.#unlink(node)
    this.#link(node)
  }

  /** Takes a member out; the caller must not pass a node that is not in the list. */
  remove(node: LruNode): void {
    this.#unlink(node)
    this.#bytes -= node.bytes
  }

  #link(node: LruNode): void {
    node.older = this.#newest
    node.newer = undefined
    if (this.#newest === undefined) this.#oldest = node
    else this.#newest.newer = node
    this.#newest = node
  }

  #unlink(node: LruNode): void {
    if (node.older === undefined) this.#oldest = node.newer
    else node.older.newer = node.newer
    if (node.newer === undefined) this.#newest = node.older
    else node.newer.older = node.older
    node.older = undefined
    node.newer = undefined
  }
}
