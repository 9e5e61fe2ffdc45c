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
import { type DatedDependency, type DemoDependency, type DemoVersion, demoVersions } from '#demo/catalogue/versions.ts'
import { LICENSES, ROLES, TYPE_WEIGHTS } from '#demo/catalogue/words.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

/** Probability of each status. Mods are public or unlisted, because other projects depend on them. */
const STATUSES = { approved: 77, archived: 3, unlisted: 2, processing: 11, draft: 5, rejected: 2 }
const PUBLIC = { ...STATUSES, processing: 0, draft: 0, rejected: 0 }
/** Projects with a fixed status, by index, so that even a small demo has a project in every state. */
const FIXED_STATUSES: ReadonlyMap<number, DemoStatus> = new Map<number, DemoStatus>([
  [3, 'draft'],
  [6, 'processing'],
  [9, 'rejected'],
  [12, 'scheduled'],
  [15, 'withheld'],
  [18, 'private'],
  [21, 'unlisted'],
  [24, 'archived'],
])
type DemoStatus = keyof typeof STATUSES | 'scheduled' | 'withheld' | 'private'
/** Statuses of projects that were never public. */
const NEW_STATUSES: ReadonlySet<DemoStatus> = new Set(['draft', 'processing', 'rejected', 'scheduled'])
/** Hidden projects of the publisher, who sees the next step of each. */
const PUBLISHERS_STATUSES: ReadonlySet<DemoStatus> = new Set(['draft', 'rejected', 'scheduled'])
/** Type of projects with a fixed status that would be mods: others depend on mods. */
const FIXED_TYPE = 'resourcepack'

export type DemoProject = {
  slug: string
  name: string
  summary: string
  /** Markdown. */
  description: string
  projectType: string
  status: DemoStatus
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
  /** Whether everyone sees the statistics: only if there are events for all downloads of the last months. */
  hasPublicStatistics: boolean
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

export const PROJECTS_MAX = 1_000_000
// Below the quota of 256 projects per user.
const OWNED_MAX = 200
const PUBLISHERS_DOWNLOADS = { least: 4000, more: 9000 }
/**
 * Number of projects for which the demo has an event per download. Their downloads are limited, so that these are not too
 * many. Later projects are for tests of large catalogues.
 */
const DETAILED = 200
const DETAILED_DOWNLOADS_MAX = 40_000
/** Number of people who are considered as the owner of a project. */
const OWNER_DRAWS = 6
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
  { taxonomy, seed, until, projects }: DemoOptions,
  people: DemoPerson[],
  organizations: DemoOrganization[],
): Generator<DemoProject, void> {
  const taken = new Set<string>()
  const owned = new Map<string, number>()
  const libraries: Earlier[] = []
  const mods: Earlier[] = []
  const others = people.slice(SIGN_INS.length)
  const publisher = people[0]?.username
  const types = [...taxonomy.loaders.values()].flatMap((loader) => loader.project_types)
  const typeWeights = Object.fromEntries(types.map((type) => [type, TYPE_WEIGHTS[type] ?? 1]))
  for (let index = 0; index < projects; index += 1) {
    const random = createRandom(seed, index)
    const isOwn = isPublishers(index)
    const fixed = FIXED_STATUSES.get(index)
    const drawnType = random.weighted(typeWeights)
    const projectType = fixed !== undefined && drawnType === 'mod' ? FIXED_TYPE : drawnType
    const isLibrary = projectType === 'mod' && random.chance(0.06)
    const subject = projectName(random, projectType, isLibrary)
    const slug = addSlug(subject.slugText, taken)
    const drawnStatus = random.weighted(projectType === 'mod' ? PUBLIC : STATUSES)
    const status: DemoStatus = fixed ?? (isOwn ? 'approved' : drawnStatus)
    const isNew = NEW_STATUSES.has(status)
    const isPublisher = isOwn || (fixed !== undefined && PUBLISHERS_STATUSES.has(fixed))
    // Most projects are recent, because a service grows. Those of the publisher have months of events.
    const years = isOwn ? 0.5 + 2 * random.next() : YEARS * random.next() ** 1.6
    const age = Math.floor(years * 365 * DAY_MS) + DAY_MS
    const published = new Date(until.getTime() - (isNew ? random.integer(1, 71) * HOUR_MS : age))
    const drawn = isNew ? 0 : longTail(random, isLibrary ? 20 : 1)
    const least = isOwn ? PUBLISHERS_DOWNLOADS.least + Math.floor(PUBLISHERS_DOWNLOADS.more * random.next()) : 0
    const isDetailed = index < DETAILED
    const most = isDetailed
      ? Math.floor(DETAILED_DOWNLOADS_MAX * (0.4 + 0.6 * random.next()))
      : Number.POSITIVE_INFINITY
    const downloads = Math.max(least, Math.min(most, drawn))
    const dependencies = chooseDependencies(random, projectType, isLibrary, libraries, mods)
    const needs = dependencies.filter(({ kind }) => kind === 'required').map((dependency) => dependency.slug)
    const plan = { ...subject, projectType, slug, first: published, until, downloads, dependencies }
    const versions = demoVersions(random, taxonomy, plan)
    yield {
      slug,
      name: subject.name,
      summary: demoSummary(random, subject, projectType),
      description: demoDescription(random, subject, { projectType, needs }),
      projectType,
      status,
      ...chooseCategories(random, taxonomy, projectType, isLibrary),
      ...chooseLicense(random, slug),
      links: chooseLinks(random, taxonomy, slug),
      ...chooseTeam(random, {
        others,
        organizations,
        owned,
        published,
        publisher: isPublisher ? publisher : undefined,
      }),
      published,
      downloads,
      hasPublicStatistics: isDetailed,
      follows: Math.floor(downloads ** 0.72 * random.next() * 0.6),
      hasIcon: isOwn || random.chance(0.92),
      // Half of the projects have no image.
      gallery: isOwn ? 4 : Math.floor(5 * random.next() ** 2.5),
      versions,
    }
    if (projectType === 'mod') (isLibrary ? libraries : mods).push({ slug, published })
  }
}

