// The operator route that records sales through affiliate codes.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { recordConversion } from './record-conversion.ts'
import { NewConversion, parseConversion } from './requests.ts'
import { ConversionView, toConversionView } from './views.ts'

export function affiliateOperatorRoutes(app: App, deps: Pick<Deps, 'db' | 'cache' | 'now' | 'config'>): void {
  mountInternal(app, (scope) =>
    scope.post('/admin/affiliate-conversion', {
      config: { auth: 'operator', errors: ['409 conflict'], withoutPage: 'For a CDN or a shop of the operator' },
      schema: {
        operationId: 'recordConversion',
        summary: 'Record a sale made through an affiliate code',
        description:
          'Idempotent by `external_id`: 201 for a new record, 200 for a repetition, 409 if the content differs.',
        body: NewConversion,
        response: { 200: ConversionView, 201: ConversionView },
      },
      handler: async (req, reply) => {
        const { conversion, isNew } = await recordConversion(
          deps,
          operatorOf(req),
          parseConversion(req.body, deps.now()),
        )
        return reply.status(isNew ? 201 : 200).send(toConversionView(conversion))
      },
    }),
  )
}
