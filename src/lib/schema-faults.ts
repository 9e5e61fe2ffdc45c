// What a value has against its schema, in the words of the error a client gets. The first, most telling fault is it.
import { ApiError, invalidInput, validationError } from './errors.ts'

type SchemaFault = {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message: string
}

type Checker<T> = { Check(data: unknown): data is T; Errors(data: unknown): Iterable<unknown> }

/**
 * Checks an untyped value (the `data` part of a form, a JSON text in a query) like a JSON body.
 * @param at dotted path of the value in its body, empty for the body itself.
 * @throws ApiError `validation_error` with the dotted field.
 */
export function checkBody<T>(validator: Checker<T>, data: unknown, at = ''): T {
  if (!validator.Check(data)) throw bodyFault(data, validator.Errors(data), at)
  return data
}

/** The fault of a body that its schema refuses; undefined data means that there was none. */
export function bodyFault(data: unknown, faults: Iterable<unknown>, at = ''): ApiError {
  // The framework hands over null where there was no body; a literal null is refused by the parser.
  if (data === undefined || data === null) return new ApiError('json_error', 'A JSON body is required')
  const { field, message } = describeFault(faults)
  const place = [at, field].filter((part) => part !== '').join('.')
  return validationError(place === '' ? 'body' : place, message)
}

/** The fault of a path or query that its schema refuses. */
export function queryFault(faults: Iterable<unknown>): ApiError {
  const { field, message } = describeFault(faults)
  return invalidInput(`${field} ${message}`, field)
}

/** The deepest, most telling fault: a choice between types says which are allowed instead of that none fits. */
function describeFault(faults: Iterable<unknown>): { field: string; message: string } {
  const all = [...(faults as Iterable<SchemaFault>)]
  const choice = all.find((fault) => fault.keyword === 'anyOf')
  const first = all[0]
  const fault =
    choice !== undefined && first !== undefined && choice.instancePath === first.instancePath
      ? bestOfChoice(all, choice)
      : first
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
