import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { attributes, html, type Part, trusted } from './html.ts'

test('values are escaped, markup is not, and what is absent leaves nothing', () => {
  const inner = html`<b>${'<i>'}</b>`
  assert.equal(
    String(html`<p title="${`"'<&>`}">${inner}${null}${undefined}${false}${0}${12n}</p>`),
    '<p title="&quot;&#39;&lt;&amp;&gt;"><b>&lt;i&gt;</b>012</p>',
  )
  assert.equal(String(html`<ul>${['a', ['<', [html`<li>`]], null]}</ul>`), '<ul>a&lt;<li></ul>')
  assert.equal(String(html`${trusted('<hr>')}`), '<hr>')
})

test('text cannot leave its element or attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const content = String(html`<p>${text}</p>`).slice(3, -4)
      const value = String(html`<p title="${text}"></p>`).slice(10, -6)
      assert.ok(!/[<>"']/.test(content) && !/[<>"']/.test(value))
      const back = content
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&')
      assert.equal(back, text)
    }),
  )
})

test('rejects a value that is not a template part, even without type checks', () => {
  for (const value of [{}, new Date(), Symbol('x'), () => 'x', true, Promise.resolve('x'), { toString: () => '<' }])
    assert.throws(() => html`<p>${value as unknown as Part}</p>`, TypeError)
})

test('removes URLs that a browser would run', () => {
  const hostile = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001java\nscript\r:alert(1)',
    'vbscript:x',
    'data:text/html,<script>alert(1)</script>',
    'blob:https://a.test/x',
    'file:///etc/passwd',
  ]
  for (const address of hostile) {
    assert.equal(String(html`<a href="${address}">`), '<a href="#">', address)
    assert.equal(String(html`<form action='${address}'>`), "<form action='#'>", address)
    assert.equal(String(attributes({ href: address, formaction: address })), ' href="#" formaction="#"', address)
  }
  for (const address of ['/a?b=c:d', '#x', '?q=a:b', 'https://a.test/', 'mailto:a@b.test', 'a/b:c', '//a.test/'])
    assert.equal(String(html`<a href="${address}">`), `<a href="${address}">`)
  // Only the beginning of an address says what it is.
  assert.equal(String(html`<a href="/x/${'a:b'}">`), '<a href="/x/a:b">')
})

test('attributes are there, empty or absent by their value', () => {
  assert.equal(
    String(attributes({ required: true, disabled: false, id: null, name: undefined, value: '"<', size: 0 })),
    ' required value="&quot;&lt;" size="0"',
  )
  for (const name of ['onclick', 'ONLOAD', 'style', 'srcdoc', 'a b', 'a"b', '', '><script>'])
    assert.throws(() => attributes({ [name]: 'x' }), name)
})

test('a template with a value where escaping does not help is rejected when it is first used', () => {
  assert.throws(() => html`<a href=${'x'}>`)
  assert.throws(() => html`<script>${'x'}</script>`)
  assert.throws(() => html`<style>${'x'}</style>`)
  assert.throws(() => html`<!-- ${'x'} -->`)
  for (const part of ['onclick=alert(1)', 1, ['x'], [attributes({ id: 'x' })]]) assert.throws(() => html`<p ${part}>`)
  assert.equal(String(html`<p${null} ${attributes({ id: 'x' })}>`), '<p  id="x">')
  assert.equal(
    String(html`<script src="/a.js"></script><p${attributes({ hidden: true })}>${'<'}</p>`).includes('&lt;'),
    true,
  )
  assert.equal(String(html`<!-- fixed --><p>1 < 2 ${'<'}</p>`), '<!-- fixed --><p>1 < 2 &lt;</p>')
})
