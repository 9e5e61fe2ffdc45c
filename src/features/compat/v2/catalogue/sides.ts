// Converts between `client_side` and `server_side` of the v2 API and `environment`, which replaces them in the v3 API.
import Type from 'typebox'
import { type Side, sidesOf } from '#ports/search-index/sides.ts'

export const SIDES: Side[] = ['required', 'optional', 'unsupported', 'unknown']
export const SideView = Type.Enum(SIDES)

export type Sides = { client_side: Side; server_side: Side }

const ENVIRONMENTS: Readonly<Record<string, string>> = {
  'required required': 'client_and_server',
  'required unsupported': 'client_only',
  'required optional': 'client_only_server_optional',
  'unsupported required': 'server_only',
  'optional required': 'server_only_client_optional',
  'optional optional': 'client_or_server',
}

/** Returns the environment for a pair of sides, or `unknown`. */
export function environmentOf({ client_side, server_side }: Sides): string {
  return ENVIRONMENTS[`${client_side} ${server_side}`] ?? 'unknown'
}

/**
 * Returns the environment of a version after its sides change. An absent side is unchanged. An environment that already
 * has these sides is unchanged, because several environments have the same sides.
 */
export function changeSides(environment: string, sides: Partial<Sides>): string {
  const shown = sidesOf([], environment)
  const wanted = { ...shown, ...sides }
  const isSame = wanted.client_side === shown.client_side && wanted.server_side === shown.server_side
  return isSame ? environment : environmentOf(wanted)
}
