// The items that need the attention of a publisher, with a constant number of statements.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { checklistOf, listChecklistFacts } from '#features/catalogue/projects/checklist/checklist.ts'
import {
  type CachedProject,
  listVisibleProjects,
  projectForm,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { DAY_MS } from '#lib/time.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Deps } from '#ports/deps.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { ATTENTION_KINDS, isDismissible } from './kinds.ts'
import { type AttentionRow, deleteDismissal, listAttentionRows, upsertDismissal } from './queries.ts'
import type { AttentionItem } from './views.ts'

type AttentionDeps = Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'config' | 'now'>

const UNSUPPORTED_DAYS = 30
const DISMISSED_DAYS = 30

const NAMED: DerivedForm<CachedProject, NonNullable<AttentionItem['project']>> = {
  derive: (project) => {
    const { id, slug, name, project_types } = viewOf(project)
    return { id, slug, name, project_types }
  },
  sizeOf: ({ name }) => 400 + name.length,
}

/** Returns the viewer's items, most urgent first. Runs at most four statements. */
export async function listAttention(deps: AttentionDeps, viewer: Viewer): Promise<AttentionItem[]> {
  const now = deps.now()
  const gameVersions = expectedReleases(deps.taxonomy, now)
  const rows = await listAttentionRows(deps.db, viewer.id, { now: new Date(now), gameVersions })
  const ids = [...new Set(rows.flatMap(({ project_id }) => project_id ?? []))]
  const projects = ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)
  const views = new Map(projects.map((project) => [project.id, projectForm(deps, project, NAMED)]))
  const drafts = rows.flatMap(({ kind, project_id }) => (kind === 'incomplete_draft' ? (project_id ?? []) : []))
  const facts = drafts.length === 0 ? new Map() : await listChecklistFacts(deps.db, drafts)
  const items = rows.map((row) => {
    const known = facts.get(row.project_id ?? '')
    const missing =
      known === undefined ? [] : checklistOf(known).filter(({ weight, done }) => weight === 'needed' && !done)
    return toItem(row, {
      view: views.get(row.project_id ?? '') ?? null,
      missing: row.kind === 'incomplete_draft' ? missing.map(({ id }) => id) : [],
      gameVersion: gameVersions[0],
    })
  })
  return items.sort((a, b) => ATTENTION_KINDS.indexOf(a.kind) - ATTENTION_KINDS.indexOf(b.kind))
}

function toItem(
  row: AttentionRow,
  {
    view,
    missing,
    gameVersion,
  }: { view: AttentionItem['project']; missing: string[]; gameVersion: string | undefined },
): AttentionItem {
  const { kind, version_id, version_number, organization_id, team_id, report_id } = row
  const subject = version_id ?? report_id ?? organization_id ?? row.project_id ?? ''
  return {
    id: `${kind}:${isDismissible(kind) ? row.project_id : subject}`,
    kind,
    time: row.at.toISOString(),
    quote: kind === 'unsupported_game_version' ? (gameVersion ?? null) : row.quote,
    project: view,
    version: version_id === null || version_number === null ? null : { id: version_id, version_number },
    organization_id,
    team_id,
    report_id,
    missing,
    dismissible: isDismissible(kind),
  }
}

/** Returns the latest release of the game that is at least 30 days old, then the newer ones; none without releases. */
function expectedReleases(taxonomy: Taxonomy, nowMs: number): string[] {
  const values = taxonomy.fields.get('game_versions')?.enumValues?.values() ?? []
  const releases = [...values]
    .filter(({ metadata }) => metadata?.type === 'release')
    .map(({ value, created }) => ({ value, created: Date.parse(created) }))
    .sort((a, b) => a.created - b.created)
  const latest = releases.findLastIndex(({ created }) => created <= nowMs - UNSUPPORTED_DAYS * DAY_MS)
  return latest < 0 ? [] : releases.slice(latest).map(({ value }) => value)
}

/** Hides an item for 30 days. Returns when it is shown again. @throws ApiError 404 if the viewer cannot see the project */
export async function dismissItem(
  deps: AttentionDeps,
  viewer: Viewer,
  { kind, projectId }: { kind: string; projectId: string },
): Promise<Date> {
  const until = new Date(deps.now() + DISMISSED_DAYS * DAY_MS)
  await upsertDismissal(deps.db, { accountId: viewer.id, kind, projectId, until })
  return until
}

/** Shows a dismissed item again. */
export function restoreItem(
  { db }: Pick<Deps, 'db'>,
  viewer: Viewer,
  { kind, projectId }: { kind: string; projectId: string },
): Promise<void> {
  return deleteDismissal(db, viewer.id, kind, projectId)
}
