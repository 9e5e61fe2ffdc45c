// Which applications may act for one, and ending that.
import { transaction } from '#cache/transaction.ts'
import { listAuthorizations, revokeAuthorization } from '#features/oauth/authorizations/authorizations.ts'
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
    await transaction(deps, (tx, changed) => revokeAuthorization(tx, changed, of))
    return lead(PATHS.authorizations, 'authorization-ended')
  })
}
