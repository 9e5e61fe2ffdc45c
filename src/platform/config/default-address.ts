// The public address where BASE_URL does not say it.
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Whether HOST stands for all addresses of the machine. */
export const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** Where people reach a service that listens on `host`. */
export function defaultBaseUrl(host: string, port: number): string {
  const reached = isEveryAddress(host) ? ownAddress(host) : host
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`
}

/** The first address of this machine that others reach too; where there is none, the one for itself. */
function ownAddress(host: string): string {
  const family = host === '::' ? 'IPv6' : 'IPv4'
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  // Link-local addresses work only together with the name of an interface.
  const found = all.find(
    ({ address, internal, family: of }) => of === family && !internal && !/^fe80|^169\.254/.test(address),
  )
  return found?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}

/** The host of an address where it is a name; mail from a bare IP address is refused almost everywhere. */
export function mailDomain(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  return /^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname
}
