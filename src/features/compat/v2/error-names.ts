// Renames fields and paths in errors: commands use the names of the v3 API, and v2 clients know other names.
import { ApiError, type ErrorDetails } from '#lib/errors.ts'
import { toV2Paths } from './v2-paths.ts'

/** Maps the dotted path of a field in the v3 API to the path in the v2 API. */
export type FieldNames = (field: string) => string

/** Runs `work` and renames the field in its error. */
export async function withFieldNames<T>(toV2: FieldNames, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ApiError ? renamed(error, toV2) : error
  }
}

function renamed(error: ApiError, toV2: FieldNames): ApiError {
  const { details } = error
  const v3Field = details?.['field']
  if (typeof v3Field !== 'string') return error
  const field = toV2(v3Field)
  if (field === v3Field) return error
  return changed(error, error.message.replace(`Field ${v3Field}:`, `Field ${field}:`), { field })
}

/** Returns the error with the paths of the v2 API. */
export function withV2Paths(error: ApiError): ApiError {
  const description = toV2Paths(error.message)
  if (description === error.message) return error
  const message = error.details?.['message']
  return changed(error, description, typeof message === 'string' ? { message: toV2Paths(message) } : {})
}

function changed(error: ApiError, description: string, names: ErrorDetails): ApiError {
  const { kind, details, headers } = error
  return new ApiError(kind, description, {
    ...(details === undefined ? {} : { details: { ...details, ...names } }),
    cause: error,
    ...(headers === undefined ? {} : { headers }),
  })
}

/** Returns a function that renames the first part of a path. */
export function firstPart(names: Readonly<Record<string, string>>): FieldNames {
  return (field) => {
    const [first = '', ...rest] = field.split('.')
    return [Object.hasOwn(names, first) ? names[first] : first, ...rest].join('.')
  }
}
