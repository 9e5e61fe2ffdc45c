// Lists the applications that a user has authorized, and revokes them.
import { listAuthorizations } from '#features/people/oauth/authorizations/queries.ts'
import { revokeAuthorization } from '#features/people/oauth/authorizations/revoke-authorization.ts'
import { parseId } from '#lib/ids.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { authorizationsView } from './access-views.ts'
import { scopeGroups } from './scope-groups.ts'

export function authorizationPages(pages: Pages): void {
  pages.own('GET', PATHS.authorizations, 'showAuthorizations', async (request) => {
    const { deps, viewer, page } = request
    const rows = await listAuthorizations(deps.db, viewer.id)
    const authorizations = rows.map((row) => ({ ...row, groups: scopeGroups(row.scopes) }))
    const body = authorizationsView(page, authorizations)
    return showSettings(request, { title: page.language.t('settings.authorizations'), body })
  })
  pages.own('POST', `${PATHS.authorizations}/revoke`, 'endAuthorization', async ({ deps, viewer, field, redirect }) => {
    await revokeAuthorization(deps, viewer, parseId(field('client_id'), 'client_id'))
    return redirect(PATHS.authorizations, 'authorization-ended')
  })
}
