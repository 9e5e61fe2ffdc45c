import assert from 'node:assert/strict'

const AROUND = 3

/** Compares long texts by their lines: a failure shows the first place where they differ, not all of both. */
export function assertSameText(actual: string, expected: string): void {
  if (actual === expected) return
  const [ours, theirs] = [actual.split('\n'), expected.split('\n')]
  const place = ours.findIndex((line, index) => line !== theirs[index])
  const from = Math.max(0, (place < 0 ? ours.length : place) - AROUND)
  const part = (lines: string[]): string => lines.slice(from, from + 2 * AROUND + 1).join('\n')
  assert.equal(part(ours), part(theirs), `the texts differ from line ${from + AROUND + 1} on`)
  assert.fail('the texts differ')
}
