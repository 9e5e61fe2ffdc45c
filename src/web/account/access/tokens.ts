// Personal access tokens.

import type { FastifyReply } from 'fastify'
import { actorOf } from '#features/basics/audit/actor.ts'
import { createAccessToken } from '#features/people/accounts/access-tokens/create-access-token.ts'
import { listAccessTokens } from '#features/people/accounts/access-tokens/queries.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/update-access-token.ts'
import { combineScopes, parseScopeNames, type ScopeBits } from '#lib/access/scopes.ts'
import { parseId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { attempt, type FormRefusal } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { secretView, tokensView } from './access-views.ts'
import { scopeGroups } from './scope-groups.ts'

const LABELS = { name: 'The name', scopes: 'The choice', expires: 'The expiry' }
/** Lifetimes that the form offers, in days. */
const LIFETIMES = [7, 30, 90, 365]

type Typed = { name: string; chosen: string[]; days: string; refusal?: FormRefusal }

export function tokenPages(pages: Pages): void {
  pages.own('GET', PATHS.tokens, 'showTokens', (request) => showTokens(request, { name: '', chosen: [], days: '90' }))
  pages.own('POST', PATHS.tokens, 'makeToken', makeToken)
  pages.own('POST', `${PATHS.tokens}/revoke`, 'revokeAccessToken', async ({ deps, viewer, field, redirect }) => {
    const token = { id: parseId(field('id'), 'id') }
    await deleteAccessToken(deps, { accountId: viewer.id, token, actor: actorOf(viewer) })
    return redirect(PATHS.tokens, 'token-revoked')
  })
}

async function showTokens(request: OwnRequest, typed: Typed): Promise<FastifyReply> {
  const { deps, viewer, page } = request
  const tokens = await listAccessTokens(deps.db, viewer.id)
  const body = tokensView(page, { ...typed, tokens, groups: scopeGroups(), lifetimes: LIFETIMES })
  return showSettings(request, { title: page.language.t('settings.tokens'), body, refusal: typed.refusal })
}

async function makeToken(request: OwnRequest): Promise<FastifyReply> {
  const { deps, viewer, page, field, fields } = request
  const [name, days, chosen] = [field('name'), field('days'), fields('scope')]
  const { value: created, refusal } = await attempt(
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
  if (refusal !== undefined) return showTokens(request, { name, chosen, days, refusal })
  // A response to the form, not a redirect, because no page with a URL can show the token.
  const body = secretView(page, { what: 'token', name: created.row.name, secret: created.token, next: PATHS.tokens })
  return showSettings(request, { title: page.language.t('secret.token.title'), body })
}

/** Combines the chosen scopes. Ignores unknown names. */
export function scopesOf(names: readonly string[]): ScopeBits {
  return names.reduce((sum, name) => combineScopes(sum, parseScopeNames(name).bits), 0)
}
