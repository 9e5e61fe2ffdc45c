import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesRedirectUri, redirectUriProblem, withParameters } from './redirect-uri.ts'

test('https, loopback http and reversed domain names can be registered', () => {
  for (const uri of [
    'https://example.org/callback',
    'https://example.org',
    'https://example.org:8443/a/b?x=1&y=%20',
    'https://xn--exmple-cua.org/cb',
    'https://intranet/cb',
    'https://192.0.2.7/cb',
    'https://[2001:db8::7]:8443/cb',
    `https://${'a'.repeat(63)}.org/cb`,
    'http://127.0.0.1/cb',
    'http://127.0.0.1:5000/cb?x=1',
    'http://[::1]:5000/cb',
    'http://localhost:3000',
    'org.example.launcher:/cb',
    'org.example.launcher://cb/x',
  ])
    assert.equal(redirectUriProblem(uri), undefined, uri)
})

test('everything else is rejected', () => {
  for (const uri of [
    '',
    'callback',
    '/callback',
    '//example.org/cb',
    'http://example.org/cb',
    'http://127.0.0.1.example.org/cb',
    'http://127.0.0.2/cb',
    'http://localhost.example.org/',
    'http://2130706433/cb',
    'https://user@example.org/cb',
    'https://user:pass@example.org/cb',
    'https://example.org/cb#part',
    'https://example.org/cb#',
    'https://example.org./cb',
    'https://ex%61mple.org/cb',
    'https://exämple.org/cb',
    'https://EXAMPLE.org/cb',
    'https://example.org:443/cb',
    'https://example.org/a/../cb',
    'https://example.org\\@evil.org/cb',
    'https:example.org',
    'https://example.org/a b',
    'https://example.org/a\tb',
    ' https://example.org/cb',
    'https://*.example.org/cb',
    'https://a;sandbox/cb',
    "https://a'self'/cb",
    'https://a,b.org/cb',
    'https://a_b.example.org/cb',
    'https://-a.example.org/cb',
    'https://a-.example.org/cb',
    'https://a..org/cb',
    `https://${'a'.repeat(64)}.org/cb`,
    `https://${'a.'.repeat(127)}org/cb`,
    'https://1.2.3.4.5/cb',
    'https://[::1%25eth0]/cb',
    'https:///cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp://callback',
    'urn:ietf:wg:oauth:2.0:oob',
    `https://example.org/${'a'.repeat(2029)}`,
  ])
    assert.notEqual(redirectUriProblem(uri), undefined, uri)
  assert.equal(redirectUriProblem(`https://example.org/${'a'.repeat(2028)}`), undefined)
})

test('an address matches the registered one letter by letter', () => {
  const registered = 'https://example.org/cb?a=1'
  assert.ok(matchesRedirectUri(registered, registered))
  for (const given of [
    'https://example.org/cb',
    'https://example.org/cb?a=1&b=2',
    'https://example.org/cb?a=2',
    'https://example.org/CB?a=1',
    'https://example.org/cb/?a=1',
    'https://example.org/x/../cb?a=1',
    'https://example.org/%63b?a=1',
    'https://example.org:443/cb?a=1',
    'https://example.org:444/cb?a=1',
    'https://example.org./cb?a=1',
    'https://Example.org/cb?a=1',
    'http://example.org/cb?a=1',
    'https://user@example.org/cb?a=1',
    'https://example.org/cb?a=1#',
    'https://example.org/cb?a=1 ',
    'https://example.org.evil.test/cb?a=1',
    'https://evil.test/https://example.org/cb?a=1',
  ])
    assert.ok(!matchesRedirectUri(registered, given), given)
})

test('a loopback URI can differ only in its port', () => {
  for (const registered of ['http://127.0.0.1/cb', 'http://127.0.0.1:5000/cb']) {
    for (const given of ['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb', 'http://127.0.0.1:65535/cb'])
      assert.ok(matchesRedirectUri(registered, given), given)
    for (const given of [
      'http://127.0.0.1:65536/cb',
      'http://127.0.0.1:0/cb',
      'http://127.0.0.1:/cb',
      'http://127.0.0.1:50000/cb2',
      'http://127.0.0.1:5000@evil.test/cb',
      'http://user@127.0.0.1:5000/cb',
      'http://127.0.0.1:5000/cb?x=1',
      'http://127.0.0.1:5000/cb#x',
      'http://localhost:5000/cb',
      'http://[::1]:5000/cb',
      'https://127.0.0.1:5000/cb',
    ])
      assert.ok(!matchesRedirectUri(registered, given), given)
  }
  assert.ok(matchesRedirectUri('http://[::1]/cb', 'http://[::1]:9/cb'))
  assert.ok(matchesRedirectUri('http://localhost', 'http://localhost:9'))
})

test('adds parameters to the existing ones of a URL', () => {
  const added = { code: 'a b&c', state: null }
  assert.equal(withParameters('https://a.test/cb', added), 'https://a.test/cb?code=a+b%26c')
  assert.equal(withParameters('https://a.test/cb?x=%20', added), 'https://a.test/cb?x=%20&code=a+b%26c')
  assert.equal(withParameters('https://a.test/cb?', added), 'https://a.test/cb?code=a+b%26c')
  assert.equal(withParameters('org.example:/cb', added), 'org.example:/cb?code=a+b%26c')
})
