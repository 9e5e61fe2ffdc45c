// Versions of demo projects: numbers, dates, channels, loaders and fields that match each other and the taxonomy.

import type { Random } from '#demo/catalogue/random.ts'
import { demoChangelog, demoFirstChangelog } from '#demo/catalogue/texts.ts'
import { LOADER_HABITS, PACK_LOADERS } from '#demo/catalogue/words.ts'
import { DAY_MS } from '#lib/time.ts'
import type { LoaderFieldValues } from '#taxonomy/loader-fields.ts'
import type { EnumValueRow } from '#taxonomy/tag-lists.ts'
import { fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'

export type DemoVersion = {
  name: string
  /** Unique number of the version within its project, 1 to 32 characters. */
  number: string
  channel: 'release' | 'beta' | 'alpha'
  loaders: string[]
  fields: LoaderFieldValues
  changelog: string
  published: Date
  downloads: number
  featured: boolean
  fileName: string
  dependencies: DemoDependency[]
}

export type DemoDependency = { slug: string; kind: 'required' | 'optional' | 'incompatible' | 'embedded' }
/** Dependencies with the publication date of the other project: no earlier version depends on it. */
export type DatedDependency = DemoDependency & { since: Date }

type VersionPlan = {
  projectType: string
  slug: string
  name: string
  theme: string
  first: Date
  until: Date
  downloads: number
  dependencies: DatedDependency[]
}

const VERSIONS_MAX = 30

/** Returns loaders of a project type that were in use on that day: the usual one, or several. */
function chooseLoaders(random: Random, taxonomy: Taxonomy, projectType: string, on: Date): string[] {
  const day = on.toISOString()
  const weights: Record<string, number> = {}
  for (const { name, project_types } of taxonomy.loaders.values()) {
    const { weight = 1, since = '', until = '9' } = LOADER_HABITS[name] ?? {}
    // If no loader was in use, each has the same chance.
    if (project_types.includes(projectType)) weights[name] = since <= day && day <= until ? weight : 1e-9
  }
  const count = 1 + Math.floor(4 * random.next() ** 1.7)
  return [...new Set(Array.from({ length: count }, () => random.weighted(weights)))].sort()
}

/** Returns the versions, oldest first, at least one. Their downloads add up to those of the plan. */
export function demoVersions(random: Random, taxonomy: Taxonomy, plan: VersionPlan): DemoVersion[] {
  const span = plan.until.getTime() - plan.first.getTime()
  const wanted = Math.min(
    VERSIONS_MAX,
    1 + Math.floor(-Math.log(1 - random.next()) * 5),
    1 + Math.floor(span / (3 * DAY_MS)),
  )
  const later = Array.from({ length: wanted - 1 }, () => plan.first.getTime() + Math.floor(random.next() * span))
  const dates = [plan.first, ...later.sort((a, b) => a - b).map((time) => new Date(time))]
  const numbers = versionNumbers(random, wanted)
  const shares = downloadShares(random, wanted, plan.downloads)
  const environment = random.next()
  return dates.map((published, i) => {
    const loaders = chooseLoaders(random, taxonomy, plan.projectType, published)
    const fields = demoFields(random, taxonomy, loaders, published, environment)
    const number = numbers[i] ?? `${i + 1}`
    const isEarly = i < wanted / 4 && random.chance(0.4)
    return {
      name: random.chance(0.5) ? `${plan.name} ${number}`.slice(0, 64) : number,
      number,
      channel: isEarly ? random.pick(['alpha', 'beta']) : 'release',
      loaders,
      fields,
      changelog: i === 0 ? demoFirstChangelog(random, plan) : demoChangelog(random, plan),
      published,
      downloads: shares[i] ?? 0,
      featured: i === wanted - 1 && random.chance(0.3),
      fileName: `${plan.slug}-${number}.${extensionOf(plan.projectType)}`,
      dependencies: plan.dependencies
        .filter(({ since }) => since <= published)
        .map(({ slug, kind }) => ({ slug, kind })),
    }
  })
}

function extensionOf(projectType: string): string {
  if (projectType === 'modpack') return 'mrpack'
  return projectType === 'mod' || projectType === 'plugin' ? 'jar' : 'zip'
}

/** Returns numbers of one scheme, which all versions of a project use. */
function versionNumbers(random: Random, count: number): string[] {
  const scheme = random.pick(['*', '*', 'v*', '*+build.#', 'r#'])
  let [major, minor, patch] = [random.chance(0.4) ? 0 : 1, 0, 0]
  return Array.from({ length: count }, (_, i) => {
    const step = i === 0 ? 1 : random.next()
    if (step < 0.05) [major, minor, patch] = [major + 1, 0, 0]
    else if (step < 0.4) [minor, patch] = [minor + 1, 0]
    else if (i > 0) patch += 1
    return scheme.replace('*', `${major}.${minor}.${patch}`).replace('#', String(i + 1))
  })
}

/** Distributes downloads: newer versions get more, with noise, and the last version gets the rest. */
function downloadShares(random: Random, count: number, total: number): number[] {
  const weights = Array.from({ length: count }, (_, i) => (i + 1) ** 1.5 * (0.2 + random.next()))
  const sum = weights.reduce((a, b) => a + b, 0)
  const shares = weights.map((weight) => Math.floor((total * weight) / sum))
  const last = shares.length - 1
  shares[last] = (shares[last] ?? 0) + total - shares.reduce((a, b) => a + b, 0)
  return shares
}

function demoFields(
  random: Random,
  taxonomy: Taxonomy,
  loaders: readonly string[],
  on: Date,
  environment: number,
): LoaderFieldValues {
  const values: LoaderFieldValues = {}
  for (const name of fieldsOf(taxonomy, loaders)) {
    const field = taxonomy.fields.get(name)
    const known = [...(field?.enumValues?.values() ?? [])]
    if (name === 'game_versions') values[name] = gameVersions(random, known, on)
    // All versions of a project have the same environment, so it is drawn once.
    else if (field?.type === 'enum') values[name] = known[Math.floor(environment * known.length)]?.value ?? ''
    else if (field?.type === 'array_enum')
      values[name] = [random.pick(name === 'mrpack_loaders' ? packable(known) : known).value]
  }
  return values
}

/** Returns the loaders that the index of a pack can name. */
function packable(known: readonly EnumValueRow[]): readonly EnumValueRow[] {
  const loaders = known.filter(({ value }) => value in PACK_LOADERS)
  return loaders.length > 0 ? loaders : known
}

/** Returns one to five of the newest releases of that day. `known` is ordered, newest first. */
function gameVersions(random: Random, known: readonly EnumValueRow[], on: Date): string[] {
  const day = on.toISOString()
  const releases = known.filter(
    ({ created, metadata }) => created <= day && (metadata?.type ?? 'release') === 'release',
  )
  const from = Math.min(random.pick([0, 1, 3]), Math.max(0, releases.length - 1))
  const chosen = releases.slice(from, from + random.integer(1, 5))
  return (chosen.length > 0 ? chosen : known.slice(-1)).map(({ value }) => value)
}
