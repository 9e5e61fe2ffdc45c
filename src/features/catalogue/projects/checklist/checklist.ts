// The checklist of a project before its review: required and recommended items. The pages of a draft show it, and the
// command that submits a project checks it.
import { sql } from 'kysely'
import { invalidInput } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import type { ProjectRow } from '../queries.ts'

/** The values of a project that the list depends on. */
type ChecklistFacts = Pick<
  ProjectRow,
  'summary' | 'description' | 'license' | 'license_decided' | 'icon_url' | 'categories' | 'link_urls'
> & { hasListedVersion: boolean; hasImages: boolean }

/** `needed`: a project cannot be submitted without it. */
export const WEIGHTS = ['needed', 'advised'] as const

type Rule = {
  id: string
  weight: (typeof WEIGHTS)[number]
  /** Field of the project to change. */
  field: string
  /** The missing thing, after "A project needs"; only for `needed`. */
  noun?: string
  /** Projects that the rule applies to. Default: all. */
  applies?: (facts: ChecklistFacts) => boolean
  isDone: (facts: ChecklistFacts) => boolean
}

const DESCRIPTION_LENGTH_ADVISED = 200
/** Markdown headings and images, and their HTML elements. */
const STRUCTURES = [/^[ \t]{0,3}#{1,6}\s/m, /^.+\r?\n[ \t]{0,3}(?:=+|-{2,})[ \t]*$/m, /!\[|<h[1-6]\b|<img\b/i]
/** Licences whose terms require that users can get the source code. */
const REQUIRES_SOURCE = /\b(?:A|L)?GPL-|\bMPL-|\bEUPL-|\bOSL-|\bCDDL-|\bEPL-/

const RULES: readonly Rule[] = [
  {
    id: 'summary',
    weight: 'needed',
    field: 'summary',
    noun: 'a summary',
    isDone: ({ summary }) => summary.trim() !== '',
  },
  {
    id: 'license',
    weight: 'needed',
    field: 'license_id',
    noun: 'a license',
    isDone: ({ license, license_decided }) => license !== '' && license_decided,
  },
  { id: 'icon', weight: 'advised', field: 'icon', isDone: ({ icon_url }) => icon_url !== null },
  {
    id: 'description',
    weight: 'needed',
    field: 'description',
    noun: 'a description',
    isDone: ({ description }) => description.trim() !== '',
  },
  {
    id: 'description_length',
    weight: 'advised',
    field: 'description',
    isDone: ({ description }) => description.trim().length >= DESCRIPTION_LENGTH_ADVISED,
  },
  {
    id: 'description_structure',
    weight: 'advised',
    field: 'description',
    isDone: ({ description }) => STRUCTURES.some((structure) => structure.test(description)),
  },
  { id: 'gallery', weight: 'advised', field: 'gallery', isDone: ({ hasImages }) => hasImages },
  {
    id: 'version',
    weight: 'needed',
    field: 'versions',
    noun: 'a listed version',
    isDone: ({ hasListedVersion }) => hasListedVersion,
  },
  { id: 'category', weight: 'advised', field: 'categories', isDone: ({ categories }) => categories.length > 0 },
  {
    id: 'source',
    weight: 'advised',
    field: 'link_urls',
    applies: ({ license }) => REQUIRES_SOURCE.test(license),
    isDone: ({ link_urls }) => (link_urls as Record<string, string>)['source'] !== undefined,
  },
]

export type ChecklistItem = { id: string; weight: Rule['weight']; field: string; done: boolean }

export function checklistOf(facts: ChecklistFacts): ChecklistItem[] {
  return RULES.filter(({ applies = () => true }) => applies(facts)).map(({ id, weight, field, isDone }) => ({
    id,
    weight,
    field,
    done: isDone(facts),
  }))
}

/** @throws ApiError `invalid_input` naming the first field of a needed item that is not done. */
export function requireComplete(facts: ChecklistFacts): void {
  const missing = RULES.find(({ weight, isDone }) => weight === 'needed' && !isDone(facts))
  if (missing === undefined) return
  throw invalidInput(`A project needs ${missing.noun} before it can be reviewed`, missing.field)
}

/** SQL condition: whether `project` has a listed version, or one that will be listed after the scan of its files. */
const hasListedVersion = sql<boolean>`exists (select 1 from version where version.project_id = project.id
  and is_listed(case version.status when 'unknown' then version.requested_status else version.status end))`
const hasImages = sql<boolean>`exists (select 1 from gallery_item where gallery_item.project_id = project.id)`

/** Returns the facts of the projects with these IDs, by ID, with one statement. */
export async function listChecklistFacts(db: Db, ids: readonly string[]): Promise<Map<string, ChecklistFacts>> {
  const rows = await db
    .selectFrom('project')
    .select(['id', 'summary', 'description', 'license', 'license_decided', 'icon_url', 'categories', 'link_urls'])
    .select([hasListedVersion.as('hasListedVersion'), hasImages.as('hasImages')])
    .where(sql<boolean>`project.id = any(${[...ids]}::text[])`)
    .execute()
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}
