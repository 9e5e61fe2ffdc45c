// Affiliate codes: an account's own, everybody's for admins.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { mountInternal } from '#http/mounts.ts'
import { IdParams, Offset } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { parseId } from '#lib/ids.ts'
import { isAdmin } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { createCode, deleteCode, getOwnCode, updateCode } from './change-code.ts'
import { listAffiliateCodes } from './queries.ts'
import { AffiliateCodePatch, AffiliateCodeView, NewAffiliateCode, toAffiliateCodeView } from './views.ts'

type AffiliateDeps = Pick<Deps, 'db' | 'cache' | 'now'>

const LIST_MAX = 1_000
const session = { auth: { scope: ['SESSION_ACCESS'] } } as const
const readable = { auth: { scope: ['ANALYTICS'] } } as const

export function affiliateRoutes(app: App, deps: AffiliateDeps): void {
  mountInternal(app, (scope) => {
    reads(scope, deps)
    creation(scope, deps)
    changes(scope, deps)
  })
}

function reads(app: App, { db }: AffiliateDeps): void {
  app.get(
    '/affiliate',
    {
      config: readable,
      schema: {
        operationId: 'listAffiliateCodes',
        summary: "The caller's affiliate codes, everybody's for admins; oldest first",
        querystring: Type.Object({
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: LIST_MAX, default: LIST_MAX, description: 'Codes on a page' }),
          ),
          offset: Offset,
        }),
        response: { 200: Type.Array(AffiliateCodeView, { maxItems: LIST_MAX }) },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const { limit = LIST_MAX, offset = 0 } = req.query
      const codes = await listAffiliateCodes(db, {
        accountId: isAdmin(viewer) ? undefined : viewer.id,
        limit,
        offset,
      })
      return codes.map((code) => toAffiliateCodeView(code, viewer))
    },
  )
  app.get(
    '/affiliate/:id',
    {
      config: readable,
      schema: {
        operationId: 'getAffiliateCode',
        summary: 'An affiliate code',
        params: IdParams,
        response: { 200: AffiliateCodeView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      return toAffiliateCodeView(await getOwnCode(db, viewer, parseId(req.params.id, 'id')), viewer)
    },
  )
}

function creation(app: App, deps: AffiliateDeps): void {
  // PUT is what existing clients send.
  for (const method of ['POST', 'PUT'] as const) {
    app.route({
      method,
      url: '/affiliate',
      config: session,
      schema: {
        operationId: method === 'POST' ? 'createAffiliateCode' : 'putAffiliateCode',
        hide: method === 'PUT',
        summary: 'Make an affiliate code',
        description: 'Needs the affiliate badge or an admin.',
        body: NewAffiliateCode,
        response: { 201: AffiliateCodeView },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const code = await transaction(deps, (tx) => createCode(tx, viewer, { fields: req.body, now: deps.now() }))
        return reply.status(201).send(toAffiliateCodeView(code, viewer))
      },
    })
  }
}

function changes(app: App, deps: AffiliateDeps): void {
  app.patch(
    '/affiliate/:id',
    {
      config: session,
      schema: {
        operationId: 'updateAffiliateCode',
        summary: 'Edit an affiliate code',
        params: IdParams,
        body: AffiliateCodePatch,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const id = parseId(req.params.id, 'id')
      await transaction(deps, (tx) => updateCode(tx, viewer, { id, patch: req.body }))
      return done(reply)
    },
  )
  app.delete(
    '/affiliate/:id',
    {
      config: session,
      schema: {
        operationId: 'deleteAffiliateCode',
        summary: 'Delete an affiliate code; what it has earned stays',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const id = parseId(req.params.id, 'id')
      await transaction(deps, (tx) => deleteCode(tx, viewer, id))
      return done(reply)
    },
  )
}
