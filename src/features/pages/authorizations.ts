// Which applications may act for one, and ending that.
import { listAuthorizations } from '#features/oauth/authorizations/queries.ts'
import { revokeAuthorization } from '#features/oauth/authorizations/revoke-authorization.ts'
import { parseId } from '#lib/ids.ts'
import type { PageDeps, Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'
import { scopeGroups } from './scope-groups.ts'

export function authorizationPages(pages: Pages, { deps }: PageDeps): void {
  pages.own('GET', PATHS.authorizations, 'showAuthorizations', async ({ viewer, show }) => {
    const rows = await listAuthorizations(deps.db, viewer.id)
    const authorizations = rows.map((row) => ({ ...row, groups: scopeGroups(row.scopes) }))
    return show('authorizations', { title: 'Authorized applications', authorizations })
  })
  pages.own('POST', `${PATHS.authorizations}/revoke`, 'endAuthorization', async ({ viewer, field, lead }) => {
    const of = { accountId: viewer.id, clientId: parseId(field('client_id'), 'client_id') }
    await revokeAuthorization(deps, of)
    return lead(PATHS.authorizations, 'authorization-ended')
  })
}
