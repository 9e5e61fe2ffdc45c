// Resolves the names of the demo catalogue to IDs.
import type { DemoCatalogue, DemoProject } from '#demo/catalogue/catalogue.ts'
import type { DemoPerson } from '#demo/catalogue/people.ts'
import { demoId } from '#demo/ids.ts'

export type Indexed = { project: DemoProject; index: number; id: string }

/** Names with values that all projects share. */
export type Names = {
  /** Latest date. */
  until: Date
  /** Part of the key of every file. */
  mark: string
  people: readonly DemoPerson[]
  accountOf(username: string): string
  organizationOf(slug: string): string
  projectOf(slug: string): string
  /** Returns different positions in `people`. */
  peopleFrom(start: number, count: number): number[]
}

/** @param projectIds IDs of the projects that were generated so far, by slug. */
export function createNames(
  { people, organizations }: DemoCatalogue,
  { until, mark, projectIds }: { until: Date; mark: string; projectIds: ReadonlyMap<string, string> },
): Names {
  const accounts = new Map(people.map(({ username }, n) => [username, demoId('account', n)]))
  const organizationIds = new Map(organizations.map(({ slug }, n) => [slug, demoId('organization', n)]))
  const find = (ids: ReadonlyMap<string, string>) => (name: string) => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`The demo catalogue has no item named ${name}`)
    return id
  }
  return {
    until,
    mark,
    people,
    accountOf: find(accounts),
    organizationOf: find(organizationIds),
    projectOf: find(projectIds),
    peopleFrom: (start, count) => someOf(people.length, start, count),
  }
}

/** Returns different numbers below `total`, in steps that share no factor with it. */
function someOf(total: number, start: number, count: number): number[] {
  let step = Math.max(1, Math.floor(total * 0.618))
  while (gcd(step, total) !== 1) step -= 1
  return Array.from({ length: Math.min(count, total) }, (_, i) => (start + i * step) % total)
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

/** Returns the time at `share` of the way between two times. */
export function between(from: Date, until: Date, share: number): Date {
  return new Date(Math.floor(from.getTime() + (until.getTime() - from.getTime()) * share))
}
