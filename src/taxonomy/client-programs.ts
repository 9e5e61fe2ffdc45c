// Identifies the client program of a request by a label. The raw User-Agent is never stored.
import Type, { type Static } from 'typebox'

/** Schema of `client-programs.json`. */
export const ClientProgramRows = Type.Array(
  Type.Object(
    { label: Type.String({ minLength: 1, maxLength: 64 }), contains: Type.String({ minLength: 1, maxLength: 128 }) },
    { additionalProperties: false },
  ),
  { maxItems: 500 },
)

/** Returns the label of a User-Agent; empty for unknown programs. */
export type ClientPrograms = (userAgent: string | undefined) => string

/** Returns the label of the first row whose text is in the User-Agent, ignoring case. */
export function labelClientPrograms(rows: Static<typeof ClientProgramRows>): ClientPrograms {
  const programs = rows.map(({ label, contains }) => ({ label, contains: contains.toLowerCase() }))
  return (userAgent) => {
    if (userAgent === undefined) return ''
    const text = userAgent.toLowerCase()
    return programs.find(({ contains }) => text.includes(contains))?.label ?? ''
  }
}
