// Schemas of environment variables.
import Type from 'typebox'
import { isWebAddress } from './env-values.ts'

export type About = { description: string; must: string; example: string; secret?: boolean }
type Described = Omit<About, 'must'>

/** The longest value of any variable, in characters. */
const VALUE_MAX = 8192

type Text = About & { pattern?: string; maxLength?: number; check?: (value: string) => boolean }

/** A text without a default. */
export const optional = ({ check = () => true, ...about }: Text) =>
  Type.Optional(Type.Refine(Type.String({ maxLength: VALUE_MAX, ...about }), check))

/** A URL without a default. */
export const address = (about: Described) =>
  optional({ ...about, must: 'an http or https URL without user, query and fragment', check: isWebAddress })

/** A whole number in an inclusive range. */
export const count = ({
  range: [minimum, maximum],
  ...about
}: Described & { range: [number, number]; default: number }) =>
  Type.Integer({ minimum, maximum, must: `a whole number from ${minimum} to ${maximum}`, ...about })

/** A word from a list. */
export const choice = <const Values extends string[]>({
  values,
  ...about
}: Described & { values: [...Values]; default: Values[number] }) =>
  Type.Enum(values, { must: `one of ${values.join(', ')}`, ...about })

export const flag = (about: Described & { default?: boolean }) => Type.Boolean({ must: 'true or false', ...about })

export const optionalFlag = (about: Described) => Type.Optional(flag(about))
