// The rows of a new project: itself, its team with the creator as owner, its moderation thread, its pictures and first
// versions.

import { attachImages } from '#features/basics/content-images/queries.ts'
import { projectSlugTaken } from '#features/catalogue/projects/queries.ts'
import { insertVersion } from '#features/catalogue/versions/publish/insert-version.ts'
import { ALL_PROJECT_PERMISSIONS } from '#lib/access/permissions.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { newId } from '#lib/ids.ts'
import type { ScannerConfig } from '#platform/config/config.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { PreparedProject } from './prepare-project.ts'
import type { NewProject } from './requests.ts'

/** The owner's share of revenue, as a weight, until another one is set. */
const OWNER_SPLIT = 100

/**
 * Inserts the project with its team, its thread, its gallery and its versions.
 * @throws ApiError `conflict` for the slug, and what `insertVersion` throws.
 */
export async function insertProject(
  tx: Tx,
  viewer: Viewer,
  project: NewProject,
  prepared: PreparedProject,
  { scanner, at }: { scanner: ScannerConfig; at: Date },
): Promise<void> {
  const { projectId, icon } = prepared
  const teamId = newId()
  await tx.insertInto('team').values({ id: teamId }).execute()
  // An organization's project has no members of its own at first: its rights come from the organization.
  if (project.organizationId === undefined) await insertOwner(tx, teamId, viewer.id)
  await tx
    .insertInto('project')
    .values({
      id: projectId,
      slug: project.slug,
      name: project.name,
      summary: project.summary,
      description: project.description,
      status: project.isDraft ? 'draft' : 'processing',
      requested_status: project.requestedStatus,
      license: project.license,
      ...project.optional,
      categories: project.categories,
      additional_categories: project.additionalCategories,
      link_urls: JSON.stringify(project.linkUrls),
      published: at,
      updated: at,
      queued: project.isDraft ? null : at,
      team_id: teamId,
      organization_id: project.organizationId ?? null,
      icon_url: icon?.url ?? null,
      raw_icon_url: icon?.rawUrl ?? null,
      color: icon?.color ?? null,
    })
    .execute()
    .catch(onUnique({ project_slug_key: projectSlugTaken }))
  await tx.insertInto('thread').values({ id: newId(), type: 'project', project_id: projectId }).execute()
  await attachImages(tx, viewer, {
    ids: project.uploadedImages,
    target: { context: 'project', id: projectId },
    field: 'uploaded_images',
  })
  await insertGallery(tx, project, prepared, at)
  for (const [index, version] of project.versions.entries()) {
    const { id, files } = prepared.versions[index] ?? { id: newId(), files: [] }
    // Versions of one request are a moment apart, so that "newest first" has one answer.
    const publishedAt = new Date(at.getTime() + index)
    const place = `initial_versions.${index}`
    await insertVersion(tx, viewer, { id, projectId, version, files, publishedAt, scanner, at: place })
  }
}

async function insertGallery(
  tx: Tx,
  project: NewProject,
  { projectId, gallery }: PreparedProject,
  at: Date,
): Promise<void> {
  if (gallery.length === 0) return
  await tx
    .insertInto('gallery_item')
    .values(
      gallery.map((picture, index) => {
        const item = project.gallery[index]
        return {
          id: newId(),
          project_id: projectId,
          url: picture.url,
          raw_url: picture.rawUrl,
          content_sha1: picture.contentSha1,
          width: picture.width,
          height: picture.height,
          copy_widths: picture.copyWidths,
          featured: item?.featured ?? false,
          name: item?.name ?? item?.title ?? null,
          description: item?.description ?? null,
          ordering: item?.ordering ?? 0,
          created: new Date(at.getTime() + index),
        }
      }),
    )
    .execute()
}

/** The first row of a team: role `Owner`, every bit, accepted. */
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
