// Ranges of IP addresses, as users write them.
import { isIP } from 'node:net'
import { validationError } from './errors.ts'

/** Returns an IP address or a range that PostgreSQL understands. @throws ApiError `validation_error` naming the field. */
export function checkAddressRange(text: string, field: string): string {
  if (!isAddressRange(text)) throw validationError(field, 'must be an IP address or a range such as 192.0.2.0/24')
  return text
}

/** Returns whether a text is an IP address or a range that PostgreSQL understands. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  const bits = family === 6 ? 128 : 32
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  // A zone names a network interface of one machine. IPv4 in IPv6 notation would never match: Depot stores IPv4.
  const isOdd = address.includes('%') || (family === 6 && address.includes('.'))
  return family !== 0 && isPrefix && rest.length === 0 && !isOdd
}
