// Derives the origin of an event from its request: the country and the kind of client, never the IP address.
import type { ViewEvent } from '#ports/analytics-store/events.ts'
import { HIDDEN_COUNTRY } from '#ports/analytics-store/points.ts'
import type { CountryLookup } from '#ports/country-lookup.ts'
import type { Deps } from '#ports/deps.ts'

export type Origin = Pick<ViewEvent, 'recorded_at' | 'country' | 'user_agent'>

/** The parts of a request from which an origin is derived. */
export type Caller = { address: string; headers: Readonly<Record<string, string | string[] | undefined>> }

type OriginDeps = Pick<Deps, 'config' | 'now' | 'countryLookup' | 'clientPrograms'>

export function originOf({ config, now, countryLookup, clientPrograms }: OriginDeps, caller: Caller): Origin {
  const { countryHeader } = config.analytics
  const header = countryHeader === undefined ? undefined : textOf(caller.headers[countryHeader])
  return {
    recorded_at: Math.floor(now()),
    country: countryOf({ header, address: caller.address }, countryLookup),
    user_agent: clientPrograms(textOf(caller.headers['user-agent'])),
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/**
 * Returns the upper-case country code, or `XX` if the country is unknown. `header` is the value of the operator's
 * country header. A header with an unusable value means unknown: the proxy saw the address, so there is no lookup.
 */
export function countryOf(
  request: { header: string | undefined; address: string | undefined },
  lookup: CountryLookup | undefined,
): string {
  if (request.header !== undefined && request.header !== '') return toCountry(request.header)
  if (request.address === undefined || lookup === undefined) return HIDDEN_COUNTRY
  return toCountry(lookup(request.address))
}

function toCountry(code: string | undefined): string {
  const capitals = code?.trim().toUpperCase() ?? ''
  return /^[A-Z]{2}$/.test(capitals) ? capitals : HIDDEN_COUNTRY
}
