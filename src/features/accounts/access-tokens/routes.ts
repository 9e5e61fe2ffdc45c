// Personal access tokens: list, make, rename or prolong, revoke.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { IdParams } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { notFound, validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { parseToken } from '#lib/tokens.ts'
import { recordEvent } from '#telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import {
  checkExpiry,
  checkTokenName,
  createPersonalAccessToken,
  TOKEN_NAME_LENGTH_MAX,
  TOKEN_NAME_LENGTH_MIN,
} from './create-access-token.ts'
import { deleteAccessToken, listAccessTokens, updateAccessToken } from './queries.ts'
import { AccessTokenView, toAccessTokenView } from './views.ts'

const NameField = Type.String({ minLength: TOKEN_NAME_LENGTH_MIN, maxLength: TOKEN_NAME_LENGTH_MAX })
const ExpiresField = Type.String({
  format: 'date-time',
  maxLength: 64,
  description: 'In the future, at most ten years away',
})

const NewToken = Type.Object(
  {
    name: NameField,
    scopes: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Bit field without restricted scopes',
    }),
    expires: ExpiresField,
  },
  { title: 'NewPersonalAccessToken' },
)

const TokenChanges = Type.Object(
  {
    name: Type.Optional(NameField),
    expires: Type.Optional(ExpiresField),
    scopes: Type.Optional(Type.Unknown({ description: 'Refused: what a token may do is settled when it is made' })),
  },
  { title: 'PersonalAccessTokenChanges' },
)

export function accessTokenRoutes(app: App, deps: AccountDeps): void {
  app.get(
    '/pat',
    {
      config: { auth: { scope: ['PAT_READ'] } },
      schema: {
        operationId: 'listAccessTokens',
        summary: "The caller's access tokens, newest first",
        response: { 200: Type.Array(AccessTokenView) },
      },
    },
    async (req) => (await listAccessTokens(deps.db, requireViewer(req).id)).map((row) => toAccessTokenView(row, null)),
  )
  app.post(
    '/pat',
    {
      config: { auth: { scope: ['PAT_CREATE'] } },
      schema: {
        operationId: 'createAccessToken',
        summary: 'Make an access token; its secret is shown this once',
        body: NewToken,
        response: { 201: AccessTokenView },
      },
    },
    async (req, reply) => {
      const { id: accountId } = requireViewer(req)
      const { name, scopes, expires } = req.body
      const { row, token } = await transaction(deps, (tx) =>
        createPersonalAccessToken(tx, { accountId, name, scopes, expires: new Date(expires), now: deps.now() }),
      )
      recordEvent(deps, 'token.created', { account_id: accountId, token_id: row.id })
      return reply.status(201).send(toAccessTokenView(row, token))
    },
  )
  app.patch(
    '/pat/:id',
    {
      config: { auth: { scope: ['PAT_WRITE'] } },
      schema: {
        operationId: 'updateAccessToken',
        summary: 'Rename or prolong an access token',
        params: IdParams,
        body: TokenChanges,
      },
    },
    async (req, reply) => {
      const { id: accountId } = requireViewer(req)
      const id = parseId(req.params.id, 'id')
      const values = checkChanges(req.body, deps.now())
      const found = await transaction(deps, (tx, changed) => updateAccessToken(tx, changed, { accountId, id, values }))
      if (!found) throw notFound('access token')
      return done(reply)
    },
  )
  app.delete(
    '/pat/:id',
    {
      config: { auth: { scope: ['PAT_DELETE'] } },
      schema: {
        operationId: 'deleteAccessToken',
        summary: 'Revoke an access token, named by its ID or its secret',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const { id: accountId } = requireViewer(req)
      const secret = parseToken(req.params.id)
      const token = secret?.kind === 'pat' ? { hash: secret.hash } : { id: parseId(req.params.id, 'id') }
      const found = await transaction(deps, (tx, changed) => deleteAccessToken(tx, changed, { accountId, token }))
      if (!found) throw notFound('access token')
      return done(reply)
    },
  )
}

type Changes = { name?: string; expires?: string; scopes?: unknown }

function checkChanges(body: Changes, now: number): { name?: string; expires?: Date } {
  if ('scopes' in body) throw validationError('scopes', 'cannot be changed; make a new token instead')
  const expires = body.expires === undefined ? undefined : new Date(body.expires)
  if (body.name !== undefined) checkTokenName(body.name)
  if (expires !== undefined) checkExpiry(expires, now)
  return { ...(body.name === undefined ? {} : { name: body.name }), ...(expires === undefined ? {} : { expires }) }
}
