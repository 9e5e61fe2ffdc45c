// People and organizations of the demo catalogue. The first people have sign-ins.

import { addSlug, organizationName, personName } from '#demo/catalogue/names.ts'
import type { Random } from '#demo/catalogue/random.ts'
import { BIOS, ROLES } from '#demo/catalogue/words.ts'
import { DAY_MS } from '#lib/time.ts'

export type DemoPerson = {
  username: string
  bio: string
  created: Date
  role: 'developer' | 'moderator'
  hasAvatar: boolean
}

export type DemoMember = { username: string; role: string }

export type DemoOrganization = {
  slug: string
  name: string
  description: string
  owner: string
  members: DemoMember[]
  created: Date
}

const YEAR_MS = 365 * DAY_MS
/** Earliest join date; older than every project. */
const OLDEST_MS = 9.3 * YEAR_MS
// Below the quota of 16 organizations per user.
const OWNED_ORGANIZATIONS_MAX = 8

type SignIn = Omit<DemoPerson, 'created' | 'hasAvatar'> & { ageMs: number }

const publisher: SignIn = {
  username: 'demo-publisher',
  bio: 'Publishes things and watches how they are used.',
  role: 'developer',
  ageMs: 4 * YEAR_MS,
}
const moderator: SignIn = {
  username: 'demo-moderator',
  bio: 'Reviews projects and answers reports.',
  role: 'moderator',
  ageMs: 6 * YEAR_MS,
}

/** Accounts with a sign-in: the first people of every catalogue. */
export const SIGN_INS: readonly SignIn[] = [publisher, moderator]

/** The publisher owns some of the first projects: popular, and from recent years. */
export const isPublishers = (index: number): boolean => index % 25 === 2 && index < 200

/** Returns the same people for the same options; a longer list begins with the shorter list. */
export function demoPeople(random: Random, count: number, until: Date): DemoPerson[] {
  const ago = (ms: number): Date => new Date(Math.floor(until.getTime() - ms))
  const first = SIGN_INS.map(({ ageMs, ...person }) => ({ ...person, created: ago(ageMs), hasAvatar: true }))
  const taken = new Set(first.map(({ username }) => username))
  const others = Array.from({ length: count - first.length }, (_, n) => {
    const wanted = personName(random)
    let username = wanted
    // Usernames are case-insensitive.
    for (let again = 2; taken.has(username.toLowerCase()); again += 1) username = `${wanted}${again}`
    taken.add(username.toLowerCase())
    return {
      username,
      bio: random.pick(BIOS),
      role: 'developer' as const,
      // Some people join first, so that every project finds an owner.
      created: ago(n % 8 === 0 ? OLDEST_MS - n * 1000 : 2 * DAY_MS + random.next() ** 0.8 * (OLDEST_MS - 2 * DAY_MS)),
      hasAvatar: random.chance(0.8),
    }
  })
  return [...first, ...others]
}

/** Returns the organizations; each is younger than its members, and the publisher owns the first. */
export function demoOrganizations(
  random: Random,
  people: readonly DemoPerson[],
  count: number,
  until: Date,
): DemoOrganization[] {
  const taken = new Set<string>()
  const owned = new Map<string, number>()
  const others = people.slice(SIGN_INS.length)
  const pool = others.slice(0, 5000)
  return Array.from({ length: count }, (_, n) => {
    const name = organizationName(random)
    const [drawn, ...rest] = random.sample(pool, random.integer(2, 6))
    const wanted = n === 0 ? people[0] : drawn
    const isFree = wanted !== undefined && (owned.get(wanted.username) ?? 0) < OWNED_ORGANIZATIONS_MAX
    const owner = isFree ? wanted : leastBusy(others, owned)
    owned.set(owner.username, (owned.get(owner.username) ?? 0) + 1)
    const members = rest.filter(({ username }) => username !== owner.username)
    const youngest = Math.max(...[owner, ...members].map(({ created }) => created.getTime()))
    return {
      slug: addSlug(name, taken),
      name,
      description: `${name} makes and looks after projects together.`,
      owner: owner.username,
      members: members.map(({ username }) => ({ username, role: random.pick(ROLES) })),
      created: new Date(Math.floor(youngest + random.next() ** 3 * (until.getTime() - youngest))),
    }
  })
}

function leastBusy(people: readonly DemoPerson[], owned: ReadonlyMap<string, number>): DemoPerson {
  const [first] = people.toSorted((a, b) => (owned.get(a.username) ?? 0) - (owned.get(b.username) ?? 0))
  if (first === undefined) throw new RangeError('A catalogue has people')
  return first
}
