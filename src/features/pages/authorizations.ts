// Which applications may act for one, and ending that.

import { transaction } from '#cache/transaction.ts'
import { listAuthorizations, revokeAuthorization } from '#features/oauth/authorizations/authorizations.ts'
import { parseId } from '#lib/ids.ts'
import { authorizationsView } from './access-views.ts'
import type { PageDeps, Pages } from './page-request.ts'
import { PATHS } from './paths.ts'
import { scopeGroups } from './scope-groups.ts'

export function authorizationPages(pages: Pages, { deps }: PageDeps): void {
  pages.own('GET', PATHS.authorizations, 'showAuthorizations', async ({ viewer, page, showSettings }) => {
    const rows = await listAuthorizations(deps.db, viewer.id)
    const authorizations = rows.map((row) => ({ ...row, groups: scopeGroups(row.scopes) }))
    return showSettings({
      title: page.language.t('settings.authorizations'),
      body: authorizationsView(page, authorizations),
    })
  })
  pages.own('POST', `${PATHS.authorizations}/revoke`, 'endAuthorization', async ({ viewer, field, redirect }) => {
    const of = { accountId: viewer.id, clientId: parseId(field('client_id'), 'client_id') }
    await transaction(deps, (tx, changed) => revokeAuthorization(tx, changed, of))
    return redirect(PATHS.authorizations, 'authorization-ended')
  })
}
