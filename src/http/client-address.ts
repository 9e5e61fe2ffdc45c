// Which address a request comes from, and the key under which it is counted.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

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

/** IPv4 addresses as they are, also when written as IPv6. */
function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}

/** What is counted as one client: the whole IPv4 address, the first 64 bits of an IPv6 one. */
export function addressKey(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
