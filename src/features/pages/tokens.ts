// Personal access tokens.
import type { FastifyReply } from 'fastify'
import { transaction } from '#cache/transaction.ts'
import { createPersonalAccessToken } from '#features/accounts/access-tokens/create-access-token.ts'
import { deleteAccessToken, listAccessTokens } from '#features/accounts/access-tokens/queries.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { combineScopes, parseScopeNames, type ScopeBits } from '#lib/scopes.ts'
import { recordEvent } from '#telemetry/events.ts'
import { attempt, type FormFault, type OwnVisit, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'
import { scopeGroups } from './scope-groups.ts'

const DAY_MS = 86_400_000
const LABELS = { name: 'The name', scopes: 'The choice', expires: 'The expiry' }
/** Days that the form offers. */
const LIFETIMES = [7, 30, 90, 365]

type Typed = { name: string; chosen: string[]; days: string; fault?: FormFault }

export function tokenPages(pages: Pages, { deps }: PageDeps): void {
  async function list({ viewer, show }: OwnVisit, typed: Typed): Promise<FastifyReply> {
    return show('tokens', {
      title: 'Access tokens',
      status: typed.fault?.status ?? 200,
      ...typed,
      tokens: await listAccessTokens(deps.db, viewer.id),
      groups: scopeGroups(),
      lifetimes: LIFETIMES,
      now: deps.now(),
    })
  }
  pages.own('GET', PATHS.tokens, 'showTokens', (visit) => list(visit, { name: '', chosen: [], days: '90' }))
  pages.own('POST', PATHS.tokens, 'makeToken', async (visit) => {
    const { viewer, field, fields, show } = visit
    const [name, days, chosen] = [field('name'), field('days'), fields('scope')]
    const { value: made, fault } = await attempt(
      () =>
        transaction(deps, (tx) =>
          createPersonalAccessToken(tx, {
            accountId: viewer.id,
            name,
            scopes: scopesOf(chosen),
            expires: new Date(deps.now() + Number(days === '' ? Number.NaN : days) * DAY_MS),
            now: deps.now(),
          }),
        ),
      LABELS,
    )
    if (fault !== undefined) return list(visit, { name, chosen, days, fault })
    recordEvent(deps, 'token.created', { account_id: viewer.id, token_id: made.row.id })
    // Answered and not led on to: the token is on no page that has an address of its own.
    return show('secret', {
      title: 'Your new token',
      what: 'token',
      name: made.row.name,
      secret: made.token,
      next: PATHS.tokens,
    })
  })
  pages.own('POST', `${PATHS.tokens}/revoke`, 'revokeAccessToken', async ({ viewer, field, lead }) => {
    const of = { accountId: viewer.id, token: { id: parseId(field('id'), 'id') } }
    if (!(await transaction(deps, (tx, changed) => deleteAccessToken(tx, changed, of)))) throw notFound('access token')
    return lead(PATHS.tokens, 'token-revoked')
  })
}

/** The sum of the scopes whose boxes are ticked; names that the form does not have are none. */
export function scopesOf(names: readonly string[]): ScopeBits {
  return names.reduce((sum, name) => combineScopes(sum, parseScopeNames(name).bits), 0)
}
