// Errors of commands name fields as the newer API calls them; clients of the older one know them by the older names.
import { ApiError } from '#lib/errors.ts'

/** From the dotted path of a field in the newer API to the one that the client has sent. */
export type FieldNames = (field: string) => string

/** Runs `work`; an error that names a field names it as the client knows it. */
export async function withFieldNames<T>(toOlder: FieldNames, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ApiError ? renamed(error, toOlder) : error
  }
}

function renamed(error: ApiError, toOlder: FieldNames): ApiError {
  const { kind, details, headers } = error
  const newer = details?.['field']
  if (typeof newer !== 'string') return error
  const field = toOlder(newer)
  if (field === newer) return error
  const description = error.message.replace(`Field ${newer}:`, `Field ${field}:`)
  return new ApiError(kind, description, {
    details: { ...details, field },
    cause: error,
    ...(headers === undefined ? {} : { headers }),
  })
}

/** Renames the first part of a path. */
export function firstPart(names: Readonly<Record<string, string>>): FieldNames {
  return (field) => {
    const [first = '', ...rest] = field.split('.')
    return [Object.hasOwn(names, first) ? names[first] : first, ...rest].join('.')
  }
}
