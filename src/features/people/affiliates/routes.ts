// Affiliate codes: users see their own, admins see all.
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createCode } from './create-code.ts'
import { getVisibleCode, listVisibleCodes } from './queries.ts'
import { AffiliateCodePatch, AffiliateCodesQuery, checkAffiliateCode, LIST_MAX, NewAffiliateCode } from './requests.ts'
import { deleteCode, updateCode } from './update-code.ts'
import { AffiliateCodeView, toAffiliateCodeView } from './views.ts'

type AffiliateDeps = Pick<Deps, 'db' | 'cache' | 'now'>

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
  app.get('/affiliate', {
    config: readable,
    schema: {
      operationId: 'listAffiliateCodes',
      summary: "List the caller's affiliate codes, oldest first; admins get all codes",
      querystring: AffiliateCodesQuery,
      response: { 200: Type.Array(AffiliateCodeView, { maxItems: LIST_MAX }) },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { limit = LIST_MAX, offset = 0 } = req.query
      const codes = await listVisibleCodes(db, viewer, { limit, offset })
      return codes.map((code) => toAffiliateCodeView(code, viewer))
    },
  })
  app.get('/affiliate/:id', {
    config: readable,
    schema: {
      operationId: 'getAffiliateCode',
      summary: 'Get an affiliate code',
      params: IdParams,
      response: { 200: AffiliateCodeView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      return toAffiliateCodeView(await getVisibleCode(db, viewer, parseId(req.params.id, 'id')), viewer)
    },
  })
}

function creation(app: App, deps: AffiliateDeps): void {
  // Existing clients send PUT.
  for (const method of ['POST', 'PUT'] as const) {
    app.route({
      method,
      url: '/affiliate',
      config: { ...session, errors: ['400 LimitReached'] },
      schema: {
        operationId: method === 'POST' ? 'createAffiliateCode' : 'putAffiliateCode',
        hide: method === 'PUT',
        summary: 'Create an affiliate code',
        description: 'Requires an admin or an account with the affiliate badge.',
        body: NewAffiliateCode,
        response: { 201: AffiliateCodeView },
      },
      handler: async (req, reply) => {
        const viewer = requireViewer(req)
        const code = await createCode(deps, viewer, checkAffiliateCode(req.body))
        return reply.status(201).send(toAffiliateCodeView(code, viewer))
      },
    })
  }
}

function changes(app: App, deps: AffiliateDeps): void {
  app.patch('/affiliate/:id', {
    config: session,
    schema: {
      operationId: 'updateAffiliateCode',
      summary: 'Edit an affiliate code',
      params: IdParams,
      body: AffiliateCodePatch,
    },
    handler: async (req) => {
      const id = parseId(req.params.id, 'id')
      await updateCode(deps, requireViewer(req), { id, patch: checkAffiliateCode(req.body) })
    },
  })
  app.delete('/affiliate/:id', {
    config: session,
    schema: {
      operationId: 'deleteAffiliateCode',
      summary: 'Delete an affiliate code; its earnings remain',
      params: IdParams,
    },
    handler: (req): Promise<void> => deleteCode(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}
