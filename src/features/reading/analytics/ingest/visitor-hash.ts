// Distinguishes visitors without storing IP addresses: a keyed hash of the address, with a new key for each UTC day.
// Hashes of different days cannot be linked, and no hash can be reversed without the secret.

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { isIPv4, SocketAddress } from 'node:net'
import { addressKey } from '#lib/address-key.ts'
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

/**
 * Returns the part of an IP address that identifies one visitor. An IPv4-mapped address (::ffff:0:0/96) is the same visitor
 * as its IPv4 address. @throws Error for an invalid address
 */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  const canonical = new SocketAddress({ address: address.split('%')[0] ?? '', family: 'ipv6' }).address
  return addressKey(canonical.replace(/^::ffff:(?=\d+\.)/, ''))
}
