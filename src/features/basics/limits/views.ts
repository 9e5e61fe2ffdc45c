import Type from 'typebox'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'

export const QuotaView = NamedObject('Quota', {
  current: Type.Integer({ minimum: 0, description: 'Number of owned resources, without invitations and memberships' }),
  max: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Limit; null without a limit' }),
})

export const RateLimitView = NamedObject('RateLimitState', {
  limit: Type.Integer({ minimum: 1, description: 'Requests per minute' }),
  remaining: Type.Integer({ minimum: 0, description: 'Requests that are possible now' }),
  reset: { ...Timestamp, description: 'Time at which all requests of the limit are possible again' },
  reset_seconds: Type.Integer({
    minimum: 0,
    description: 'Seconds until all requests of the limit are possible again',
  }),
})
