// Which program sends a request, as a label: the raw User-Agent is never kept.
import Type, { type Static } from 'typebox'

/** The form of `client-programs.json`. */
export const ClientProgramRows = Type.Array(
  Type.Object(
    { label: Type.String({ minLength: 1, maxLength: 64 }), contains: Type.String({ minLength: 1, maxLength: 128 }) },
    { additionalProperties: false },
  ),
  { maxItems: 500 },
)

/** The label of a User-Agent, empty when it is none of the known programs. */
export type ClientPrograms = (userAgent: string | undefined) => string

/** The label of the first row whose text the User-Agent contains, case aside. */
export function labelClientPrograms(rows: Static<typeof ClientProgramRows>): ClientPrograms {
  const programs = rows.map(({ label, contains }) => ({ label, contains: contains.toLowerCase() }))
  return (userAgent) => {
    if (userAgent === undefined) return ''
    const text = userAgent.toLowerCase()
    return programs.find(({ contains }) => text.includes(contains))?.label ?? ''
  }
}