/** Returns a number of downloads: for most projects a few hundred, for a few many millions. */
function longTail(random: Random, factor: number): number {
  return Math.min(150_000_000, Math.floor(factor * 120 * (1 - random.next()) ** (-1 / 0.62) * (0.5 + random.next())))
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
  const namesOf = (type = '') => [...(taxonomy.categoriesByType.get(type)?.keys() ?? [])]
  // A project type without categories uses those of the first type.
  const names = namesOf(namesOf(projectType).length > 0 ? projectType : taxonomy.projectTypes[0])
  const chosen = random.sample(names, random.integer(1, 3))
  if (isLibrary && names.includes('library')) chosen.splice(0, chosen.length, 'library')
  const rest = names.filter((name) => !chosen.includes(name))
  return { categories: chosen.sort(), additionalCategories: random.chance(0.3) ? random.sample(rest, 2).sort() : [] }
}

function chooseLicense(random: Random, slug: string) {
  const licenseId = random.weighted(LICENSES)
  return { licenseId, licenseUrl: licenseId === 'LicenseRef-Custom' ? `https://example.org/${slug}/license` : null }
}

function chooseLinks(random: Random, taxonomy: Taxonomy, slug: string): Record<string, string> {
  const platforms = [...taxonomy.linkPlatforms.values()].filter(({ donation }) => random.chance(donation ? 0.06 : 0.35))
  return Object.fromEntries(platforms.map(({ name }) => [name, `https://${name}.example.org/${slug}`]))
}

type TeamPlan = {
  /** Everyone except the accounts with sign-ins. */
  others: readonly DemoPerson[]
  organizations: readonly DemoOrganization[]
  /** Number of projects by username. */
  owned: Map<string, number>
  published: Date
  /** Name of the account that owns the project without an organization; undefined for any of the others. */
  publisher: string | undefined
}

/** Chooses an owner with few projects, sometimes through an organization, and sometimes further members. */
function chooseTeam(random: Random, { others, organizations, owned, published, publisher }: TeamPlan) {
  const hasRoom = (username: string): boolean => (owned.get(username) ?? 0) < OWNED_MAX
  const drawn = random.chance(0.12) && publisher === undefined ? random.pick(organizations) : undefined
  const organization = drawn !== undefined && drawn.created <= published && hasRoom(drawn.owner) ? drawn : undefined
  const isFree = (person: DemoPerson | undefined): person is DemoPerson =>
    person !== undefined && person.created <= published && hasRoom(person.username)
  const candidates = Array.from({ length: OWNER_DRAWS }, () => random.pick(others)).filter(isFree)
  // The projects are spread across their authors: of several people, the one with the fewest projects gets it.
  const [drawnOwner] = candidates.toSorted((a, b) => (owned.get(a.username) ?? 0) - (owned.get(b.username) ?? 0))
  const person = drawnOwner ?? others.find(isFree)
  const owner = publisher ?? organization?.owner ?? person?.username ?? ''
  owned.set(owner, (owned.get(owner) ?? 0) + 1)
  const count = random.chance(0.2) ? random.integer(1, 3) : 0
  const usernames = new Set(Array.from({ length: count }, () => random.pick(others).username))
  usernames.delete(owner)
  const members = Array.from(usernames, (username): DemoMember => ({ username, role: random.pick(ROLES) }))
  return { owner, organization: organization?.slug ?? null, members }
}
