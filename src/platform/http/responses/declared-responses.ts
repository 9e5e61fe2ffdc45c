// Response schemas and helpers that all routes share.

import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { ERRORS } from '#lib/errors.ts'
import { ERRORS_MAX } from '#lib/schema/refusals.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'

const CODES = [...new Set(Object.values(ERRORS).map(({ error }) => `\`${error}\``))].sort().join(', ')

const ErrorBody = NamedObject('Error', {
  error: Type.String({ description: `Error code: one of ${CODES}`, examples: ['validation_error'] }),
  description: Type.String({
    description: 'Message for people. Its wording can change',
    examples: ['Field name: must be at least 3 characters long'],
  }),
  details: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Machine-readable details, such as `field`: the path of the invalid value, in dotted form',
      examples: [{ field: 'name', message: 'must be at least 3 characters long' }],
    }),
  ),
  errors: Type.Optional(
    Type.Array(Type.Object({ error: Type.String(), field: Type.String(), message: Type.String() }), {
      maxItems: ERRORS_MAX,
      description:
        'With 400, the errors of fields; the first one is also in `details`. Other fields can have errors that were not checked',
    }),
  ),
})

const ERROR_RESPONSES = { '4xx': ErrorBody, '5xx': ErrorBody } as const

/** Success without a body. */
export const Empty = Type.Null({ description: 'No body' })

/** Sends 204 without a body, as a route does by default whose handler returns nothing. */
export function done(reply: FastifyReply): FastifyReply {
  return reply.status(204).send(null)
}

/** Sends a body that bypasses serialisation: a stream, bytes or text. A route handler can return the result. */
export function sendRaw(reply: Pick<FastifyReply, 'send'>, body?: Readable | Uint8Array | string): never {
  return reply.send(body) as never
}

/** Adds the error responses of every route to the declared responses. */
export function completeResponses(declared: Record<string, unknown> = { 204: Empty }): Record<string, unknown> {
  return { ...declared, ...ERROR_RESPONSES, ...declared }
}
