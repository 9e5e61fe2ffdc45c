// The rules for calls to URLs that users supply: which hosts and IP addresses Depot may call. The operator can permit and
// forbid more with OUTGOING_ALLOW and OUTGOING_DENY.
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Secret } from '#lib/access/secret.ts'

/** `names`: host names in lower case; `*.example.org` means all names below example.org. */
export type AddressList = { names: readonly string[]; ranges: BlockList }

/** Returns the IP addresses of a host name. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>

export type OutgoingRules = {
  /** Whether Depot calls URLs at all. */
  isOn: boolean
  /** Hosts that may be private and may use `http:`. */
  allow: AddressList
  deny: AddressList
  /** HTTP proxy through which all calls go. */
  proxy: Secret | undefined
  /** Whether the operator chose the URL, so that it can be any http or https URL. */
  isTrusted: boolean
  /** Replacements in tests. */
  test?: { resolve?: Resolve; ca?: string }
}

/** Special-purpose ranges of IANA, all ranges that embed IPv4 addresses, and the address of a cloud provider's own services. */
const BLOCKED_RANGES = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '168.63.129.16'],
  // `isMappedAddress` replaces ::ffff:0:0/96: BlockList maps such addresses to IPv4, so that range would block every IPv4 address.
  ...[
    '::/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
  ],
  ...['5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]
const BLOCKED = toRanges(BLOCKED_RANGES)
const RESERVED_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/

const NAME_FORM = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/
const ENTRIES_MAX = 200

export const NO_ADDRESSES: AddressList = { names: [], ranges: new BlockList() }

/** Rules for URLs that the operator chose. */
export const OPERATOR_RULES: OutgoingRules = {
  isOn: true,
  allow: NO_ADDRESSES,
  deny: NO_ADDRESSES,
  proxy: undefined,
  isTrusted: true,
}

/** Returns the list of OUTGOING_ALLOW or OUTGOING_DENY; undefined if it is not valid. */
export function parseAddressList(text: string): AddressList | undefined {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  const isRange = (entry: string): boolean => entry.includes('/') || isIP(entry) !== 0
  const ranges = entries.filter(isRange)
  const names = entries.filter((entry) => !isRange(entry)).map((name) => name.toLowerCase())
  const isValid = entries.length <= ENTRIES_MAX && ranges.every(isValidRange) && names.every(isValidName)
  return isValid ? { names, ranges: toRanges(ranges) } : undefined
}

/** Whether the operator permits this host by name, or by range if the host is an IP address. */
export function isAllowedHost(host: string, { allow, isTrusted }: OutgoingRules): boolean {
  return isTrusted || isListed(host, allow)
}

/** Whether the rules forbid a host, without resolving its name. */
export function isRefusedHost(host: string, rules: OutgoingRules): boolean {
  if (isIP(host) !== 0) return isRefusedAddress(host, rules)
  if (rules.isTrusted) return false
  if (isListed(host, rules.deny)) return true
  return !NAME_FORM.test(host) || (RESERVED_NAME.test(host) && !isListed(host, rules.allow))
}

/** Whether an IP address must not be called. `isHostAllowed`: whether the operator permits the host by its name. */
export function isRefusedAddress(address: string, rules: OutgoingRules, isHostAllowed = false): boolean {
  if (rules.isTrusted) return false
  // A link-local address can end in the name of an interface.
  const [plain = ''] = address.split('%', 1)
  if (isIP(plain) === 0 || isInside(plain, rules.deny.ranges)) return true
  const isBlocked = isInside(plain, BLOCKED) || isMappedAddress(plain)
  return isBlocked && !isHostAllowed && !isInside(plain, rules.allow.ranges)
}

/** Whether an IP address is in ::ffff:0:0/96, in any spelling. */
function isMappedAddress(address: string): boolean {
  if (!isIPv6(address)) return false
  return /^\[::ffff:[0-9a-f]{1,4}:[0-9a-f]{1,4}\]$/.test(new URL(`http://[${address}]`).hostname)
}

function isListed(host: string, { names, ranges }: AddressList): boolean {
  if (isIP(host) !== 0) return isInside(host, ranges)
  return names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name))
}

function isInside(address: string, ranges: BlockList): boolean {
  return ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function isValidRange(entry: string): boolean {
  const [address = '', prefix, ...others] = entry.split('/')
  if (others.length > 0 || isIP(address) === 0 || address.includes('%')) return false
  // The range ::ffff:0:0/96 would match every IPv4 address.
  if (/^::ffff:/i.test(address)) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv6(address) ? 128 : 32))
}

function isValidName(name: string): boolean {
  // A last label of digits would be an IP address in another spelling.
  return name.length <= 253 && NAME_FORM.test(name) && !/(^|\.)\d+$/.test(name)
}

function toRanges(entries: readonly string[]): BlockList {
  const ranges = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    ranges.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return ranges
}
