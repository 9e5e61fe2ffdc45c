import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#lib/time.ts'
import { countOf, dayText, exactTime, fileSize, relativeTime, shortNumber, timeAgo } from './format.ts'
import { DEFAULT_LANGUAGE as en, languageOf } from './languages.ts'

const de = languageOf('de') ?? assert.fail()

test('sizes are in the largest unit that leaves one, also where rounding makes it a thousand', () => {
  const cases: [number, string][] = [
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1023, '1,023 bytes'],
    [1024, '1 KiB'],
    [262_144, '256 KiB'],
    [1024 ** 2 - 513, '1,023 KiB'],
    [1024 ** 2 - 512, '1 MiB'],
    [1_887_437, '1.8 MiB'],
    [1024 ** 3 - 1, '1 GiB'],
    [1e15, '909.5 TiB'],
  ]
  for (const [bytes, text] of cases) assert.equal(fileSize(en, bytes), text)
  assert.equal(fileSize(de, 1_887_437), '1,8 MiB')
})

test('numbers are short in lists and whole behind the pointer', () => {
  assert.equal(shortNumber(en, 2_481_930), '2.5M')
  assert.equal(String(countOf(de, 2_481_930)), '<span title="2.481.930">2,5\u00a0Mio.</span>')
})

test('times are as far away as they are, and exact for machines', () => {
  const now = Date.UTC(2026, 0, 20)
  const ago = (ms: number) => relativeTime(en, new Date(now - ms), now)
  assert.deepEqual([0, 59_000, 60_000, 3_599_999, DAY_MS, 14 * DAY_MS, -7_200_000].map(ago), [
    'now',
    'now',
    '1 minute ago',
    '59 minutes ago',
    'yesterday',
    '2 weeks ago',
    'in 2 hours',
  ])
  const at = new Date(now - 3 * DAY_MS)
  assert.match(
    String(timeAgo(en, at, now)),
    /^<time datetime="2026-01-17T00:00:00\.000Z" title="[^"]+">3 days ago<\/time>$/,
  )
  assert.match(String(exactTime(en, at)), /January 17, 2026 at 12:00:00\s?AM UTC/)
  assert.equal(dayText(de, at), '17. Januar 2026')
})
