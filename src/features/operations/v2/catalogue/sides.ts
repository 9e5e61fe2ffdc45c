// `client_side` and `server_side` of the older API, which the field `environment` has replaced.
import Type from 'typebox'
import { sidesOf } from '#ports/search-index/sides.ts'

export const SIDES = ['required', 'optional', 'unsupported', 'unknown'] as const
export type Side = (typeof SIDES)[number]
export const SideView = Type.Enum([...SIDES])

export type Sides = { client_side: Side; server_side: Side }

/** `projectType` is the type before plugins and data packs are shown as mods: some types run on one side only. */
export function toSides(projectType: string, environment: string | null | undefined): Sides {
  return sidesOf([projectType], environment ?? undefined) as Sides
}

const ENVIRONMENTS: Readonly<Record<string, string>> = {
  'required required': 'client_and_server',
  'required unsupported': 'client_only',
  'required optional': 'client_only_server_optional',
  'unsupported required': 'server_only',
  'optional required': 'server_only_client_optional',
  'optional optional': 'client_or_server',
}

/** The environment that a pair of sides stands for; `unknown` for pairs that say nothing. */
export function environmentOf({ client_side, server_side }: Sides): string {
  return ENVIRONMENTS[`${client_side} ${server_side}`] ?? 'unknown'
}

/**
 * The environment of a version whose sides are set; a side that is not set keeps its value. An environment that shows
 * these sides already stays: several of them show the same.
 */
export function changeSides(environment: string, sides: Partial<Sides>): string {
  const shown = toSides('mod', environment)
  const wanted = { ...shown, ...sides }
  const isSame = wanted.client_side === shown.client_side && wanted.server_side === shown.server_side
  return isSame ? environment : environmentOf(wanted)
}
