// Creates a project with its first versions. `createProject` shows all steps in order.

import { requireApproved, requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { withStoredImages } from '#features/basics/images/hosted-image.ts'
import { checkQuota } from '#features/basics/limits/quota.ts'
import { type CachedProject, getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { assertProjectSlugFree } from '#features/catalogue/projects/queries.ts'
import { resolveDependencies } from '#features/catalogue/versions/publish/dependencies.ts'
import type { ReceivedFiles } from '#features/catalogue/versions/publish/prepare-files.ts'
import {
  findNamedUploads,
  type NamedUploads,
  NO_UPLOADS,
  takeUploads,
  withUploads,
} from '#features/catalogue/versions/uploads/use-uploads.ts'
import { type ApiError, validationError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { insertProject } from './insert-project.ts'
import { requireAddProject, requireCreation } from './policy.ts'
import { prepareProject } from './prepare-project.ts'
import { type NewProject, parseProjectData } from './requests.ts'

/**
 * Creates a project in these steps:
 * 1. Read and check the description, and the viewer's permission and quota, before the first file is read.
 * 2. Stage the uploaded files on disk (`receive`), then inspect archives and scale images (`prepareProject`).
 * 3. Store the files and images (`withStoredImages`).
 * 4. Write all rows in one transaction (`insertProject`). If a step fails, nothing remains.
 * @param receive reads the request and passes its description to `describe` before it reads the first file.
 * @throws ApiError 403, `conflict`, `limit_reached`, `validation_error` and `invalid_input` naming the field or part.
 */
export async function createProject(
  deps: Deps,
  viewer: Viewer,
  receive: (describe: (data: unknown) => Promise<NewProject>) => Promise<ReceivedFiles<NewProject>>,
): Promise<CachedProject> {
  requireApproved(viewer)
  requireVerifiedEmail(deps, viewer)
  let uploads = NO_UPLOADS
  const { description: project, parts: sent } = await receive(async (data) => {
    const refusals = new Refusals()
    const description = parseProjectData(data, deps.taxonomy, refusals)
    const { organization_id: organizationId } = description.columns
    requireCreation(viewer, organizationId)
    await refusals.wait(async () => {
      if (organizationId === null) return
      requireAddProject(viewer, await getOrganizationPermissions(deps.db, organizationId, viewer.id))
    })
    await refusals.wait(() =>
      deps.db.transaction().execute((tx) => requirePossible(tx, deps.config, viewer, description)),
    )
    for (const [index, { dependencies }] of description.versions.entries()) {
      const field = `initial_versions.${index}.dependencies`
      await refusals.wait(() => resolveDependencies(deps.db, viewer, dependencies, field))
    }
    uploads = await findUploads(deps, viewer, description, refusals)
    refusals.throwAny()
    return description
  })
  const names = project.versions.flatMap(({ fileParts }) => fileParts)
  const { projectId, versions } = await withUploads(deps, { sent, uploads, names }, async (parts) => {
    const prepared = await prepareProject(deps, viewer, project, parts)
    // Files are stored before their rows: every file that a row refers to exists.
    await withStoredImages(deps, prepared, (imageKeys) =>
      transaction(deps, async (tx) => {
        await requirePossible(tx, deps.config, viewer, project)
        const { taxonomy, config } = deps
        const { scanner } = config
        await insertProject(tx, viewer, project, prepared, { scanner, taxonomy, at: new Date(deps.now()) })
        await takeUploads(tx, uploads, { now: deps.now() })
        await dropClaims(tx, imageKeys)
      }),
    )
    return prepared
  })
  recordEvent(deps, 'project.created', { project_id: projectId })
  for (const { id } of versions) recordEvent(deps, 'version.published', { project_id: projectId, version_id: id })
  return getProject(deps, viewer, projectId)
}

async function findUploads(
  deps: Deps,
  viewer: Viewer,
  { versions }: NewProject,
  refusals: Refusals,
): Promise<NamedUploads> {
  const found: NamedUploads[] = []
  for (const [index, { fileParts: names }] of versions.entries()) {
    const at = `initial_versions.${index}.file_parts`
    found.push((await refusals.wait(() => findNamedUploads(deps, viewer, { names, at }))) ?? NO_UPLOADS)
  }
  return { finished: found.flatMap(({ finished }) => finished), unfinished: [] }
}

/**
 * Checks before the files are read, and again in the transaction, which locks what it checked until the commit.
 * @throws ApiError `limit_reached`, `conflict` for the slug, `validation_error` for the organization.
 */
async function requirePossible(tx: Tx, config: Deps['config'], viewer: Viewer, project: NewProject): Promise<void> {
  await checkQuota(tx, config, viewer, 'projects')
  const { slug, organization_id } = project.columns
  if (slug !== '') await assertProjectSlugFree(tx, slug)
  if (organization_id !== null) await lockOrganization(tx, organization_id)
}

/** Returns 0 unless the account is an accepted member. @throws ApiError if the organization does not exist. */
async function getOrganizationPermissions(db: Db, organizationId: string, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('organization')
    .leftJoin('team_member', (join) =>
      join
        .onRef('team_member.team_id', '=', 'organization.team_id')
        .on('team_member.account_id', '=', accountId)
        .on('team_member.accepted', '=', true),
    )
    .select('team_member.organization_permissions')
    .where('organization.id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw organizationUnknown()
  return row.organization_permissions ?? 0
}

/** Locks the organization against deletion until the transaction ends. @throws ApiError if it does not exist. */
async function lockOrganization(tx: Tx, id: string): Promise<void> {
  const row = await tx.selectFrom('organization').select('id').where('id', '=', id).forShare().executeTakeFirst()
  if (row === undefined) throw organizationUnknown()
}

function organizationUnknown(): ApiError {
  return validationError('organization_id', 'must be the ID of an organization')
}
