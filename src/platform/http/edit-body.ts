// Lists all errors of the body of an edit: those of its schema, and those of the rules that need the database.
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ApiError } from '#lib/errors.ts'
import { keepKnownKeys } from '#lib/schema/known-keys.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { validParts } from '#lib/schema/schema-errors.ts'

/**
 * Calls `edit` with the body of a request. If the body does not match its schema, `edit` gets the properties that match, and
 * the errors of the others as `found`. It must throw `found` with its own errors before it saves anything.
 * @throws ApiError the error of the schema, with all errors.
 */
export async function withBody<Body, T>(
  req: Pick<FastifyRequest, 'validationError' | 'body'>,
  schema: TSchema,
  edit: (body: Body, found?: Refusals) => Promise<T>,
): Promise<T> {
  const error = req.validationError as unknown
  if (error === undefined || error === null) return edit(req.body as Body)
  if (!(error instanceof ApiError) || error.kind !== 'validation_error' || !isObject(req.body)) throw error
  const found = new Refusals()
  found.check(() => {
    throw error
  })
  const valid = keepKnownKeys(schema, validParts(schema, req.body)) as Body
  await found.wait(() => edit(valid, found))
  found.throwAny()
  throw error
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
