// Versions of demo projects: numbers, dates, channels, loaders and fields that match each other and the taxonomy.

import type { Random } from '#demo/catalogue/random.ts'
import { demoChangelog } from '#demo/catalogue/texts.ts'
import { LOADER_HABITS } from '#demo/catalogue/words.ts'
import { DAY_MS } from '#lib/time.ts'
import type { LoaderFieldValues } from '#platform/taxonomy/loader-fields.ts'
import { fieldsOf, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'

export type DemoChannel = 'release' | 'beta' | 'alpha'

export type DemoVersion = {
  name: string
  /** Unique number of the version within its project, 1 to 32 characters. */
  number: string
  channel: DemoChannel
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

export type VersionPlan = {
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
export function chooseLoaders(random: Random, taxonomy: Taxonomy, projectType: string, on: Date): string[] {
  const day = on.toISOString()
  const all = [...taxonomy.loaders.values()].filter((loader) => loader.project_types.includes(projectType))
  const inUse = all.filter(({ name }) => {
    const habit = LOADER_HABITS[name]
    return (habit?.since ?? '') <= day && day <= (habit?.until ?? '9')
  })
  const choices = inUse.length > 0 ? inUse : all
  if (choices.length === 0) return []
  const weight = ({ name }: { name: string }) => LOADER_HABITS[name]?.weight ?? 1
  const chosen = new Set([random.weighted(choices, weight).name])
  for (let more = random.weighted([0, 1, 2, 3], (n) => 6 - n * 1.8); more > 0; more -= 1)
    chosen.add(random.weighted(choices, weight).name)
  return [...chosen].sort()
}

/** Returns the versions, oldest first, at least one. Their downloads add up to those of the plan. */
export function demoVersions(random: Random, taxonomy: Taxonomy, plan: VersionPlan): DemoVersion[] {
  const span = plan.until.getTime() - plan.first.getTime()
  const wanted = Math.min(
    VERSIONS_MAX,
    1 + Math.floor(-Math.log(1 - random.next()) * 5),
    1 + Math.floor(span / (3 * DAY_MS)),
  )
  const dates = Array.from(
    { length: wanted - 1 },
    () => new Date(plan.first.getTime() + Math.floor(random.next() * span)),
  )
  dates.push(plan.first)
  dates.sort((a, b) => a.getTime() - b.getTime())
  const numbers = versionNumbers(random, wanted)
  const shares = downloadShares(random, wanted, plan.downloads)
  const environment = random.next()
  return dates.map((published, i) => {
    const loaders = chooseLoaders(random, taxonomy, plan.projectType, published)
    const fields = demoFields(random, taxonomy, loaders, published, environment)
    const number = numbers[i] ?? `${i + 1}`
    const channel: DemoChannel =
      i < wanted / 4 && random.chance(0.4) ? random.pick(['alpha', 'beta']) : random.chance(0.06) ? 'beta' : 'release'
    return {
      name: random.chance(0.5) ? `${plan.name} ${number}`.slice(0, 64) : number,
      number,
      channel,
      loaders,
      fields,
      changelog: i === 0 ? 'First public version.' : demoChangelog(random, plan),
      published,
      downloads: shares[i] ?? 0,
      featured: i === wanted - 1 && random.chance(0.3),
      fileName: `${plan.slug}-${number.replace(/[^A-Za-z0-9._+-]/g, '_')}.${extensionOf(plan.projectType)}`,
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

/** Returns a numbering scheme, which all versions of a project use. */
function versionNumbers(random: Random, count: number): string[] {
  const manner = random.integer(0, 5)
  let [major, minor, patch] = [random.chance(0.4) ? 0 : 1, 0, 0]
  const numbers: string[] = []
  for (let i = 0; i < count; i += 1) {
    if (i > 0) {
      const step = random.next()
      if (step < 0.05) [major, minor, patch] = [major + 1, 0, 0]
      else if (step < 0.4) [minor, patch] = [minor + 1, 0]
      else patch += 1
    }
    const plain = `${major}.${minor}.${patch}`
    numbers.push(
      [plain, plain, `v${plain}`, `${plain}+build.${i + 1}`, `r${i + 1}`, `${plain}-${'abcdef'.charAt(i % 6)}`][
        manner
      ] ?? plain,
    )
  }
  return numbers
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
    if (field === undefined || known.length === 0) continue
    if (name === 'game_versions') values[name] = gameVersions(random, taxonomy, on)
    // All versions of a project have the same environment, so it is drawn once.
    else if (field.type === 'enum') values[name] = known[Math.floor(environment * known.length)]?.value ?? ''
    else if (field.type === 'array_enum')
      values[name] = random.sample(known, Math.max(field.min ?? 0, 1)).map((row) => row.value)
  }
  return values
}

/** Returns the newest one to five releases of that day, or the oldest value if none was released yet. */
function gameVersions(random: Random, taxonomy: Taxonomy, on: Date): string[] {
  const day = on.toISOString()
  // The taxonomy lists the newest first.
  const out = [...(taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])]
  const releases = out.filter((row) => row.created <= day && (row.metadata?.type ?? 'release') === 'release')
  const start = random.weighted([0, 1, 3, 8], (back) => 10 - back)
  const from = Math.max(0, Math.min(start, releases.length - 1))
  const chosen = releases.slice(from, from + random.integer(1, 5)).map((row) => row.value)
  const oldest = out.at(-1)?.value
  return chosen.length > 0 || oldest === undefined ? chosen : [oldest]
}
