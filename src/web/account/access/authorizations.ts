// Which applications may act for one, and ending that.
import { listAuthorizations } from '#features/people/oauth/authorizations/queries.ts'
import { revokeAuthorization } from '#features/people/oauth/authorizations/revoke-authorization.ts'
import { parseId } from '#lib/ids.ts'
import type { PageDeps, Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { authorizationsView } from './access-views.ts'
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
    await revokeAuthorization(deps, viewer, parseId(field('client_id'), 'client_id'))
    return redirect(PATHS.authorizations, 'authorization-ended')
  })
}
