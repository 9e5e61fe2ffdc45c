// The IP address of the client.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { addressKey } from '#lib/address-key.ts'

/**
 * Returns the client's IP address: from the configured header, otherwise from the socket. Undefined if the header is missing
 * or invalid, or if the socket has no address.
 */
export function clientAddress(req: IncomingMessage, header: string | undefined): string | undefined {
  if (header === undefined) {
    const peer = req.socket.remoteAddress
    return peer === undefined || peer === '' ? undefined : unmapped(peer)
  }
  const value = req.headers[header]
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return isIP(text) === 0 ? undefined : unmapped(text)
}

/** Returns the key of the caller for queues that serve callers in turn. */
export function callerOf({ clientAddress: address }: { clientAddress: string }): string {
  return addressKey(address)
}

/** Converts an IPv4 address in IPv6 notation to IPv4. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
