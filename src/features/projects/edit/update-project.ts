// Edits a project: who may change which field, then all of it or nothing.
import type { Updateable } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { onUnique } from '#db/pg-errors.ts'
import type { Project } from '#db/schema.ts'
import { type Membership, projectPermissions, requireProjectPermission } from '#features/access/project-policy.ts'
import { isApprovedClass } from '#features/access/project-status.ts'
import { dropUnusedImages } from '#features/content-images/queries.ts'
import { forbidden, notFound, validationError } from '#lib/errors.ts'
import { checkHttpsUrl, isBlank } from '#lib/text-rules.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { parseLicense } from '#taxonomy/licenses.ts'
import { checkCategories } from '#taxonomy/taxonomy.ts'
import type { CachedProject } from '../lookup/project-cache.ts'
import { applyLinkChanges, checkProjectName } from '../project-fields.ts'
import { assertProjectSlugFree, listVersionIds, lockProject, type ProjectRow, projectSlugTaken } from '../queries.ts'
import { changeStatus } from './change-status.ts'
import type { ProjectPatch } from './requests.ts'

export type ProjectEdit = { project: CachedProject; membership: Membership; patch: ProjectPatch }

/** @throws ApiError 403 for a field the viewer may not change; nothing is saved then. */
export async function updateProject(
  deps: Deps,
  viewer: Viewer,
  { project, membership, patch }: ProjectEdit,
): Promise<void> {
  requireFieldPermissions(viewer, membership, patch)
  const checked = checkFields(patch, deps)
  await transaction(deps, async (tx, changed) => {
    const locked = await lockProject(tx, project.id)
    if (locked === undefined) throw notFound('project')
    requireModerationRights(viewer, locked, patch)
    const update: Updateable<Project> = {
      ...checked,
      ...(await slugChange(tx, locked, patch.slug)),
      ...(patch.link_urls === undefined
        ? {}
        : {
            link_urls: JSON.stringify(
              applyLinkChanges(locked.link_urls as Record<string, string>, patch.link_urls, deps.taxonomy),
            ),
          }),
      ...(await changeStatus(tx, {
        viewer,
        membership,
        lockedProject: locked,
        patch: { ...patch, ...checkedLicense(checked) },
        now: deps.now(),
      })),
    }
    if (Object.keys(update).length === 0) return
    await tx
      .updateTable('project')
      .set({ ...update, ...(changesWhatIsSeen(patch) ? { updated: new Date(deps.now()) } : {}) })
      .where('id', '=', locked.id)
      .execute()
      .catch(onUnique({ project_slug_key: projectSlugTaken }))
    if (patch.description !== undefined || patch.summary !== undefined) {
      const text = [patch.description ?? locked.description, patch.summary ?? locked.summary].join('\n')
      await dropUnusedImages(tx, { context: 'project', id: locked.id }, text)
    }
    changed.add('project', locked.id)
    // Versions are cached with their project's status, which decides who sees them.
    if (update.status !== undefined) changed.addEach('version', await listVersionIds(tx, locked.id))
  })
}

function checkedLicense({ license }: { license?: string }): { license_id?: string } {
  return license === undefined ? {} : { license_id: license }
}

/** Each field of the body wants one permission; a body that asks for nothing wants EDIT_DETAILS. */
function requireFieldPermissions(viewer: Viewer, membership: Membership, patch: ProjectPatch): void {
  const bits = projectPermissions(viewer, membership)
  const { description, ...details } = patch
  if (description !== undefined) requireProjectPermission(bits, 'EDIT_BODY')
  if (description === undefined || Object.keys(details).length > 0) requireProjectPermission(bits, 'EDIT_DETAILS')
}

/** What belongs to moderation: messages are a moderator's; an owner may clear one after a passed review. */
function requireModerationRights(viewer: Viewer, locked: ProjectRow, patch: ProjectPatch): void {
  if (isModerator(viewer)) return
  for (const field of ['moderation_message', 'moderation_message_body'] as const) {
    const value = patch[field]
    if (value === undefined || (value === null && isApprovedClass(locked.status))) continue
    throw forbidden(`Only moderators may change ${field}`)
  }
  const forced = 'force-demonetized'
  if (
    patch.monetization_status !== undefined &&
    (patch.monetization_status === forced || locked.monetization_status === forced)
  ) {
    throw forbidden(`Only moderators may change monetization_status to or from ${forced}`)
  }
}

/** The fields that need neither the row nor the database. */
function checkFields(patch: ProjectPatch, { taxonomy }: Pick<Deps, 'taxonomy'>) {
  if (patch.summary !== undefined && isBlank(patch.summary)) throw validationError('summary', 'must not be blank')
  return {
    ...(patch.name === undefined ? {} : { name: checkProjectName(patch.name) }),
    ...(patch.summary === undefined ? {} : { summary: patch.summary }),
    ...(patch.description === undefined ? {} : { description: patch.description }),
    ...(patch.categories === undefined ? {} : { categories: checkCategories(taxonomy, patch.categories) }),
    ...(patch.additional_categories === undefined
      ? {}
      : { additional_categories: checkCategories(taxonomy, patch.additional_categories, 'additional_categories') }),
    ...(patch.license_id === undefined ? {} : { license: parseLicense(patch.license_id) }),
    ...(patch.license_url === undefined
      ? {}
      : { license_url: patch.license_url === null ? null : checkHttpsUrl(patch.license_url, 'license_url') }),
    ...(patch.moderation_message === undefined ? {} : { moderation_message: patch.moderation_message }),
    ...(patch.moderation_message_body === undefined ? {} : { moderation_message_body: patch.moderation_message_body }),
    ...(patch.monetization_status === undefined ? {} : { monetization_status: patch.monetization_status }),
  }
}

async function slugChange(tx: Tx, locked: ProjectRow, slug: string | undefined): Promise<{ slug?: string }> {
  const folded = slug?.toLowerCase()
  if (folded === undefined || folded === locked.slug) return {}
  await assertProjectSlugFree(tx, folded, locked.id)
  return { slug: folded }
}

/** `updated` moves with what the public sees; notes between owners and moderators are not that. */
function changesWhatIsSeen(patch: ProjectPatch): boolean {
  const { moderation_message, moderation_message_body, monetization_status, requested_status, scheduled_at, ...seen } =
    patch
  return Object.values(seen).some((value) => value !== undefined)
}
