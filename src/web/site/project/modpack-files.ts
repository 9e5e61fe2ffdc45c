// A modpack as a packwiz pack at an address that follows its newest version. Errors are texts, because programs read them.
import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { chooseOffered } from '#features/catalogue/resolve/choose-required.ts'
import { getVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import { getPackwizForm, type PackwizRequest, readOverride } from '#features/reading/downloads/modpack/packwiz-form.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { projectPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { sendError, sendFile, TOML } from '../pack/saved-files.ts'

/** Number of newest versions in which a file is searched: a client has read the index of one of them. */
const SEARCHED_MAX = 10

/** Leads a client to the index of the newest version. */
export const sendPackToml = handler(async (request, project) => {
  const version = await getOffered(request, project)
  const { packToml } = await getPackwizForm(request.deps, packOf(request, project, version))
  return sendFile(request, TOML, packToml)
})

export const sendPackIndex = handler(async (request, project) => {
  const id = request.param('version')
  if (!isIdForm(id)) throw notFound('file')
  const version = await getVersion(request.deps, request.viewer, id)
  if (version.project.id !== viewOf(project).id) throw notFound('file')
  const { index } = await getPackwizForm(request.deps, packOf(request, project, id))
  return sendFile(request, TOML, index)
})

export const sendPackMetafile = handler(async (request, project) => {
  const { part } = await findPart(request, project)
  return sendFile(request, TOML, part.text)
})

/** Sends a file of an override folder. Browsers download it, so that it cannot act as a page of the site. */
export const sendPackFile = handler(async (request, project) => {
  const { part, pack } = await findPart(request, project)
  const content = await readOverride(request.deps, pack, part.entry)
  void request.reply
    .header('content-disposition', 'attachment')
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
  return sendFile(request, 'application/octet-stream', content)
})

function handler(send: (request: PageRequest, project: CachedProject) => Promise<FastifyReply>) {
  return async (request: PageRequest, project: CachedProject): Promise<FastifyReply> => {
    if (!viewOf(project).project_types.includes('modpack')) throw notFound('file')
    return send(request, project).catch((error: unknown) => sendError(request, error))
  }
}

const packOf = ({ page, req, viewer }: PageRequest, project: CachedProject, versionId: string): PackwizRequest => ({
  versionId,
  pageUrl: `${page.site.url}${projectPath(viewOf(project))}`,
  caller: viewer?.caller ?? req.clientAddress,
})

async function getOffered({ deps, viewer }: PageRequest, project: CachedProject): Promise<string> {
  const offered = await chooseOffered(deps, viewer, viewOf(project).id, {})
  if (offered === undefined) throw notFound('version')
  return viewOf(offered.version).id
}

/** Finds a file by its ID in the newest versions. @throws ApiError 404. */
async function findPart(request: PageRequest, project: CachedProject) {
  const newest = viewOf(project).versions.slice(-SEARCHED_MAX).reverse()
  const id = request.param('file')
  const find = async (versionId: string) => {
    const pack = packOf(request, project, versionId)
    const form = await getPackwizForm(request.deps, pack).catch(undefinedIfRefused)
    const part = form?.parts.get(id)
    return part === undefined ? undefined : { part, pack }
  }
  for (const versionId of newest) {
    const found = await find(versionId)
    if (found !== undefined) return found
  }
  // The version that the project offers is not one of the newest if those are betas.
  const found = await find(await getOffered(request, project))
  if (found === undefined) throw notFound('file')
  return found
}

/** A version without a pack, or with one that has no such form, contains no file. */
function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status >= 500) throw error
}
