// Which program asks, as a label: the raw User-Agent is never kept.
import Type from 'typebox'
import { Value } from 'typebox/value'

const ClientProgramRows = Type.Array(
  Type.Object(
    { label: Type.String({ minLength: 1, maxLength: 64 }), contains: Type.String({ minLength: 1, maxLength: 128 }) },
    { additionalProperties: false },
  ),
  { maxItems: 500 },
)

/** The label of a User-Agent, empty when it is none of the known programs. */
export type ClientPrograms = (userAgent: string | undefined) => string

/**
 * From the rows of `taxonomy/client-programs.json`: the first row whose text the User-Agent contains, case aside.
 * @throws Error naming the file when it has another form.
 */
export function parseClientPrograms(data: unknown): ClientPrograms {
  if (!Value.Check(ClientProgramRows, data)) throw new Error('client-programs.json must be a list of {label, contains}')
  const programs = data.map(({ label, contains }) => ({ label, contains: contains.toLowerCase() }))
  return (userAgent) => {
    if (userAgent === undefined) return ''
    const text = userAgent.toLowerCase()
    return programs.find(({ contains }) => text.includes(contains))?.label ?? ''
  }
}
