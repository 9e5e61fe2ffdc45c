// Schemas of environment variables.
import Type from 'typebox'

export type About = { description: string; must: string; example: string; secret?: boolean }

/** The longest value of any variable, in characters. */
const VALUE_MAX = 8192

export const optional = (about: About, check: (value: string) => boolean = () => true) =>
  Type.Optional(Type.Refine(Type.String({ maxLength: VALUE_MAX, ...about }), check))

export const count = (about: About, minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value, ...about })

export const choice = <const Values extends string[]>(
  about: Omit<About, 'must'>,
  values: [...Values],
  value: Values[number],
) => Type.Enum(values, { default: value, must: `one of ${values.join(', ')}`, ...about })

export const WEB = 'an http or https URL without user, query and fragment'
