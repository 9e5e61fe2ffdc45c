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

type SignIn = Omit<DemoPerson, 'created' | 'hasAvatar'>

/** Accounts with a sign-in: the first people of every catalogue. */
export const SIGN_INS: readonly SignIn[] = [
  { username: 'demo-publisher', bio: 'Publishes things and watches how they are used.', role: 'developer' },
  { username: 'demo-moderator', bio: 'Reviews projects and answers reports.', role: 'moderator' },
]

/** The publisher owns some of the first projects: popular, and from recent years. */
export const isPublishers = (index: number): boolean => index % 25 === 2 && index < 200

/** Returns the same people for the same options; a longer list begins with the shorter list. */
export function demoPeople(random: Random, count: number, until: Date): DemoPerson[] {
  const ago = (ms: number): Date => new Date(Math.floor(until.getTime() - ms))
  const first = SIGN_INS.map((person) => ({ ...person, created: ago(5 * YEAR_MS), hasAvatar: true }))
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
  const others = people.slice(SIGN_INS.length)
  return Array.from({ length: count }, (_, n) => {
    const name = organizationName(random)
    // There are more people than organizations, so nobody owns more than one.
    const owner = (n === 0 ? people[0] : others[n]) ?? random.pick(people)
    const members = new Set(Array.from({ length: random.integer(1, 5) }, () => random.pick(others)))
    members.delete(owner)
    const youngest = Math.max(...[owner, ...members].map(({ created }) => created.getTime()))
    return {
      slug: addSlug(name, taken),
      name,
      description: `${name} makes and looks after projects together.`,
      owner: owner.username,
      members: Array.from(members, ({ username }) => ({ username, role: random.pick(ROLES) })),
      created: new Date(Math.floor(youngest + random.next() ** 3 * (until.getTime() - youngest))),
    }
  })
}
