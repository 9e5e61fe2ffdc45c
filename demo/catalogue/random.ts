// Reproducible randomness: the same seed gives the same catalogue on every machine. Not for anything secret.

export type Random = {
  /** From 0 up to, and without, 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** One of `items`, each as likely as its weight; the weights must not all be 0. */
  weighted<Item>(items: readonly Item[], weight: (item: Item) => number): Item
  /** At most `count` different items, in random order. */
  sample<Item>(items: readonly Item[], count: number): Item[]
}

/** A stream of its own for each pair of seed and index, so that one project does not depend on how many there are. */
export function createRandom(seed: number, index = 0): Random {
  let state = mix(mix(seed >>> 0) ^ mix(index + 0x9e3779b9))
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    return mix(state) / 2 ** 32
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[integer(0, items.length - 1)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick,
    weighted: (items, weight) => {
      let rest = next() * items.reduce((sum, item) => sum + weight(item), 0)
      for (const item of items) {
        rest -= weight(item)
        if (rest < 0) return item
      }
      // Only rounding leads here.
      return pick(items)
    },
    sample: (items, count) => {
      const pool = [...items]
      const chosen = []
      while (chosen.length < count && pool.length > 0) chosen.push(...pool.splice(integer(0, pool.length - 1), 1))
      return chosen
    },
  }
}

/** The finaliser of MurmurHash3 (public domain): every input bit reaches every output bit. */
function mix(value: number): number {
  let x = value | 0
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}
