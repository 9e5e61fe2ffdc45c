// The breakdown of a metric: rows with names, in order, with the row "Other" and without rows that the search excludes.
import { listCountedVersions } from '#features/reading/analytics/queries.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'
import { tagName } from '#web/site/names.ts'
import { countryName } from '#web/ui/format.ts'
import type { Language } from '#web/ui/languages.ts'
import type { Amounts, Numbers } from './load-numbers.ts'
import { type Breakdown, isDerived } from './metrics.ts'
import { hrefOf, type Selection, type Sort, type Typed } from './selection.ts'
import type { Subject } from './subject.ts'

/** Maximum number of rows on the page. The CSV file contains all. */
const ROWS_MAX = 50

export type PartRow = Amounts & {
  /** Value in the API: the ID of a version or a project, the code of a country. */
  key: string
  name: string
  /** Path of the analytics of this part. */
  path?: string
}

export type Parts = {
  /** Every part with its name, largest first. */
  all: readonly PartRow[]
  /** Parts without a name: unknown values, countries below the minimum, deleted versions. */
  unnamed: Amounts
}

/** Names the parts. */
export async function nameParts(
  request: OwnRequest,
  subject: Subject,
  of: { numbers: Numbers; selection: Selection; typed: Typed },
): Promise<Parts> {
  const { deps, page } = request
  const { by, metric } = of.selection
  const { parts } = of.numbers
  const hasVersions = by === 'version' || isDerived(metric, by)
  const versions = hasVersions ? await listCountedVersions(deps.db, [...parts.keys()].filter(Boolean)) : []
  const named: PartRow[] = []
  if (isDerived(metric, by)) {
    for (const [name, amounts] of addByTrait(parts, versions, by === 'loader' ? 'loaders' : 'game_versions'))
      named.push({ key: name, name: by === 'loader' ? tagName(page.language, name) : name, ...amounts })
  } else if (by === 'version') {
    for (const { id, project_id, version_number } of versions) {
      const project = subject.project === undefined ? subject.projects.get(project_id)?.name : undefined
      const name = [project, version_number || page.language.t('work.version.draft')].filter(Boolean).join(' ')
      const path = hrefOf(subject.path, of.typed, { version: id, by: '' })
      named.push({ key: id, name, path, ...(parts.get(id) ?? NOTHING) })
    }
  } else if (by !== undefined) {
    for (const [key, amounts] of parts)
      if (key !== '') named.push({ ...toRow(page.language, subject, { by, key, typed: of.typed }), ...amounts })
  }
  const known = new Set(versions.map(({ id }) => id))
  const unnamed = [...parts].filter(([key]) => (hasVersions ? !known.has(key) : key === ''))
  return { all: sortRows(named, '-value', page.language), unnamed: sumUp(unnamed.map(([, amounts]) => amounts)) }
}

const NOTHING: Amounts = { now: 0, before: 0 }

function toRow(
  language: Language,
  { projects }: Subject,
  { by, key, typed }: { by: Breakdown; key: string; typed: Typed },
): Pick<PartRow, 'key' | 'name' | 'path'> {
  const project = by === 'project' ? projects.get(key) : undefined
  if (project !== undefined) {
    const path = hrefOf(`${projectPath(project)}/settings/analytics`, typed, { by: '', project: '' })
    return { key, name: project.name, path }
  }
  if (by === 'country') return { key, name: countryName(language, key) }
  return { key, name: by === 'loader' ? tagName(language, key) : key }
}

type Version = Awaited<ReturnType<typeof listCountedVersions>>[number]

/** Adds the amounts of versions to each of their loaders or game versions. */
function addByTrait(
  parts: Numbers['parts'],
  versions: readonly Version[],
  trait: 'loaders' | 'game_versions',
): Map<string, Amounts> {
  const sums = new Map<string, Amounts>()
  for (const version of versions)
    for (const name of version[trait])
      sums.set(name, sumUp([sums.get(name) ?? NOTHING, parts.get(version.id) ?? NOTHING]))
  return sums
}

export type Listed = {
  rows: readonly PartRow[]
  /** Everything that the rows do not contain; undefined during a search. */
  other: Amounts | undefined
  /** Number of parts that the search finds. */
  found: number
}

/** Returns the rows of the page: the largest parts that the search finds, in the chosen order. */
export function listParts(language: Language, { all, unnamed }: Parts, { search, sort }: Selection): Listed {
  const wanted = search.toLocaleLowerCase(language.tag)
  const found = all.filter(({ name }) => name.toLocaleLowerCase(language.tag).includes(wanted))
  const shown = found.slice(0, ROWS_MAX)
  const rest = sumUp([...found.slice(ROWS_MAX), unnamed])
  const hasOther = search === '' && (rest.now > 0 || rest.before > 0)
  return { rows: sortRows(shown, sort, language), other: hasOther ? rest : undefined, found: found.length }
}

const sumUp = (amounts: readonly Amounts[]): Amounts => ({
  now: amounts.reduce((sum, { now }) => sum + now, 0),
  before: amounts.reduce((sum, { before }) => sum + before, 0),
})

function sortRows(rows: readonly PartRow[], sort: Sort, { tag }: Language): PartRow[] {
  const names = new Intl.Collator(tag, { numeric: true })
  const compare = {
    value: (a: PartRow, b: PartRow) => a.now - b.now,
    change: (a: PartRow, b: PartRow) => a.now - a.before - (b.now - b.before),
    name: (a: PartRow, b: PartRow) => names.compare(a.name, b.name),
  }[sort.replace('-', '') as 'value' | 'change' | 'name']
  const sign = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => sign * compare(a, b) || names.compare(a.name, b.name) || (a.key < b.key ? -1 : 1))
}
