// Reproducible random numbers: equal seeds give equal catalogues on every machine. Not suitable for secrets.

export type Random = ReturnType<typeof createRandom>

/** Creates a separate stream per pair of seed and index, so that a project does not depend on the number of projects. */
export function createRandom(seed: number, index = 0) {
  let state = mix(mix(seed >>> 0) ^ mix(index + 0x9e3779b9))
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    return mix(state) / 2 ** 32
  }
  /** Returns an integer from `min` to `max` (inclusive). */
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[integer(0, items.length - 1)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  /** Returns a name with a probability in proportion to its weight. The weights must not all be 0. */
  const weighted = <Name extends string>(weights: Readonly<Record<Name, number>>): Name => {
    const entries = Object.entries(weights) as [Name, number][]
    let rest = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      rest -= weight
      if (rest < 0) return name
    }
    // Reached only because of rounding.
    return pick(entries)[0]
  }
  /** Returns at most `count` different items in random order. */
  const sample = <Item>(items: readonly Item[], count: number): Item[] => {
    const pool = [...items]
    const chosen = []
    while (chosen.length < count && pool.length > 0) chosen.push(...pool.splice(integer(0, pool.length - 1), 1))
    return chosen
  }
  return { next, integer, chance: (probability: number): boolean => next() < probability, pick, weighted, sample }
}

/** The finaliser of MurmurHash3 (public domain): every input bit reaches every output bit. */
function mix(value: number): number {
  let x = value | 0
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}
