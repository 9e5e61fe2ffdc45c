// Which country a request comes from: the header that the operator's proxy sets, else a local address database, else
// unknown.
import { HIDDEN_COUNTRY } from '#analytics-store/points.ts'

/** Country of an address in a local database: ISO 3166 alpha-2, undefined when it is not listed. Never does I/O. */
export type CountryLookup = (address: string) => string | undefined

/**
 * A country code in capitals, `XX` when unknown. `header` is the value of the header named by the operator, undefined
 * when none is named or sent; an unusable value counts as unknown and does not fall through to the database, because
 * the proxy has seen the address and said that it does not know.
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
