// The filter by owner: the user's own projects, or those of one of their organizations. The choice is in the URL.

import { listCachedOrganizations } from '#features/community/organizations/organization-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { withQuery } from '#web/kit/paths.ts'
import type { Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { segments } from '#web/ui/parts/lists.ts'
import type { OwnProject } from './dashboard-frame.ts'

const OWN = 'own'

export type OwnerFilter = {
  /** Value in the URL: empty, `own` or the ID of an organization. */
  chosen: string
  /** Names of the organizations by ID. */
  organizations: ReadonlyMap<string, string>
}

/** Reads the filter from the URL. Unknown values filter nothing. */
export async function loadOwnerFilter(
  { deps, query }: OwnRequest,
  projects: readonly OwnProject[],
): Promise<OwnerFilter> {
  const ids = [...new Set(projects.flatMap(({ project }) => project.organization_id ?? []))]
  const found = ids.length === 0 ? [] : await listCachedOrganizations(deps, ids)
  const organizations = new Map(found.map((organization) => [organization.id, viewOf(organization).name]))
  const of = query('of')
  return { chosen: of === OWN || organizations.has(of) ? of : '', organizations }
}

/** Whether something of this owner is shown. `null` is the user. */
export const isShown = ({ chosen }: OwnerFilter, organizationId: string | null): boolean =>
  chosen === '' || (chosen === OWN ? organizationId === null : organizationId === chosen)

/** Renders the filter, unless all projects have the same owner. */
export function ownerSegments({ page }: OwnRequest, path: string, { chosen, organizations }: OwnerFilter): Part {
  if (organizations.size === 0) return null
  const { t } = page.language
  const choices: [value: string, label: string][] = [
    ['', t('publish.owner.all')],
    [OWN, t('publish.owner.own')],
    ...organizations,
  ]
  return segments(
    t('publish.owner'),
    choices.map(([of, label]) => ({ href: pathTo(page, withQuery(path, { of })), label, isCurrent: of === chosen })),
  )
}
