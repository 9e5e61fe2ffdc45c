// The demo catalogue: a pure, reproducible description of people, organizations and projects that look like a grown
// service's. Writing it to a database is the seed command's business.
import { DAY_MS } from '#lib/time.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { organizationName, personName, projectName, takeSlug } from './demo-names.ts'
import { createRandom, type Random } from './demo-random.ts'
import { demoDescription, demoSummary } from './demo-text.ts'
import { chooseLoaders, type DemoDependency, type DemoVersion, demoVersions } from './demo-versions.ts'
import { BIOS, LICENSES, ROLES, TYPE_WEIGHTS } from './demo-words.ts'

export type DemoPerson = { username: string; bio: string }

export type DemoOrganization = { slug: string; name: string; description: string; owner: string; members: DemoMember[] }

export type DemoMember = { username: string; role: string }

export type DemoProject = {
  slug: string
  name: string
  summary: string
  /** Markdown. */
  description: string
  projectType: string
  status: 'approved' | 'archived' | 'unlisted' | 'processing'
  categories: string[]
  additionalCategories: string[]
  licenseId: string
  licenseUrl: string | null
  /** Link platform → address. */
  links: Record<string, string>
  owner: string
  /** The team without its owner. */
  members: DemoMember[]
  /** Slug of the owning organization; its owner is then the project's `owner` too. */
  organization: string | null
  published: Date
  downloads: number
  follows: number
  color: number | null
  /** Oldest first, at least one. */
  versions: DemoVersion[]
}

export type DemoCatalogue = {
  people: DemoPerson[]
  organizations: DemoOrganization[]
  /** Made one by one as they are asked for, in an order in which dependencies point backwards only. */
  projects: Iterable<DemoProject>
}

export type DemoOptions = {
  taxonomy: Taxonomy
  /** How many; 0 to 1,000,000. */
  projects: number
  seed: number
  /** No date in the catalogue is later. */
  until: Date
}

const PROJECTS_MAX = 1_000_000
// Below the quota of 256 projects a person and 16 organizations a person.
const OWNED_MAX = 200
const OWNED_ORGANIZATIONS_MAX = 8
const YEARS = 9

/**
 * The same options give the same catalogue. Memory grows with the number of projects only by their slugs.
 * @throws RangeError for a number of projects outside 0 to 1,000,000.
 */
export function demoCatalogue(options: DemoOptions): DemoCatalogue {
  const { projects, seed } = options
  if (!Number.isInteger(projects) || projects < 0 || projects > PROJECTS_MAX)
    throw new RangeError(`the number of projects must be a whole number from 0 to ${PROJECTS_MAX}`)
  const people = demoPeople(createRandom(seed, -1), Math.max(6, Math.ceil(projects / 3)))
  const organizations = demoOrganizations(createRandom(seed, -2), people, Math.ceil(projects / 40))
  return { people, organizations, projects: { [Symbol.iterator]: () => demoProjects(options, people, organizations) } }
}

function demoPeople(random: Random, count: number): DemoPerson[] {
  const taken = new Set<string>()
  return Array.from({ length: count }, () => {
    const wanted = personName(random)
    let username = wanted
    // Names are compared without case.
    for (let n = 2; taken.has(username.toLowerCase()); n += 1) username = `${wanted}${n}`
    taken.add(username.toLowerCase())
    return { username, bio: random.pick(BIOS) }
  })
}

function demoOrganizations(random: Random, people: DemoPerson[], count: number): DemoOrganization[] {
  const taken = new Set<string>()
  const owned = new Map<string, number>()
  return Array.from({ length: count }, () => {
    const name = organizationName(random)
    const [owner, ...others] = random
      .sample(people.slice(0, 5000), random.integer(2, 6))
      .map((person) => person.username)
    const free =
      owner !== undefined && (owned.get(owner) ?? 0) < OWNED_ORGANIZATIONS_MAX ? owner : leastBusy(people, owned)
    owned.set(free, (owned.get(free) ?? 0) + 1)
    return {
      slug: takeSlug(name, taken),
      name,
      description: `${name} makes and looks after projects together.`,
      owner: free,
      members: others
        .filter((username) => username !== free)
        .map((username) => ({ username, role: random.pick(ROLES) })),
    }
  })
}

function leastBusy(people: DemoPerson[], owned: ReadonlyMap<string, number>): string {
  return people.toSorted((a, b) => (owned.get(a.username) ?? 0) - (owned.get(b.username) ?? 0))[0]?.username ?? ''
}

type Earlier = { slug: string; loaders: string[]; projectType: string }

function* demoProjects(
  options: DemoOptions,
  people: DemoPerson[],
  organizations: DemoOrganization[],
): Generator<DemoProject, void> {
  const { taxonomy, seed, until } = options
  const taken = new Set<string>()
  const owned = new Map<string, number>()
  const libraries: Earlier[] = []
  const mods: Earlier[] = []
  const types = taxonomy.projectTypes.filter((type) => chooseLoaders(createRandom(0), taxonomy, type, until).length > 0)
  if (types.length === 0) return
  for (let index = 0; index < options.projects; index += 1) {
    const random = createRandom(seed, index)
    const projectType = random.weighted(types, (type) => TYPE_WEIGHTS[type] ?? 1)
    const isLibrary = projectType === 'mod' && random.chance(0.06)
    const subject = projectName(random, projectType, isLibrary)
    const slug = takeSlug(subject.slugText, taken)
    // More of them are young: a service grows.
    const published = new Date(until.getTime() - Math.floor(random.next() ** 1.6 * YEARS * 365 * DAY_MS) - DAY_MS)
    const downloads = longTail(random, isLibrary ? 20 : 1)
    const dependencies = chooseDependencies(random, projectType, isLibrary, libraries, mods)
    const plan = { ...subject, projectType, slug, first: published, until, downloads, dependencies }
    const versions = demoVersions(random, taxonomy, plan)
    const project = {
      slug,
      name: subject.name,
      summary: demoSummary(random, subject, projectType),
      description: demoDescription(random, subject, slugsOf(dependencies, 'required')),
      projectType,
      status: random.weighted(STATUSES, ([, weight]) => weight)[0],
      ...chooseCategories(random, taxonomy, projectType, isLibrary),
      ...chooseLicense(random, slug),
      links: chooseLinks(random, taxonomy, slug),
      ...chooseTeam(random, people, organizations, owned),
      published,
      downloads,
      follows: Math.floor(downloads ** 0.72 * random.next() * 0.6),
      color: random.chance(0.85) ? random.integer(0, 0xffffff) : null,
      versions,
    }
    const earlier = { slug, loaders: versions.at(-1)?.loaders ?? [], projectType }
    if (isLibrary) libraries.push(earlier)
    else if (projectType === 'mod') mods.push(earlier)
    yield project
  }
}

