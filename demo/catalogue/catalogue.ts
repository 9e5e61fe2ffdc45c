// The demo catalogue: a pure, reproducible description of people, organizations and projects of an established service.
// `demo/seed` writes it to a database.

import { addSlug, projectName } from '#demo/catalogue/names.ts'
import {
  type DemoMember,
  type DemoOrganization,
  type DemoPerson,
  demoOrganizations,
  demoPeople,
  isPublishers,
  SIGN_INS,
} from '#demo/catalogue/people.ts'
import { createRandom, type Random } from '#demo/catalogue/random.ts'
import { demoDescription, demoSummary } from '#demo/catalogue/texts.ts'
import {
  chooseLoaders,
  type DatedDependency,
  type DemoDependency,
  type DemoVersion,
  demoVersions,
} from '#demo/catalogue/versions.ts'
import { LICENSES, ROLES, TYPE_WEIGHTS } from '#demo/catalogue/words.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'

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
  /** Link platform → URL. */
  links: Record<string, string>
  owner: string
  /** The team without its owner. */
  members: DemoMember[]
  /** Slug of the owning organization, whose owner is then also the `owner` of the project. */
  organization: string | null
  published: Date
  downloads: number
  follows: number
  hasIcon: boolean
  /** Number of images; the line `{picture}` in the description is replaced by the first one. */
  gallery: number
  /** Oldest first, at least one. */
  versions: DemoVersion[]
}

export type DemoCatalogue = {
  people: DemoPerson[]
  organizations: DemoOrganization[]
  /** Generated one by one, in an order in which dependencies only refer to earlier projects. */
  projects: Iterable<DemoProject>
}

export type DemoOptions = {
  taxonomy: Taxonomy
  /** Number of projects, 0 to 1,000,000. */
  projects: number
  seed: number
  /** Latest date in the catalogue. */
  until: Date
}

const PROJECTS_MAX = 1_000_000
// Below the quota of 256 projects per user.
const OWNED_MAX = 200
const PUBLISHERS_DOWNLOADS_MIN = 4000
const GALLERY_SIZES: readonly (readonly [number, number])[] = [
  [0, 55],
  [1, 15],
  [2, 12],
  [3, 10],
  [4, 8],
]
const YEARS = 9

/**
 * Returns the same catalogue for the same options. Of each project, only the slug stays in memory.
 * @throws RangeError if the number of projects is not 0 to 1,000,000.
 */
export function demoCatalogue(options: DemoOptions): DemoCatalogue {
  const { projects, seed } = options
  if (!Number.isInteger(projects) || projects < 0 || projects > PROJECTS_MAX)
    throw new RangeError(`the number of projects must be a whole number from 0 to ${PROJECTS_MAX}`)
  const people = demoPeople(createRandom(seed, -1), Math.max(8, Math.ceil(projects / 3)), options.until)
  const organizations = demoOrganizations(createRandom(seed, -2), people, Math.ceil(projects / 40), options.until)
  return { people, organizations, projects: { [Symbol.iterator]: () => demoProjects(options, people, organizations) } }
}

type Earlier = { slug: string; published: Date }

