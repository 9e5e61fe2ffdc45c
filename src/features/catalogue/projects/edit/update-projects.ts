// Edits the categories and links of several projects in one transaction.
import { sql } from 'kysely'
import { listMemberships } from '#features/basics/access/memberships.ts'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import { canSeeProject, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudits } from '#features/basics/audit/record-audit.ts'
import { projectEvent, recordEvents } from '#features/basics/events/record-event.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { checkCategories, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { ADDITIONAL_CATEGORIES_MAX, applyLinkChanges, CATEGORIES_MAX } from '../fields.ts'
import { lockProjects, type ProjectRow } from '../queries.ts'
import type { ProjectBulkPatch } from './requests.ts'

type Edit = Pick<ProjectRow, 'id' | 'categories' | 'additional_categories'> & { link_urls: Record<string, string> }

/**
 * Applies one patch to all these projects, with five statements for any number. Sets `updated` only of changed ones.
 * @throws ApiError 404, 403, `validation_error` for an unknown name or too many categories; nothing is saved.
 */
export async function updateProjects(
  deps: Pick<Deps, 'db' | 'cache' | 'taxonomy' | 'now'>,
  viewer: Viewer,
  { ids, patch }: { ids: readonly string[]; patch: ProjectBulkPatch },
): Promise<void> {
  checkPatch(deps.taxonomy, patch)
  if (ids.length === 0) return
  await transaction(deps, async (tx, changed) => {
    const projects = await lockEditable(tx, viewer, ids)
    const edits = editsOf(deps.taxonomy, projects, patch)
    if (edits.length === 0) return
    await sql`update project set categories = edit.categories, additional_categories = edit.additional_categories,
        link_urls = edit.link_urls, updated = ${new Date(deps.now())}
      from jsonb_to_recordset(${JSON.stringify(edits)}::jsonb)
        as edit (id text, categories text[], additional_categories text[], link_urls jsonb)
      where project.id = edit.id`.execute(tx)
    const fields = Object.keys(patch)
    const events = edits.map(({ id }) => projectEvent('project.updated', id, { fields }))
    await recordEvents(tx, events)
    const action = 'project.changed' as const
    const actor = actorOf(viewer)
    await recordAudits(
      tx,
      edits.map(({ id }) => ({ action, actor, subject: { kind: 'project', id }, details: { fields } })),
    )
    changed.add('project', ...edits.map(({ id }) => id))
  })
}

type Values = { categories: readonly string[]; link_urls: Readonly<Record<string, string>> }

/** The categories and links of a project before and after a patch. */
export type ProjectChange = { id: string; name: string; before: Values; after: Values }

/** Returns what `updateProjects` would change, without changing it. @throws ApiError like `updateProjects`. */
export async function planUpdates(
  deps: Pick<Deps, 'db' | 'taxonomy'>,
  viewer: Viewer,
  { ids, patch }: { ids: readonly string[]; patch: ProjectBulkPatch },
): Promise<ProjectChange[]> {
  checkPatch(deps.taxonomy, patch)
  if (ids.length === 0) return []
  const projects = await deps.db.transaction().execute((tx) => lockEditable(tx, viewer, ids))
  const byId = new Map(projects.map((project) => [project.id, project]))
  return editsOf(deps.taxonomy, projects, patch).flatMap(({ id, categories, link_urls }) => {
    const project = byId.get(id)
    if (project === undefined) return []
    const before = { categories: project.categories, link_urls: project.link_urls as Record<string, string> }
    return [{ id, name: project.name, before, after: { categories, link_urls } }]
  })
}

function editsOf(taxonomy: Taxonomy, projects: readonly ProjectRow[], patch: ProjectBulkPatch): Edit[] {
  checkRemovals(taxonomy, projects, patch)
  return projects.flatMap((project) => editOf(taxonomy, project, patch) ?? [])
}

/** Checks everything that does not depend on the projects. */
function checkPatch(taxonomy: Taxonomy, patch: ProjectBulkPatch): void {
  for (const field of ['categories', 'add_categories', 'additional_categories', 'add_additional_categories'] as const)
    checkCategories(taxonomy, patch[field] ?? [], field)
  applyLinkChanges({}, patch.link_urls ?? {}, taxonomy)
}

async function lockEditable(tx: Tx, viewer: Viewer, ids: readonly string[]): Promise<ProjectRow[]> {
  const rows = new Map((await lockProjects(tx, ids)).map((project) => [project.id, project]))
  const memberships = await listMemberships(tx, viewer, ids)
  const projects = ids.map((id) => {
    const project = rows.get(id)
    if (project === undefined || !canSeeProject(viewer, project, memberships.get(id) ?? {}))
      throw notFound(`project ${id}`)
    return project
  })
  for (const { id } of projects) requirePermission(viewer, memberships.get(id) ?? {}, 'EDIT_DETAILS')
  for (const project of projects) requireNotMirrored(project)
  return projects
}

/** A removed category must be in the taxonomy, unless a project still has it. @throws ApiError `validation_error`. */
function checkRemovals(taxonomy: Taxonomy, projects: readonly ProjectRow[], patch: ProjectBulkPatch): void {
  const lists = [
    ['remove_categories', 'categories'],
    ['remove_additional_categories', 'additional_categories'],
  ] as const
  for (const [field, column] of lists) {
    const current = new Set(projects.flatMap((project) => project[column]))
    const removed = patch[field] ?? []
    const unknown = removed.findIndex((name) => !taxonomy.categoryNames.has(name) && !current.has(name))
    if (unknown >= 0)
      throw validationError(`${field}.${unknown}`, 'is not a known category: GET /v3/tag/category lists them')
  }
}

/** Returns the project's new values, or undefined if nothing changes. */
function editOf(taxonomy: Taxonomy, project: ProjectRow, patch: ProjectBulkPatch): Edit | undefined {
  const categories = changedList(project.categories, {
    set: patch.categories,
    remove: patch.remove_categories,
    add: patch.add_categories,
  })
  if (categories.length > CATEGORIES_MAX) throw tooMany('add_categories', project, CATEGORIES_MAX)
  const additional = changedList(project.additional_categories, {
    set: patch.additional_categories,
    remove: patch.remove_additional_categories,
    add: patch.add_additional_categories,
  })
  if (additional.length > ADDITIONAL_CATEGORIES_MAX)
    throw tooMany('add_additional_categories', project, ADDITIONAL_CATEGORIES_MAX)
  const before = project.link_urls as Record<string, string>
  const links = applyLinkChanges(before, patch.link_urls ?? {}, taxonomy)
  const isSame =
    JSON.stringify([categories, additional]) === JSON.stringify([project.categories, project.additional_categories]) &&
    Object.keys(links).length === Object.keys(before).length &&
    Object.entries(links).every(([platform, url]) => before[platform] === url)
  return isSame ? undefined : { id: project.id, categories, additional_categories: additional, link_urls: links }
}

type ListChange = { set: string[] | undefined; remove: string[] | undefined; add: string[] | undefined }

function changedList(current: readonly string[], { set, remove = [], add = [] }: ListChange): string[] {
  const remaining = (set ?? current).filter((name) => !remove.includes(name))
  return [...new Set([...remaining, ...add])]
}

function tooMany(field: string, { id }: ProjectRow, max: number) {
  return validationError(field, `would give project ${id} more than ${max} categories`)
}
