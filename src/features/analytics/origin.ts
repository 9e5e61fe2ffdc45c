// What an event keeps of who caused it: the country and the kind of program, never the address.

import type { ViewEvent } from '#analytics-store/events.ts'
import type { Deps } from '#main/deps.ts'
import { countryOf } from './country.ts'

export type Origin = Pick<ViewEvent, 'recorded_at' | 'country' | 'user_agent'>

/** What of a request an event is made from. */
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
