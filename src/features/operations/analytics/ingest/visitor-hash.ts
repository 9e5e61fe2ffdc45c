// Distinguishes visitors without storing IP addresses: a keyed hash of the address, with a new key for each UTC day.
// Hashes of different days cannot be linked, and no hash can be reversed without the secret.

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { DAY_MS } from '#lib/time.ts'

/**
 * Returns a function that hashes an IP address at a time (in milliseconds) to 128 bits as base64url. It hashes the
 * whole IPv4 address, and the /64 prefix of an IPv6 address, which one household or host has.
 * The function throws an Error for an invalid address.
 */
export function createVisitorHash(secret: Uint8Array | string): (address: string, nowMs: number) => string {
  let day = Number.NaN
  // A key object is created once per day: with raw bytes as the key, each hash takes three times as long.
  let dayKey: KeyObject | undefined
  return (address, nowMs) => {
    const today = Math.floor(nowMs / DAY_MS)
    if (dayKey === undefined || today !== day) {
      dayKey = createSecretKey(createHmac('sha256', secret).update(`visitor of day ${today}`).digest())
      day = today
    }
    return createHmac('sha256', dayKey).update(networkOf(address)).digest().toString('base64url', 0, 16)
  }
}

/** Returns the part of an IP address that identifies one visitor: `192.0.2.1`, or the first four groups of IPv6. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const plain = address.split('%')[0] ?? ''
  if (!isIPv6(plain)) throw new Error('Not an internet address')
  const groups = expandIpv6(plain)
  // An IPv4-mapped address (::ffff:0:0/96) is the same visitor as its IPv4 address.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Returns the eight 16-bit groups of a valid IPv6 address. */
function expandIpv6(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const zeros: number[] = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after]
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
