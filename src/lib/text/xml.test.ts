import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeXml, xmlDocument } from './xml.ts'

test('markup in texts stays text', () => {
  assert.equal(escapeXml(`<a href="x">&'</a>`), '&lt;a href=&quot;x&quot;&gt;&amp;&apos;&lt;/a&gt;')
})

test('characters that XML cannot hold are replaced, all others stay', () => {
  assert.equal(escapeXml('a\0b\u0008c\u001fd\ufffee\ud800f'), 'a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf')
  assert.equal(escapeXml('tab\tline\nreturn\r é 漢 🏮'), 'tab\tline\nreturn\r é 漢 🏮')
})

test('a document is its elements, indented, with those that are undefined left out', () => {
  const text = xmlDocument(['a', [['b', '1 < 2'], undefined, ['c', [['d', '']]]], { xmlns: 'urn:"x"' }])
  assert.equal(
    text,
    '<?xml version="1.0" encoding="UTF-8"?>\n<a xmlns="urn:&quot;x&quot;">\n  <b>1 &lt; 2</b>\n  <c>\n    <d></d>\n  </c>\n</a>\n',
  )
})
