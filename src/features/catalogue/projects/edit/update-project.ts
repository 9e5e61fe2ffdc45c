// Edits a project in one transaction.
import { sql, type Updateable } from 'kysely'
import { requireNotMirrored } from '#features/basics/access/origin.ts'
import type { Membership } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { namingLastEdit } from '#features/basics/audit/last-edit.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropUnusedImages } from '#features/basics/content-images/queries.ts'
import { recordProjectEvent } from '#features/basics/events/record-event.ts'
import { notFound } from '#lib/errors.ts'
import { type PatchColumns, toColumns } from '#lib/schema/patch.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Project } from '#platform/db/schema.ts'
import type { Deps } from '#ports/deps.ts'
import { parseLicense } from '#taxonomy/licenses.ts'
import { checkCategories, type Taxonomy } from '#taxonomy/taxonomy.ts'
import {
  applyLinkChanges,
  checkProjectName,
  checkProjectType,
  checkSummary,
  optionalFieldColumns,
  typeIsDerived,
} from '../fields.ts'
import { type CachedProject, readerOfProject } from '../lookup/project-cache.ts'
import { assertProjectSlugFree, listVersionIds, lockProject, type ProjectRow, projectSlugTaken } from '../queries.ts'
import { changeStatus, type StatusField } from './change-status.ts'
import { requireFieldPermissions, requireModerationRights } from './policy.ts'
import type { ProjectPatch } from './requests.ts'

export type ProjectEdit = {
  project: CachedProject
  membership: Membership
  patch: ProjectPatch
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
  /** Errors of the request that are known already. */
  found?: Refusals | undefined
  /** Makes further changes in the same transaction; returns whether it changed anything. */
  alongside?: (tx: Tx, changed: ChangeSet) => Promise<boolean>
}

/**
 * @throws ApiError 403 for a field that the viewer may not change, `conflict` for an outdated revision, `validation_error`
 * naming a field; nothing is saved.
 */
export async function updateProject(deps: Deps, viewer: Viewer, edit: ProjectEdit): Promise<void> {
  requireFieldPermissions(viewer, edit.membership, edit.patch)
  const { id } = edit.project
  await namingLastEdit(deps.db, { kind: 'project', id }, () =>
    withCurrentState(deps, () => saveProject(deps, viewer, edit), readerOfProject(viewer, id)),
  )
}

async function saveProject(
  deps: Deps,
  viewer: Viewer,
  { project: { id }, membership, patch, revision, found, alongside }: ProjectEdit,
): Promise<void> {
  const now = deps.now()
  await transaction(deps, async (tx, changed) => {
    const project = await lockProject(tx, id)
    if (project === undefined) throw notFound('project')
    requireRevision(project, revision)
    requireNotMirrored(project, patch)
    const refusals = new Refusals(found)
    const fields: Updateable<Project> = toColumns(patch, columnsOf(project, deps.taxonomy), refusals)
    await refusals.wait(async () => requireModerationRights(viewer, project, patch))
    await refusals.wait(async () => {
      if (fields.slug !== undefined) await assertProjectSlugFree(tx, fields.slug, id)
    })
    await refusals.wait(async () => {
      if (patch.project_type !== undefined) await requireNoType(tx, id)
    })
    const next = {
      license: fields.license ?? project.license,
      license_decided: fields.license_decided ?? project.license_decided,
      summary: fields.summary ?? project.summary,
      description: fields.description ?? project.description,
    }
    const change = { viewer, membership, project, next, patch, now }
    const prepared = await refusals.wait(() => changeStatus(tx, changed, change))
    refusals.throwAny()
    const { columns: status, announce } = prepared ?? { columns: {}, announce: async () => {} }
    const update = { ...fields, ...status }
    const hasMoreChanges = (await alongside?.(tx, changed)) ?? false
    if (hasMoreChanges) requireNotMirrored(project)
    if (Object.keys(update).length === 0 && !hasMoreChanges) return
    await tx
      .updateTable('project')
      .set({ ...update, ...(hasMoreChanges || publicFields(patch).length > 0 ? { updated: new Date(now) } : {}) })
      .where('id', '=', id)
      .execute()
      .catch(onUnique({ project_slug_key: projectSlugTaken }))
    await recordUpdate(tx, viewer, id, [...publicFields(patch), ...(hasMoreChanges ? ['versions'] : [])])
    await announce()
    if (patch.description !== undefined || patch.summary !== undefined) {
      const text = [patch.description ?? project.description, patch.summary ?? project.summary].join('\n')
      await dropUnusedImages(tx, { context: 'project', id }, text)
    }
    changed.add('project', id)
    // Versions are cached with the status of their project, which decides who can see them.
    if (status.status !== undefined) changed.addEach('version', await listVersionIds(tx, id))
  })
}

/** A change of the status has its own event. */
async function recordUpdate(
  tx: Tx,
  viewer: Viewer,
  projectId: string,
  changedFields: readonly string[],
): Promise<void> {
  const fields = changedFields.filter((name) => name !== 'status')
  if (fields.length === 0) return
  await recordProjectEvent(tx, 'project.updated', projectId, { fields })
  const subject = { kind: 'project', id: projectId } as const
  await recordAudit(tx, { action: 'project.changed', actor: actorOf(viewer), subject, details: { fields } })
}

/** Returns the columns that each field of the patch sets, except the status fields, which `changeStatus` handles. */
function columnsOf(
  project: ProjectRow,
  taxonomy: Taxonomy,
): PatchColumns<Omit<ProjectPatch, StatusField>, Updateable<Project>> {
  return {
    name: (name) => ({ name: checkProjectName(name) }),
    summary: (summary) => ({ summary: checkSummary(summary) }),
    description: (description) => ({ description }),
    categories: (categories) => ({ categories: checkCategories(taxonomy, categories) }),
    additional_categories: (names) => ({
      additional_categories: checkCategories(taxonomy, names, 'additional_categories'),
    }),
    license_id: (text) => ({ license: parseLicense(text), license_decided: true }),
    ...optionalFieldColumns,
    project_type: (type) => ({ draft_type: checkProjectType(taxonomy, type) }),
    slug: (slug) => (slug.toLowerCase() === project.slug ? {} : { slug: slug.toLowerCase() }),
    link_urls: (changes) => ({
      link_urls: JSON.stringify(applyLinkChanges(project.link_urls as Record<string, string>, changes, taxonomy)),
    }),
    moderation_message: (moderation_message) => ({ moderation_message }),
    moderation_message_body: (moderation_message_body) => ({ moderation_message_body }),
    publishing: (publishing) => ({ publishing }),
    monetization_status: (monetization_status) => ({ monetization_status }),
  }
}

/** @throws ApiError `validation_error` if the project has versions, whose loaders decide its types. */
async function requireNoType(tx: Tx, projectId: string): Promise<void> {
  const version = await tx
    .selectFrom('version')
    .select('id')
    .where('project_id', '=', projectId)
    .where(sql<boolean>`loaders <> '{}'`)
    .limit(1)
    .executeTakeFirst()
  if (version !== undefined) throw typeIsDerived()
}

/** Returns the fields of a patch whose change sets `updated`. */
function publicFields(patch: ProjectPatch): string[] {
  const {
    moderation_message,
    moderation_message_body,
    monetization_status,
    public_statistics,
    publishing,
    requested_status,
    scheduled_at,
    seen,
    license_decided,
    ...fields
  } = patch
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : name))
}
