// Operator routes: who may send more requests than others.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { done } from '#http/answers.ts'
import { mountInternal } from '#http/mounts.ts'
import { IdParams } from '#http/query-values.ts'
import { RATE_GRANT_KIND, type RateGrantDirectory } from '#http/rate-grants.ts'
import type { App } from '#http/server.ts'
import { parseId } from '#lib/ids.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import type { Deps } from '#main/deps.ts'
import { deleteGrant, GRANTS_MAX, type GrantRow, getGrant, insertGrant, listGrants } from './queries.ts'

type RateLimitDeps = Pick<Deps, 'db' | 'cache' | 'now'> & { rateGrants: RateGrantDirectory }

const RateLimitView = Type.Object(
  {
    id: Type.String(),
    token_id: Nullable(Type.String({ description: 'A personal access token, a session or an OAuth token' })),
    account_id: Nullable(Type.String({ description: 'Whose token it is; null once the token is gone' })),
    address_range: Nullable(Type.String()),
    requests_per_minute: Type.Integer(),
    note: Type.String(),
    created: Timestamp,
  },
  { title: 'RateLimit' },
)

const RateLimitInput = Type.Object(
  {
    token_id: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 64 }))),
    address_range: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 64, description: 'An address or a range: 192.0.2.0/24' })),
    ),
    requests_per_minute: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    note: Type.Optional(Type.String({ maxLength: 500, description: 'What it is for' })),
  },
  { title: 'RateLimitInput', description: 'One of `token_id` and `address_range`' },
)

const toView = ({ created, ...row }: GrantRow) => ({ ...row, created: created.toISOString() })

export function rateLimitRoutes(app: App, deps: RateLimitDeps): void {
  mountInternal(app, (scope) => {
    readRoute(scope, deps)
    writeRoutes(scope, deps)
  })
}

function readRoute(app: App, { db }: RateLimitDeps): void {
  app.get(
    '/admin/rate-limits',
    {
      config: { auth: 'operator' },
      schema: {
        operationId: 'listRateLimits',
        summary: 'Request rates granted to tokens and address ranges',
        response: { 200: Type.Array(RateLimitView, { maxItems: GRANTS_MAX }) },
      },
    },
    async () => (await listGrants(db)).map(toView),
  )
}

function writeRoutes(app: App, deps: RateLimitDeps): void {
  app.post(
    '/admin/rate-limits',
    {
      config: { auth: 'operator' },
      schema: {
        operationId: 'createRateLimit',
        summary: 'Grant a request rate to a token or an address range',
        description:
          'The token has the rate for itself, wherever it is used; each client address in a range has it for itself. ' +
          'A token comes before a range, a narrow range before a wide one. In force within seconds, everywhere.',
        body: RateLimitInput,
        response: { 201: RateLimitView },
      },
    },
    async (req, reply) => {
      const { token_id, address_range, requests_per_minute, note } = req.body
      const id = await transaction(deps, async (tx, changed) => {
        changed.addAll(RATE_GRANT_KIND)
        return insertGrant(tx, {
          tokenId: token_id ?? undefined,
          addressRange: address_range ?? undefined,
          requestsPerMinute: requests_per_minute,
          note: note ?? '',
          now: deps.now(),
        })
      })
      await deps.rateGrants.refresh()
      return reply.status(201).send(toView(await getGrant(deps.db, id)))
    },
  )
  app.delete(
    '/admin/rate-limits/:id',
    {
      config: { auth: 'operator' },
      schema: {
        operationId: 'deleteRateLimit',
        summary: 'Take a granted request rate back',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const id = parseId(req.params.id, 'id')
      await transaction(deps, async (tx, changed) => {
        changed.addAll(RATE_GRANT_KIND)
        await deleteGrant(tx, id)
      })
      await deps.rateGrants.refresh()
      return done(reply)
    },
  )
}
