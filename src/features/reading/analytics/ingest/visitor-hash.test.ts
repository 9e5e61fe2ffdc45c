import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countryOf } from './origin.ts'
import { createVisitorHash, networkOf } from './visitor-hash.ts'

const NOW = Date.UTC(2024, 1, 29, 23, 59, 59, 999)

test('an address has one hash for a UTC day, and another the next day', () => {
  const hash = createVisitorHash('a secret')
  const today = hash('192.0.2.1', NOW)
  assert.match(today, /^[\w-]{22}$/)
  assert.equal(hash('192.0.2.1', NOW - 86_399_999), today)
  assert.notEqual(hash('192.0.2.1', NOW + 1), today)
  assert.equal(hash('192.0.2.1', NOW), today)
})

test('another address or another secret has another hash', () => {
  const hash = createVisitorHash('a secret')
  assert.notEqual(hash('192.0.2.1', NOW), hash('192.0.2.2', NOW))
  assert.notEqual(hash('192.0.2.1', NOW), createVisitorHash('b secret')('192.0.2.1', NOW))
})

test('IPv6 counts by its /64 in any spelling, IPv4 within it as IPv4', () => {
  const networks = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:c000:201': '192.0.2.1',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:0DB8:0001:0002::1': '2001:db8:1:2::/64',
    '2001:db8::1': '2001:db8:0:0::/64',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '1:2:3:4:5:6:7::': '1:2:3:4::/64',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0::/64',
  }
  for (const [address, network] of Object.entries(networks)) assert.equal(networkOf(address), network, address)
  for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', ':::']) assert.throws(() => networkOf(text))
})

test('the country is the header of the proxy, else the database, else XX', () => {
  const lookup = (address: string) => (address === '192.0.2.1' ? 'de' : undefined)
  const countries: [header: string | undefined, address: string | undefined, country: string][] = [
    ['fr', '192.0.2.1', 'FR'],
    [' FR ', undefined, 'FR'],
    ['T1', '192.0.2.1', 'XX'],
    ['France', '192.0.2.1', 'XX'],
    ['XX', '192.0.2.1', 'XX'],
    ['', '192.0.2.1', 'DE'],
    [undefined, '192.0.2.1', 'DE'],
    [undefined, '192.0.2.2', 'XX'],
    [undefined, undefined, 'XX'],
  ]
  for (const [header, address, country] of countries) assert.equal(countryOf({ header, address }, lookup), country)
  assert.equal(countryOf({ header: undefined, address: '192.0.2.1' }, undefined), 'XX')
})
