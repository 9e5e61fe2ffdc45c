// IDs of demo items, and their random numbers. Both are always the same, so that a second run finds the items of the first.

import { createHash } from 'node:crypto'
import { createRandom, type Random } from '#demo/catalogue/random.ts'
import { BASE62 } from '#lib/ids.ts'

const LENGTH = 8
const SPACE = 62n ** BigInt(LENGTH)
/** Shares no factor with 62, so that counting in steps of it reaches each ID once. */
const STEP = 91_736_402_185_637n

/** First number of each kind. Kinds in the same table are far apart. */
const STARTS = {
  account: 17_280_394_613n,
  organization: 52_093_847_561_029n,
  organizationTeam: 4_310_928_475_610n,
  project: 88_102_938_475_611n,
  projectTeam: 120_394_857_610_293n,
  thread: 66_610_293_847_561n,
  version: 9_182_736_455_463n,
  file: 31_415_926_535_897n,
  collection: 141_421_356_237_309n,
  gallery: 17_320_508_075_688n,
  report: 57_721_566_490_153n,
  reportThread: 141_421_356_237_309n,
} as const

/** Returns the ID of the n-th item of a kind, counted from 0. */
export function demoId(kind: keyof typeof STARTS, n: number): string {
  let rest = (STARTS[kind] + BigInt(n) * STEP) % SPACE
  let id = ''
  for (let i = 0; i < LENGTH; i += 1) {
    id += BASE62[Number(rest % 62n)]
    rest /= 62n
  }
  return id
}

/** Maximum number of versions and of images per project. */
const PARTS_MAX = 64

/** Returns the ID of a version, of its file, or of a gallery image, by its position in a project. */
export function demoPartId(kind: 'version' | 'file' | 'gallery', projectIndex: number, position: number): string {
  return demoId(kind, projectIndex * PARTS_MAX + position)
}

/** Returns the ID of a message by its thread and its position there. */
export function messageId(threadId: string, place: number): string {
  const digits = createHash('sha256').update(`${threadId}/${place}`).digest()
  return Array.from({ length: LENGTH }, (_, n) => BASE62[(digits[n] ?? 0) % 62]).join('')
}

/** Seed of the catalogue, the same on every machine. */
export const DEMO_SEED = 1

/** First index of each kind of random stream; those of the projects of the catalogue begin at 0. */
const STREAMS = {
  collection: 2_000_000,
  avatar: 10_000_000,
  emblem: 20_000_000,
  icon: 30_000_000,
  gallery: 40_000_000,
  follow: 60_000_000,
  event: 70_000_000,
  review: 80_000_000,
  report: 81_000_000,
} as const

/** Returns the random stream of the n-th item of a kind. */
export function demoRandom(kind: keyof typeof STREAMS, n: number): Random {
  return createRandom(DEMO_SEED, STREAMS[kind] + n)
}
