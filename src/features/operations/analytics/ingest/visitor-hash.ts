// Distinguishes visitors without storing addresses: a keyed hash of the address, with a key of its own for each UTC day,
// so that hashes of two days cannot be joined and none can be reversed without the secret.

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { DAY_MS } from '#lib/time.ts'

/**
 * Makes the function that hashes an address at a time (milliseconds) to 128 bits as base64url: the key for
 * deduplication and caps. IPv4 counts whole, IPv6 by its /64, the part
 * that one household or host has. The function keeps the key of the day it was last asked about.
 * @throws Error from that function for what is not an address.
 */
export function createVisitorHash(secret: Uint8Array | string): (address: string, nowMs: number) => string {
  let day = Number.NaN
  // Made ready once a day: with bytes for a key, each hash takes three times as long.
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

/** The part of an address that stands for one visitor, in one spelling: `192.0.2.1`, or the first four groups. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const plain = address.split('%')[0] ?? ''
  if (!isIPv6(plain)) throw new Error('Not an internet address')
  const groups = expandIpv6(plain)
  // IPv4 within IPv6 (::ffff:0:0/96) is the IPv4 visitor.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Eight numbers of 16 bits. The caller has checked that the text is an IPv6 address. */
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
