// Records views of project pages and clicks on affiliate links.
import { findMembership } from '#features/basics/access/memberships.ts'
import { canSeeProject } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type CachedProject, findProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findAffiliateCode } from '#features/people/affiliates/queries.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import { type Caller, originOf } from './origin.ts'
import { parsePageAddress, parseReferrer } from './visited-page.ts'
import type { VisitorCaps } from './visitor-caps.ts'

export type ViewDeps = Deps & { caps: VisitorCaps }

/**
 * Records a view of a project page. Ignores all other pages, and projects that do not exist or that the viewer cannot see.
 * @throws ApiError `validation_error` for an invalid URL.
 */
export async function recordView(
  deps: ViewDeps,
  viewer: Viewer | null,
  { url, referrer, caller }: { url: string; referrer: string | undefined; caller: Caller },
): Promise<void> {
  const page = parsePageAddress(url, 'url', deps.taxonomy)
  const project = page.project === undefined ? undefined : await findProject(deps, page.project)
  if (project === undefined || !(await isVisible(deps, viewer, project))) return
  const monetized = project.monetized && (await deps.caps.earnsView(caller.address, project.id))
  deps.events.add('view', {
    ...originOf(deps, caller),
    project_id: project.id,
    // The referring site is more informative than Depot's own host.
    domain: parseReferrer(referrer).domain || page.domain,
    site_path: page.site_path,
    monetized,
  })
}

async function isVisible(deps: ViewDeps, viewer: Viewer | null, project: CachedProject): Promise<boolean> {
  if (isPublicStatus(project.status)) return true
  if (viewer === null) return false
  return canSeeProject(viewer, project, await findMembership(deps.db, viewer, project))
}

/**
 * Records a click on an affiliate link. Ignores unknown codes.
 * @throws ApiError `validation_error` for an invalid URL or code.
 */
export async function recordAffiliateClick(
  deps: Deps,
  { url, affiliate_code_id, caller }: { url: string; affiliate_code_id: string; caller: Caller },
): Promise<void> {
  const { domain } = parsePageAddress(url, 'url', deps.taxonomy)
  if (!isIdForm(affiliate_code_id)) throw validationError('affiliate_code_id', 'is not an affiliate code ID')
  const code = await findAffiliateCode(deps.db, affiliate_code_id)
  if (code === undefined) return
  deps.events.add('affiliate_click', { ...originOf(deps, caller), affiliate_code_id: code.id, domain })
}
