// The state of an object that was copied.
import { createHash } from 'node:crypto'

/** Counters, which change without a change of the object. */
const COUNTERS = ['downloads', 'followers']

/** Returns the revision of an object of a source. Without revisions, it is a digest of everything except counters. */
export function revisionOf(json: Readonly<Record<string, unknown>>): string {
  if (typeof json['revision'] === 'number') return String(json['revision'])
  const kept = Object.entries(json)
    .filter(([key]) => !COUNTERS.includes(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(kept)).digest('base64url')
}
