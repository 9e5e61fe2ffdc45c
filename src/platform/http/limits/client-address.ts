// Which address a request comes from.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { addressKey } from '#lib/address-key.ts'

/**
 * The client's address: the header the operator names, else the socket's peer. Undefined when it cannot be
 * determined (the header is absent or no address, or the peer has none, as on a Unix socket).
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

/** Who asks, for work that waits fairly between callers: the key under which the address is counted. */
export function callerOf({ clientAddress: address }: { clientAddress: string }): string {
  return addressKey(address)
}

/** IPv4 addresses as they are, also when written as IPv6. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
