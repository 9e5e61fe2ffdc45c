import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone, toZoned, zonedTime } from './zoned-time.ts'

const utc = (text: string, zone: string): string | undefined => {
  const at = zonedTime(text, zone)
  return at === undefined ? undefined : new Date(at).toISOString()
}

test('converts times of day with the offset of their date', () => {
  assert.equal(utc('2026-01-31T18:30', 'Europe/Berlin'), '2026-01-31T17:30:00.000Z')
  assert.equal(utc('2026-07-31T18:30', 'Europe/Berlin'), '2026-07-31T16:30:00.000Z')
  assert.equal(utc('2026-07-31T00:15', 'Asia/Kolkata'), '2026-07-30T18:45:00.000Z')
  assert.equal(utc('2026-07-31T18:30', 'UTC'), '2026-07-31T18:30:00.000Z')
  assert.equal(utc('2026-01-01T00:00', 'Pacific/Apia'), '2025-12-31T11:00:00.000Z')
})

test('rejects times that do not exist, and returns the first of two equal times', () => {
  assert.equal(utc('2026-03-29T02:30', 'Europe/Berlin'), undefined)
  assert.equal(utc('2026-10-25T02:30', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z')
  for (const text of ['', 'tomorrow', '2026-13-01T00:00', '2026-01-01', '2026-01-01T00:00Z'])
    assert.equal(utc(text, 'UTC'), undefined, text)
  for (const zone of ['', 'Mars/Olympus', '<b>']) assert.equal(utc('2026-01-01T00:00', zone), undefined, zone)
})

test('returns what was typed', () => {
  for (const zone of ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC'])
    for (const text of ['2026-01-31T18:30', '2026-07-01T00:00'])
      assert.equal(toZoned(zonedTime(text, zone) ?? 0, zone), text)
  assert.ok(isTimeZone('Europe/Berlin'))
})
