// Schema validation, the same for tests and production: values of paths, queries and headers are converted from text,
// JSON bodies never are. The first fault becomes the error the specification names for its place.
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'

type SchemaFault = {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message: string
}

/** Fastify's validator compiler over TypeBox; `httpPart` says whether text may be converted. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema)
  if (httpPart === 'body') {
    return (data: unknown) => (validator.Check(data) ? { value: data } : { error: bodyFault(data, validator.Errors(data)) })
  }
  return (data: unknown) => {
    const value = Value.Convert(schema, data)
    return validator.Check(value) ? { value } : { error: queryFault(validator.Errors(value)) }
  }
}

/**
 * Checks an untyped value (the `data` part of a form, a JSON text in a query) like a JSON body.
 * @throws ApiError `validation_error` with the dotted field.
 */
export function checkBody<Schema extends TSchema>(validator: ReturnType<typeof Compile<Schema>>, data: unknown) {
  if (!validator.Check(data)) throw bodyFault(data, validator.Errors(data) as SchemaFault[])
  return data
}

function bodyFault(data: unknown, faults: Iterable<unknown>): ApiError {
  if (data === undefined) return new ApiError('json_error', 'A JSON body is required')
  const { field, message } = describeFault(faults)
  return validationError(field === '' ? 'body' : field, message)
}

function queryFault(faults: Iterable<unknown>): ApiError {
  const { field, message } = describeFault(faults)
  return invalidInput(`${field} ${message}`, field)
}

/** The deepest, most telling fault: a choice between types says which are allowed instead of that none fits. */
function describeFault(faults: Iterable<unknown>): { field: string; message: string } {
  const all = [...(faults as Iterable<SchemaFault>)]
  const choice = all.find((fault) => fault.keyword === 'anyOf')
  const first = all[0]
  const fault = choice !== undefined && first !== undefined && choice.instancePath === first.instancePath ? bestOfChoice(all, choice) : first
  if (fault === undefined) return { field: '', message: 'is not valid' }
  const path = fault.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  if (fault.keyword === 'required') {
    const missing = (fault.params['requiredProperties'] as string[] | undefined)?.[0] ?? ''
    return { field: path === '' ? missing : `${path}.${missing}`, message: 'is required' }
  }
  if (fault.keyword === 'additionalProperties' || fault.keyword === 'unevaluatedProperties') {
    const extra = (fault.params['additionalProperties'] as string[] | undefined)?.[0] ?? ''
    return { field: path === '' ? extra : `${path}.${extra}`, message: 'is not a known key' }
  }
  return { field: path, message: readable(fault) }
}

/** Of the alternatives of a choice, the fault of the one whose type fitted; else the list of allowed types. */
function bestOfChoice(all: SchemaFault[], choice: SchemaFault): SchemaFault {
  const telling = all.find((fault) => fault !== choice && fault.keyword !== 'type' && fault.keyword !== 'const')
  if (telling !== undefined) return telling
  const types = all.filter((fault) => fault.keyword === 'type').map((fault) => String(fault.params['type']))
  return { ...choice, message: types.length > 0 ? `must be ${types.join(' or ')}` : choice.message }
}

function readable({ keyword, params, message }: SchemaFault): string {
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
  if (keyword === 'pattern') return 'has characters or a form that is not allowed here'
  return message
}
