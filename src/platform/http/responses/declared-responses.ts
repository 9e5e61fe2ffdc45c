// Response schemas that every route shares.
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { ERRORS } from '#lib/errors.ts'

const WORDS = [...new Set(Object.values(ERRORS).map(({ error }) => `\`${error}\``))].sort().join(', ')

const ErrorBody = Type.Object(
  {
    error: Type.String({ description: `Error code: one of ${WORDS}`, examples: ['validation_error'] }),
    description: Type.String({
      description: 'Message for people; its wording may change',
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
  },
  { title: 'Error' },
)

const ErrorAnswers = { '4xx': ErrorBody, '5xx': ErrorBody } as const

/** Success without a body. */
export const Empty = Type.Null({ description: 'No body' })

/** Answers 204 without a body: what most edits, deletions and actions do. A route that declares no answer has this one. */
export function done(reply: FastifyReply): FastifyReply {
  return reply.status(204).send(null)
}

/** Sends a body that bypasses serialisation: a stream, bytes or text. A route handler can return the result. */
export function sendRaw(reply: Pick<FastifyReply, 'send'>, body?: Readable | Uint8Array | string): never {
  return reply.send(body) as never
}

/** The answers of a route as it declares them, with those that every route has. */
export function completeResponses(declared: Record<string, unknown> = { 204: Empty }): Record<string, unknown> {
  return { ...declared, ...ErrorAnswers, ...declared }
}
