// Inserts the rows of a new project: project, team, moderation thread, gallery and first versions.

import type { Insertable } from 'kysely'
import { ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { type AuditEntry, recordAudit } from '#features/basics/audit/record-audit.ts'
import { attachImages } from '#features/basics/content-images/queries.ts'
import { iconColumns } from '#features/basics/images/hosted-image.ts'
import { insertGalleryItems } from '#features/catalogue/projects/gallery/queries.ts'
import { toGalleryImageFields } from '#features/catalogue/projects/gallery/requests.ts'
import { projectSlugTaken, setLikenessOfIcon } from '#features/catalogue/projects/queries.ts'
import { takeSnapshot } from '#features/catalogue/reviews/snapshots.ts'
import { draftExpiry } from '#features/catalogue/versions/drafts/completeness.ts'
import { insertVersion } from '#features/catalogue/versions/publish/insert-version.ts'
import { newId } from '#lib/ids.ts'
import type { ScannerConfig } from '#platform/config/config.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Project } from '#platform/db/schema.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { PreparedProject } from './prepare-project.ts'
import type { NewProject } from './requests.ts'

/** Initial weight of the owner's share of revenue. */
const OWNER_SPLIT = 100

/**
 * Inserts the project. Unless an organization owns it, the creator becomes the owner of its team.
 * @throws ApiError `conflict` for the slug, and what `insertVersion` throws.
 */
export async function insertProject(
  tx: Tx,
  viewer: Viewer,
  project: NewProject,
  prepared: PreparedProject,
  { scanner, taxonomy, at }: { scanner: ScannerConfig; taxonomy: Taxonomy; at: Date },
): Promise<void> {
  const { projectId, icon } = prepared
  const teamId = await insertProjectRow(tx, actorOf(viewer), {
    id: projectId,
    ...project.columns,
    status: project.isDraft ? 'draft' : 'processing',
    published: at,
    updated: at,
    queued: project.isDraft ? null : at,
    ...iconColumns(icon),
  })
  // The members of an organization have permissions without a row in the project's team.
  if (project.columns.organization_id === null) await insertOwner(tx, teamId, viewer.id)
  if (icon?.likeness != null) await setLikenessOfIcon(tx, projectId, icon.likeness)
  await attachImages(tx, viewer, {
    ids: project.uploadedImages,
    target: { context: 'project', id: projectId },
    field: 'uploaded_images',
  })
  const images = prepared.gallery.map((image, index) => ({
    image,
    fields: toGalleryImageFields(project.gallery[index] ?? {}),
    created: new Date(at.getTime() + index),
  }))
  await insertGalleryItems(tx, projectId, images)
  for (const [index, version] of project.versions.entries()) {
    const { id, files } = prepared.versions[index] ?? { id: newId(), files: [] }
    // Versions of one request are 1 ms apart, so that their order by date is unambiguous.
    const publishedAt = new Date(at.getTime() + index)
    const field = `initial_versions.${index}`
    const row = { id, projectId, version, files, publishedAt, scanner, at: field }
    const content = { ...version.columns, fields: version.fields, files: files.length }
    const draftExpires = version.status === 'draft' ? draftExpiry(taxonomy, content, at.getTime()) : null
    await insertVersion(tx, viewer, { ...row, draftExpires })
  }
  if (!project.isDraft) await takeSnapshot(tx, projectId, { reason: 'submission', at })
}

/**
 * Inserts the row of a project with its team and its thread, and records it in the audit log. Returns the ID of the team.
 * @throws ApiError `conflict` for the slug.
 */
export async function insertProjectRow(
  tx: Tx,
  actor: Actor,
  row: Omit<Insertable<Project>, 'team_id'>,
  details: AuditEntry['details'] = {},
): Promise<string> {
  const { id, slug, status } = row
  const teamId = newId()
  await tx.insertInto('team').values({ id: teamId }).execute()
  await tx
    .insertInto('project')
    .values({ ...row, team_id: teamId })
    .execute()
    .catch(onUnique({ project_slug_key: projectSlugTaken }))
  await tx.insertInto('thread').values({ id: newId(), type: 'project', project_id: id }).execute()
  const subject = { kind: 'project', id } as const
  await recordAudit(tx, { action: 'project.created', actor, subject, details: { slug, status, ...details } })
  return teamId
}

async function insertOwner(tx: Tx, teamId: string, accountId: string): Promise<void> {
  await tx
    .insertInto('team_member')
    .values({
      team_id: teamId,
      account_id: accountId,
      role: 'Owner',
      is_owner: true,
      permissions: ALL_PROJECT_PERMISSIONS,
      accepted: true,
      payouts_split: OWNER_SPLIT,
    })
    .execute()
}
