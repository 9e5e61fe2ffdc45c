// Creating a project with its first versions, as one story.

import { requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import { storeImageFiles } from '#features/basics/images/hosted-image.ts'
import { checkQuota } from '#features/basics/limits/quota.ts'
import { type CachedProject, getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { assertProjectSlugFree } from '#features/catalogue/projects/queries.ts'
import { type ReceivedFiles, withParts } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, publishFiles, withClaims } from '#ports/files/claims.ts'
import { insertProject } from './insert-project.ts'
import { requireAddProject } from './policy.ts'
import { prepareProject } from './prepare-project.ts'
import { getOrganizationPermissions, lockOrganization } from './queries.ts'
import { type NewProject, parseProjectData } from './requests.ts'

/**
 * Creates a project, step by step: the description is read and what can be refused by it is refused, the files are
 * staged, inspected, and stored, the rows are written in one transaction, and the project is answered as its owner gets
 * it. A step that refuses leaves nothing behind.
 * @param receive reads the request: it hands the description to `describe` before the first file is read.
 * @throws ApiError 403, `conflict` for the slug, `limit_reached`, `validation_error` and `invalid_input` naming the field
 * or the part.
 */
export async function createProject(
  deps: Deps,
  viewer: Viewer,
  receive: (describe: (data: unknown) => Promise<NewProject>) => Promise<ReceivedFiles<NewProject>>,
): Promise<CachedProject> {
  requireVerifiedEmail(deps, viewer)
  const { description: project, parts } = await receive(async (data) => {
    const described = parseProjectData(data, deps.taxonomy)
    const { organizationId } = described
    if (organizationId !== undefined) {
      requireAddProject(viewer, await getOrganizationPermissions(deps.db, organizationId, viewer.id))
    }
    await deps.db.transaction().execute((tx) => requirePossible(tx, deps.config, viewer, described))
    return described
  })
  const projectId = await withParts(deps, parts, async () => {
    const prepared = await prepareProject(deps, viewer, project, parts)
    const files = prepared.versions.flatMap((version) => version.files)
    const pictures = [...(prepared.icon?.stored ?? []), ...prepared.gallery.flatMap(({ stored }) => stored)]
    const pictureKeys = pictures.map(({ key }) => key)
    // Bytes before rows: a file that a row names is in the store.
    await withClaims(deps, {
      keys: [...pictureKeys, ...files.map(({ storageKey }) => storageKey)],
      store: async () => {
        await storeImageFiles(deps.files, pictures)
        await publishFiles(deps.files, files)
      },
      commit: () =>
        transaction(deps, async (tx) => {
          await requirePossible(tx, deps.config, viewer, project)
          const { scanner } = deps.config
          await insertProject(tx, viewer, project, prepared, { scanner, at: new Date(deps.now()) })
          await dropClaims(tx, pictureKeys)
        }),
    })
    return prepared.projectId
  })
  recordEvent(deps, 'project.created', { project_id: projectId })
  return getProject(deps, viewer, projectId)
}

/**
 * What the database may refuse, asked before the files are read and again where it is held until the commit.
 * @throws ApiError `limit_reached`, `conflict` for the slug, `validation_error` for the organization.
 */
async function requirePossible(tx: Tx, config: Deps['config'], viewer: Viewer, project: NewProject): Promise<void> {
  await checkQuota(tx, config, viewer, 'projects')
  await assertProjectSlugFree(tx, project.slug)
  if (project.organizationId !== undefined) await lockOrganization(tx, project.organizationId)
}
