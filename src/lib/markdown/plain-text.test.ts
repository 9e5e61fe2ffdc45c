import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainTextOf } from './plain-text.ts'

test('markup disappears, and blocks stay apart', () => {
  const cases = [
    ['Copy of Lantern. **No**', 'Copy of Lantern. No'],
    ['Read [the rules](http://depot.test/rules)!', 'Read the rules!'],
    ['# Title\n\n- one\n- `two`\n\n1. first', 'Title\n\n- one\n\n- two\n\n1. first'],
    ['![A lamp](https://x.test/a.png) and <b>bold</b>', 'A lamp and bold'],
    ['> quoted\n> text\n\n```\n**code**\n```', 'quoted\ntext\n\n**code**'],
    ['<p>In a block</p>', 'In a block'],
    ['2 < 3 & \\*stars\\* &amp; snake_case', '2 < 3 & *stars* & snake_case'],
    ['', ''],
  ] as const
  for (const [markdown, text] of cases) assert.equal(plainTextOf(markdown), text)
})

test('the URLs of links are added on request, unless they are the label', () => {
  const of = (markdown: string) => plainTextOf(markdown, { withLinks: true })
  assert.equal(of('Read [the **rules**](https://x.test/rules)'), 'Read the rules (https://x.test/rules)')
  assert.equal(of('<https://x.test/>'), 'https://x.test/')
})
