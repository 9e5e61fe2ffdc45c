// Resolves a host name once per call, and refuses it if any of its addresses is refused.
import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { OutgoingError } from './outgoing-error.ts'
import { isAllowedHost, isRefusedAddress, type OutgoingRules } from './rules.ts'

const QUERY_MS = 2_000
const TRIES = 2
/** The name servers do not know the name, or none is configured: the system may know the name from another source. */
const UNKNOWN_TO_DNS = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']

/** @throws OutgoingError `dns` or `refused_address`. */
export async function resolveHost(host: string, rules: OutgoingRules, signal: AbortSignal): Promise<string[]> {
  const addresses = isIP(host) === 0 ? await listAddresses(host, rules, signal) : [host]
  if (addresses.length === 0) throw new OutgoingError('dns')
  const isHostAllowed = isAllowedHost(host, rules)
  if (addresses.some((address) => isRefusedAddress(address, rules, isHostAllowed)))
    throw new OutgoingError('refused_address')
  return addresses
}

async function listAddresses(host: string, rules: OutgoingRules, signal: AbortSignal): Promise<string[]> {
  const resolve = rules.test?.resolve ?? (isAllowedHost(host, rules) ? listSystemAddresses : listPublicAddresses)
  try {
    return await untilAborted(resolve(host, signal), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new OutgoingError('dns', error)
  }
}

/**
 * Queries the name servers directly. The lookup of the system occupies a thread of the pool that also reads files, and some
 * names never resolve.
 */
async function listPublicAddresses(host: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length > 0) return addresses
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    const other = errors.find((error) => !UNKNOWN_TO_DNS.includes(error?.code))
    if (other !== undefined) throw other
    return await listSystemAddresses(host)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function listSystemAddresses(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

/** The lookup of the system cannot be cancelled; its late result is ignored. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
