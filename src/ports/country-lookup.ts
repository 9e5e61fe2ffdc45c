// Looks up the country of an IP address in a local database in MaxMind format.

import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import type { CountryResponse } from 'maxmind'
import { OperatorError } from '#lib/operator-error.ts'

/** Returns the ISO 3166-1 alpha-2 code of an IP address; undefined if the database has no entry. Performs no I/O. */
export type CountryLookup = (address: string) => string | undefined

/** Loads the country database, if there is one, into memory. @throws OperatorError if the file cannot be read. */
export async function openCountryLookup(path: string | undefined): Promise<CountryLookup | undefined> {
  if (path === undefined) return undefined
  const { Reader } = await import('maxmind')
  try {
    const reader = new Reader<CountryResponse>(await readFile(path))
    const isIpv4Only = reader.metadata.ipVersion === 4
    // In an IPv4 database, the library would look up the first bits of an IPv6 address as an IPv4 address.
    return (address) => (isIpv4Only && isIPv6(address) ? undefined : reader.get(address)?.country?.iso_code)
  } catch (cause) {
    throw new OperatorError(`The address database ${path} (GEOIP_DATABASE) cannot be read`, { cause })
  }
}
