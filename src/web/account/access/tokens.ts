// Personal access tokens.

import type { FastifyReply } from 'fastify'
import { actorOf } from '#features/basics/audit/actor.ts'
import { createAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/delete-access-token.ts'
import { listAccessTokens } from '#features/people/accounts/access-tokens/queries.ts'
import { combineScopes, parseScopeNames, type ScopeBits } from '#lib/access/scopes.ts'
import { parseId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { type AccountPageRequest, attempt, type FormRefusal, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { secretView, tokensView } from './access-views.ts'
import { scopeGroups } from './scope-groups.ts'

const LABELS = { name: 'The name', scopes: 'The choice', expires: 'The expiry' }
/** Days that the form offers. */
const LIFETIMES = [7, 30, 90, 365]

type Typed = { name: string; chosen: string[]; days: string; refusal?: FormRefusal }

export function tokenPages(pages: Pages, { deps }: PageDeps): void {
  async function list({ viewer, page, showSettings }: AccountPageRequest, typed: Typed): Promise<FastifyReply> {
    const tokens = await listAccessTokens(deps.db, viewer.id)
    const body = tokensView(page, { ...typed, tokens, groups: scopeGroups(), lifetimes: LIFETIMES })
    return showSettings({ title: page.language.t('settings.tokens'), body, refusal: typed.refusal })
  }
  pages.own('GET', PATHS.tokens, 'showTokens', (request) => list(request, { name: '', chosen: [], days: '90' }))
  pages.own('POST', PATHS.tokens, 'makeToken', async (request) => {
    const { viewer, page, field, fields, showSettings } = request
    const [name, days, chosen] = [field('name'), field('days'), fields('scope')]
    const { value: made, refusal } = await attempt(
      () =>
        createAccessToken(deps, {
          actor: actorOf(viewer),
          accountId: viewer.id,
          name,
          scopes: scopesOf(chosen),
          expires: new Date(deps.now() + Number(days === '' ? Number.NaN : days) * DAY_MS),
        }),
      LABELS,
    )
    if (refusal !== undefined) return list(request, { name, chosen, days, refusal })
    // Answered and not led on to: the token is on no page that has an address of its own.
    const body = secretView(page, { what: 'token', name: made.row.name, secret: made.token, next: PATHS.tokens })
    return showSettings({ title: page.language.t('secret.token.title'), body })
  })
  pages.own('POST', `${PATHS.tokens}/revoke`, 'revokeAccessToken', async ({ viewer, field, redirect }) => {
    const token = { id: parseId(field('id'), 'id') }
    await deleteAccessToken(deps, { accountId: viewer.id, token, actor: actorOf(viewer) })
    return redirect(PATHS.tokens, 'token-revoked')
  })
}

/** The sum of the scopes whose boxes are ticked; names that the form does not have are none. */
export function scopesOf(names: readonly string[]): ScopeBits {
  return names.reduce((sum, name) => combineScopes(sum, parseScopeNames(name).bits), 0)
}
