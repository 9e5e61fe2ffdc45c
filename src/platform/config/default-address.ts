// The default public URL, if BASE_URL is unset.
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Whether HOST means all addresses of the machine. */
export const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** Returns the URL at which others reach a service that listens on `host`. */
export function defaultBaseUrl(host: string, port: number): string {
  const reached = isEveryAddress(host) ? ownAddress(host) : host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}

/** Returns the first address of this machine that others can reach, or the loopback address. */
function ownAddress(host: string): string {
  const family = host === '::' ? 'IPv6' : 'IPv4'
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  // Link-local addresses work only together with the name of an interface.
  const external = all.find(
    ({ address, internal, family: of }) => of === family && !internal && !/^fe80|^169\.254/.test(address),
  )
  return external?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}

/** Returns the host name of a URL. Almost all mail servers reject senders at an IP address. */
export function mailDomain(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  return /^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname
}
