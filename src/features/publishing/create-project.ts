// Makes a project: its team with the creator as owner, its moderation thread, its pictures and first versions.
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { transaction } from '#cache/transaction.ts'
import type { ScannerConfig } from '#config/config.ts'
import type { Tx } from '#db/db.ts'
import { onUnique } from '#db/pg-errors.ts'
import { attachImages } from '#features/content-images/queries.ts'
import { checkQuota } from '#features/limits/quota.ts'
import { type Picture, placePicture, storePictures } from '#features/pictures/pictures.ts'
import { assertProjectSlugFree, projectSlugTaken } from '#features/projects/queries.ts'
import { insertVersion } from '#features/versions/publish/insert-version.ts'
import { type PreparedFile, prepareFiles, type UploadedPart } from '#features/versions/publish/prepare-files.ts'
import { dropClaims, publishFiles, withClaims } from '#files/claims.ts'
import { invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { ALL_PROJECT_PERMISSIONS } from '#lib/permissions.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { recordEvent } from '#telemetry/events.ts'
import { requireAddProject } from './organization-access.ts'
import type { NewProject, ProjectForm } from './requests.ts'

/** The weight of the owner's share of revenue until he sets another one (decisions.md 6). */
const OWNER_SPLIT = 100
const ICON_WIDTH = 96
const GALLERY_WIDTH = 350

type Prepared = {
  projectId: string
  versions: { id: string; files: PreparedFile[] }[]
  icon: Picture | undefined
  gallery: Picture[]
}

/**
 * Refuses, before any file is stored, what the database already knows to be impossible; the transaction asks again.
 * @throws ApiError `conflict` for the slug, 403 or `validation_error` for the organization, `LimitReached`.
 */
export async function precheckProject(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  viewer: Viewer,
  project: NewProject,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await checkPossible(tx, config, viewer, project)
  })
}

/** Makes the project and returns its ID. The staged files of the form are used up or discarded. */
export async function createProject(deps: Deps, viewer: Viewer, { project, parts }: ProjectForm): Promise<string> {
  try {
    const prepared = await prepare(deps, project, parts)
    const files = prepared.versions.flatMap((version) => version.files)
    const pictures = [...(prepared.icon?.stored ?? []), ...prepared.gallery.flatMap(({ stored }) => stored)]
    const pictureKeys = pictures.map(({ key }) => key)
    await withClaims(deps, {
      keys: [...pictureKeys, ...files.map(({ storageKey }) => storageKey)],
      store: async () => {
        await storePictures(deps.files, pictures)
        await publishFiles(deps.files, files)
      },
      commit: () =>
        transaction(deps, async (tx) => {
          await checkPossible(tx, deps.config, viewer, project)
          await insertProject(tx, viewer, project, { ...prepared, scanner: deps.config.scanner }, new Date(deps.now()))
          await dropClaims(tx, pictureKeys)
        }),
    })
    recordEvent(deps, 'project.created', { project_id: prepared.projectId })
    return prepared.projectId
  } finally {
    await Promise.allSettled(parts.map(({ staged }) => deps.files.discard(staged)))
  }
}

async function checkPossible(tx: Tx, config: Deps['config'], viewer: Viewer, project: NewProject): Promise<void> {
  await checkQuota(tx, config, viewer, 'projects')
  await assertProjectSlugFree(tx, project.slug)
  if (project.organizationId !== undefined) await requireAddProject(tx, viewer, project.organizationId)
}

/** Everything that takes time and no transaction: archives are inspected, pictures scaled. */
async function prepare(deps: Deps, project: NewProject, parts: readonly UploadedPart[]): Promise<Prepared> {
  const partNamed = (name: string, needed: boolean): UploadedPart | undefined => {
    const part = parts.find((candidate) => candidate.name === name)
    if (part === undefined && needed) throw invalidInput(`The part ${name} is missing`, name)
    return part
  }
  const projectId = newId()
  const versions = []
  for (const version of project.versions) {
    const id = newId()
    const own = version.fileParts.map((name) => partNamed(name, true)).filter((part) => part !== undefined)
    const choose = { primaryPart: version.primaryFile, declaredParts: version.fileParts.length }
    versions.push({ id, files: await prepareFiles(deps, { version, versionId: id, parts: own, choose }) })
  }
  const iconPart = partNamed('icon', false)
  const icon =
    iconPart === undefined
      ? undefined
      : placePicture(
          deps.config,
          await deps.images.processIcon(...(await pictureOf(iconPart)), { field: 'icon', extField: 'icon' }),
          projectId,
          ICON_WIDTH,
        )
  const gallery: Picture[] = []
  for (const { item } of project.gallery) {
    const part = partNamed(item, true)
    if (part === undefined) continue
    const processed = await deps.images.processGalleryImage(...(await pictureOf(part)), { field: item, extField: item })
    const picture = placePicture(deps.config, processed, `${projectId}/images`, GALLERY_WIDTH)
    if (gallery.some(({ contentSha1 }) => contentSha1 === picture.contentSha1))
      throw invalidInput(`The picture of part ${item} occurs twice`, item)
    gallery.push(picture)
  }
  return { projectId, versions, icon, gallery }
}

async function pictureOf({ filename, staged }: UploadedPart): Promise<[Buffer, string]> {
  // At most 5 MiB: the form's limits have seen to that.
  return [await readFile(staged.path), extname(filename).slice(1).toLowerCase()]
}

async function insertProject(
  tx: Tx,
  viewer: Viewer,
  project: NewProject,
  prepared: Prepared & { scanner: ScannerConfig },
  at: Date,
): Promise<void> {
  const { projectId, icon, scanner } = prepared
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
      license_url: project.licenseUrl,
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
    place: { context: 'project', id: projectId },
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

async function insertGallery(tx: Tx, project: NewProject, { projectId, gallery }: Prepared, at: Date): Promise<void> {
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