const STATUSES: readonly (readonly [DemoProject['status'], number])[] = [
  ['approved', 94],
  ['archived', 3],
  ['unlisted', 2],
  ['processing', 1],
]

/** Most have a few hundred, a few have many millions. */
function longTail(random: Random, factor: number): number {
  return Math.min(150_000_000, Math.floor(factor * 120 * (1 - random.next()) ** (-1 / 0.62) * (0.5 + random.next())))
}

function slugsOf(dependencies: readonly DemoDependency[], kind: DemoDependency['kind']): string[] {
  return dependencies.filter((dependency) => dependency.kind === kind).map((dependency) => dependency.slug)
}

/** On earlier projects only, each once; packs hold many, and everybody leans on the same few libraries. */
function chooseDependencies(
  random: Random,
  projectType: string,
  isLibrary: boolean,
  libraries: readonly Earlier[],
  mods: readonly Earlier[],
): DemoDependency[] {
  const found = new Map<string, DemoDependency['kind']>()
  const favourite = () => libraries[Math.floor(random.next() ** 3 * libraries.length)]?.slug
  const add = (slug: string | undefined, kind: DemoDependency['kind']) => {
    if (slug !== undefined && !found.has(slug)) found.set(slug, kind)
  }
  if (projectType === 'modpack') {
    for (let n = random.integer(4, 25); n > 0 && mods.length > 0; n -= 1)
      add(mods[Math.floor(random.next() ** 2 * mods.length)]?.slug, random.chance(0.8) ? 'embedded' : 'required')
  } else if (projectType === 'mod' && random.chance(isLibrary ? 0.2 : 0.55)) {
    add(favourite(), 'required')
    if (random.chance(0.35)) add(favourite(), random.chance(0.6) ? 'required' : 'embedded')
    if (random.chance(0.25) && mods.length > 0)
      add(random.pick(mods).slug, random.chance(0.85) ? 'optional' : 'incompatible')
  }
  return Array.from(found, ([slug, kind]) => ({ slug, kind }))
}

function chooseCategories(random: Random, taxonomy: Taxonomy, projectType: string, isLibrary: boolean) {
  // A project type without categories of its own uses those of the first type that has some.
  const own = [...(taxonomy.categoriesByType.get(projectType)?.keys() ?? [])]
  const names =
    own.length > 0 ? own : [...(taxonomy.categoriesByType.get(taxonomy.projectTypes[0] ?? '')?.keys() ?? [])]
  const chosen = random.sample(names, random.integer(1, 3))
  if (isLibrary && names.includes('library')) chosen.splice(0, chosen.length, 'library')
  const rest = names.filter((name) => !chosen.includes(name))
  return { categories: chosen.sort(), additionalCategories: random.chance(0.3) ? random.sample(rest, 2).sort() : [] }
}

function chooseLicense(random: Random, slug: string) {
  const [licenseId] = random.weighted(LICENSES, ([, weight]) => weight)
  return { licenseId, licenseUrl: licenseId === 'LicenseRef-Custom' ? `https://example.org/${slug}/license` : null }
}

function chooseLinks(random: Random, taxonomy: Taxonomy, slug: string): Record<string, string> {
  const platforms = [...taxonomy.linkPlatforms.values()].filter(({ donation }) => random.chance(donation ? 0.06 : 0.35))
  return Object.fromEntries(platforms.map(({ name }) => [name, `https://${name}.example.org/${slug}`]))
}

/** An owner with few projects so far, sometimes by way of an organization, and now and then others. */
function chooseTeam(
  random: Random,
  people: readonly DemoPerson[],
  organizations: readonly DemoOrganization[],
  owned: Map<string, number>,
) {
  const organization = random.chance(0.12) && organizations.length > 0 ? random.pick(organizations) : undefined
  let at = Math.floor(random.next() ** 2 * people.length)
  const full = (username: string | undefined) => username !== undefined && (owned.get(username) ?? 0) >= OWNED_MAX
  for (let tries = 0; full(people[at]?.username) && tries < people.length; tries += 1) at = (at + 1) % people.length
  const alone = organization === undefined || full(organization.owner)
  const owner = (alone ? people[at]?.username : organization.owner) ?? ''
  owned.set(owner, (owned.get(owner) ?? 0) + 1)
  const others = random.chance(0.2)
    ? Array.from({ length: random.integer(1, 3) }, () => random.pick(people).username)
    : []
  const members = [...new Set(others)].filter((username) => username !== owner)
  return {
    owner,
    organization: alone ? null : organization.slug,
    members: members.map((username) => ({ username, role: random.pick(ROLES) })),
  }
}
