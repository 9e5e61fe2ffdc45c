// Requests of leaked tokens.

import Type from 'typebox'
import { invalidInput } from '#lib/errors.ts'
import { NamedObject } from '#lib/schema/schema-parts.ts'

export const REPORTS_MAX = 100
const TOKEN_LENGTH_MAX = 512
const TYPE_LENGTH_MAX = 64
const URL_LENGTH_MAX = 2048

export const LeakedToken = NamedObject('LeakedToken', {
  token: Type.String({ minLength: 1, maxLength: TOKEN_LENGTH_MAX }),
})

/** The handler reads the body itself, because it verifies the signature of its bytes. */
export const LeakReports = Type.Array(
  Type.Object({
    token: Type.String({ maxLength: TOKEN_LENGTH_MAX }),
    type: Type.Optional(Type.String({ maxLength: TYPE_LENGTH_MAX, description: "The code host's name of the kind" })),
    url: Type.Optional(Type.String({ maxLength: URL_LENGTH_MAX, description: 'URL of the page with the token' })),
  }),
  { title: 'LeakedTokenReports', maxItems: REPORTS_MAX },
)

type Report = { token: string; type: string; url: string | undefined }

/** @throws ApiError `invalid_input` naming the entry. */
export function parseReports(body: Buffer): Report[] {
  let list: unknown
  try {
    list = JSON.parse(body.toString('utf8'))
  } catch {
    throw invalidInput('The body must be JSON', 'body')
  }
  if (!Array.isArray(list) || list.length > REPORTS_MAX)
    throw invalidInput(`The body must be an array of at most ${REPORTS_MAX} reports`, 'body')
  return list.map((entry: unknown, index) => {
    const { token, type, url } = (entry ?? {}) as Record<string, unknown>
    if (typeof token !== 'string' || token.length > TOKEN_LENGTH_MAX)
      throw invalidInput('must be a text', `${index}.token`)
    const isUrl = typeof url === 'string' && url.length <= URL_LENGTH_MAX && /^https?:\/\/[\x21-\x7e]+$/.test(url)
    return { token, type: typeof type === 'string' ? type.slice(0, TYPE_LENGTH_MAX) : '', url: isUrl ? url : undefined }
  })
}