function* demoProjects(
  options: DemoOptions,
  people: DemoPerson[],
  organizations: DemoOrganization[],
): Generator<DemoProject, void> {
  const { taxonomy, seed, until } = options
  const taken = new Set<string>()
  const owned = new Map<string, number>()
  const libraries: Earlier[] = []
  const others = people.slice(SIGN_INS.length)
  const publisher = people[0]?.username ?? ''
  const mods: Earlier[] = []
  const types = taxonomy.projectTypes.filter((type) => chooseLoaders(createRandom(0), taxonomy, type, until).length > 0)
  if (types.length === 0) return
  for (let index = 0; index < options.projects; index += 1) {
    const random = createRandom(seed, index)
    const projectType = random.weighted(types, (type) => TYPE_WEIGHTS[type] ?? 1)
    const isLibrary = projectType === 'mod' && random.chance(0.06)
    const subject = projectName(random, projectType, isLibrary)
    const slug = addSlug(subject.slugText, taken)
    // Most projects are recent, because a service grows.
    const years = isPublishers(index) ? 2.5 : YEARS
    const published = new Date(until.getTime() - Math.floor(random.next() ** 1.6 * years * 365 * DAY_MS) - DAY_MS)
    const drawn = longTail(random, isLibrary ? 20 : 1)
    const downloads = isPublishers(index) ? Math.max(PUBLISHERS_DOWNLOADS_MIN, drawn) : drawn
    const dependencies = chooseDependencies(random, projectType, isLibrary, libraries, mods)
    const plan = { ...subject, projectType, slug, first: published, until, downloads, dependencies }
    const versions = demoVersions(random, taxonomy, plan)
    const project = {
      slug,
      name: subject.name,
      summary: demoSummary(random, subject, projectType),
      description: demoDescription(random, subject, { projectType, needs: slugsOf(dependencies, 'required') }),
      projectType,
      status: isPublishers(index) ? ('approved' as const) : random.weighted(STATUSES, ([, weight]) => weight)[0],
      ...chooseCategories(random, taxonomy, projectType, isLibrary),
      ...chooseLicense(random, slug),
      links: chooseLinks(random, taxonomy, slug),
      ...(isPublishers(index)
        ? publishersTeam(random, others, publisher)
        : chooseTeam(random, { people: others, organizations, owned, published })),
      published,
      downloads,
      follows: Math.floor(downloads ** 0.72 * random.next() * 0.6),
      hasIcon: isPublishers(index) || random.chance(0.92),
      gallery: isPublishers(index) ? 4 : random.weighted(GALLERY_SIZES, ([, weight]) => weight)[0],
      versions,
    }
    const earlier = { slug, published }
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

/** Returns a number of downloads: for most projects a few hundred, for a few many millions. */
function longTail(random: Random, factor: number): number {
  return Math.min(150_000_000, Math.floor(factor * 120 * (1 - random.next()) ** (-1 / 0.62) * (0.5 + random.next())))
}

function slugsOf(dependencies: readonly DemoDependency[], kind: DemoDependency['kind']): string[] {
  return dependencies.filter((dependency) => dependency.kind === kind).map((dependency) => dependency.slug)
}

/** Returns dependencies on earlier projects. Packs have many, and most projects depend on the same few libraries. */
function chooseDependencies(
  random: Random,
  projectType: string,
  isLibrary: boolean,
  libraries: readonly Earlier[],
  mods: readonly Earlier[],
): DatedDependency[] {
  const found = new Map<Earlier, DemoDependency['kind']>()
  const favourite = () => libraries[Math.floor(random.next() ** 3 * libraries.length)]
  const add = (earlier: Earlier | undefined, kind: DemoDependency['kind']) => {
    if (earlier !== undefined && !found.has(earlier)) found.set(earlier, kind)
  }
  if (projectType === 'modpack') {
    for (let n = random.integer(4, 25); n > 0 && mods.length > 0; n -= 1)
      add(mods[Math.floor(random.next() ** 2 * mods.length)], random.chance(0.8) ? 'embedded' : 'required')
  } else if (projectType === 'mod' && random.chance(isLibrary ? 0.2 : 0.55)) {
    add(favourite(), 'required')
    if (random.chance(0.35)) add(favourite(), random.chance(0.6) ? 'required' : 'embedded')
    if (random.chance(0.25) && mods.length > 0)
      add(random.pick(mods), random.chance(0.85) ? 'optional' : 'incompatible')
  }
  return Array.from(found, ([{ slug, published }, kind]) => ({ slug, kind, since: published }))
}

function chooseCategories(random: Random, taxonomy: Taxonomy, projectType: string, isLibrary: boolean) {
  // A project type without categories uses those of the first type that has some.
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

/** Chooses an owner with few projects, sometimes through an organization, and sometimes further members. */
function chooseTeam(
  random: Random,
  {
    people,
    organizations,
    owned,
    published,
  }: {
    people: readonly DemoPerson[]
    organizations: readonly DemoOrganization[]
    owned: Map<string, number>
    published: Date
  },
) {
  const organization = random.chance(0.12) && organizations.length > 0 ? random.pick(organizations) : undefined
  const isFree = ({ username, created }: DemoPerson) => created <= published && (owned.get(username) ?? 0) < OWNED_MAX
  let at = Math.floor(random.next() ** 2 * people.length)
  const isTaken = (person: DemoPerson | undefined): boolean => person === undefined || !isFree(person)
  for (let tries = 0; isTaken(people[at]) && tries < people.length; tries += 1) at = (at + 1) % people.length
  const isAlone =
    organization === undefined || organization.created > published || (owned.get(organization.owner) ?? 0) >= OWNED_MAX
  const owner = (isAlone ? people[at]?.username : organization.owner) ?? ''
  owned.set(owner, (owned.get(owner) ?? 0) + 1)
  return {
    owner,
    organization: isAlone ? null : organization.slug,
    members: chooseMembers(random, people, owner, random.chance(0.2) ? random.integer(1, 3) : 0),
  }
}

function publishersTeam(random: Random, people: readonly DemoPerson[], owner: string) {
  return { owner, organization: null, members: chooseMembers(random, people, owner, random.integer(0, 2)) }
}

function chooseMembers(random: Random, people: readonly DemoPerson[], owner: string, count: number): DemoMember[] {
  const chosen = new Set(Array.from({ length: count }, () => random.pick(people).username))
  chosen.delete(owner)
  return Array.from(chosen, (username) => ({ username, role: random.pick(ROLES) }))
}
