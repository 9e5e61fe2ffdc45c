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

/** Compares tables of one row a line, in any order: a failure shows the rows that changed, and no others. */
export function assertSameRows(actual: string, expected: string): void {
  const [ours, theirs] = [new Set(actual.split('\n')), new Set(expected.split('\n'))]
  const changed = [
    ...[...theirs].filter((row) => !ours.has(row)).map((row) => `- ${row}`),
    ...[...ours].filter((row) => !theirs.has(row)).map((row) => `+ ${row}`),
  ]
  if (changed.length > 0) assert.fail(`${changed.length} rows differ (- expected, + actual):\n${changed.join('\n')}`)
  assertSameText(actual, expected)
}
