// The meaning of null in a PATCH, for all routes: null clears a field that can be empty. On any other field it means
// "not sent", because clients in languages without absent values send it.
import type { FastifyRequest, RouteOptions } from 'fastify'

type Schema = { type?: string; nullable?: boolean; anyOf?: Schema[]; enum?: unknown[] }
type ObjectSchema = { type?: string; required?: string[]; properties?: Record<string, Schema> }

/** Returns the optional properties of a JSON body that cannot be null. */
function unclearableFields(body: unknown): string[] {
  const { type, required = [], properties = {} } = (body ?? {}) as ObjectSchema
  if (type !== 'object') return []
  return Object.keys(properties).filter((name) => !required.includes(name) && !acceptsNull(properties[name]))
}

/** Returns the hook that removes nulls that mean "not sent" before the body is validated; undefined if none can. */
export function ignoreNulls({ method, schema }: Pick<RouteOptions, 'method' | 'schema'>) {
  const fields = method === 'PATCH' ? unclearableFields(schema?.body) : []
  if (fields.length === 0) return undefined
  return (req: FastifyRequest, _reply: unknown, done: () => void): void => {
    const body = req.body as Record<string, unknown> | undefined
    for (const field of fields) if (body?.[field] === null) delete body[field]
    done()
  }
}

/** Returns the schema of a body in which null is declared for these fields too. */
export function declareNulls<Body>(body: Body): Body {
  const { properties = {} } = (body ?? {}) as ObjectSchema
  const declared = unclearableFields(body).map((name) => [name, nullable(properties[name] ?? {})])
  return { ...body, properties: { ...properties, ...Object.fromEntries(declared) } }
}

/** The values and branches of the schema stay in their places, so that comparisons with earlier descriptions see no removal. */
function nullable(schema: Schema): Schema {
  if (schema.enum !== undefined) return { ...schema, nullable: true, enum: [...schema.enum, null] }
  if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  return schema.type === undefined ? schema : { ...schema, nullable: true }
}

function acceptsNull(schema: Schema | undefined): boolean {
  return schema?.type === 'null' || schema?.anyOf?.some(acceptsNull) === true
}
