// The forms that variables of the environment take.
import Type from 'typebox'

export type About = { description: string; must: string; example: string; secret?: boolean }

/** The longest value of any variable, in characters. */
const VALUE_MAX = 8192

export const optional = (about: About, check: (value: string) => boolean = () => true) =>
  Type.Optional(Type.Refine(Type.String({ maxLength: VALUE_MAX, ...about }), check))

export const count = (about: About, minimum: number, maximum: number, value: number) =>
  Type.Integer({ minimum, maximum, default: value, ...about })

export const choice = <const Word extends string[]>(
  about: Omit<About, 'must'>,
  words: [...Word],
  value: Word[number],
) => Type.Enum(words, { default: value, must: `one of ${words.join(', ')}`, ...about })

export const WEB = 'an http or https address without user, query and fragment'
