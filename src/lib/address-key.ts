// Parts of IP addresses.

/** Returns the part of an IP address that identifies a client: all of an IPv4 address, the first 64 bits of an IPv6 address. */
export function addressKey(address: string): string {
  return address.includes(':') ? `${leadingGroups(address, 4).join(':')}::/64` : address
}

/** Returns the network of an IP address, for display: 24 bits of an IPv4 address, 48 bits of an IPv6 address. */
export function networkOf(address: string): string {
  if (address.includes(':')) return `${leadingGroups(address, 3).join(':')}::/48`
  return `${address.split('.').slice(0, 3).join('.')}.0/24`
}

/** Returns the first 16-bit groups of an IPv6 address. */
function leadingGroups(address: string, count: number): string[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].slice(0, count)
  return groups.map((group) => Number.parseInt(group, 16).toString(16))
}
