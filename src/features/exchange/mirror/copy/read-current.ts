// Reads objects that a change feed names. A source with several processes or a cache can show an older state for a moment.

import { CopyFailure } from '../failures.ts'
import type { Json, Read } from '../source/read-objects.ts'
import type { Source } from '../source/source.ts'
import type { MirrorRun } from './context.ts'

/** The revisions that the feed names, by ID; 0 if it names none. */
export type Revisions = ReadonlyMap<string, number>

const READS_MAX = 3
const FIRST_PAUSE_MS = 1_000

/**
 * Returns the objects that the source shows in the state that the feed names or a newer one, and the IDs of the others.
 */
export async function readCurrent<T extends { json: Json }>(
  source: Source,
  {
    ids,
    revisions,
    read,
  }: {
    ids: readonly string[]
    revisions: Revisions
    read: (source: Source, ids: readonly string[]) => Promise<Read<T>>
  },
): Promise<{ found: Read<T>; behind: string[] }> {
  const found: Read<T> = new Map()
  let unread = [...ids]
  for (let attempt = 0; unread.length > 0 && attempt < READS_MAX; attempt += 1) {
    if (attempt > 0) await source.pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
    const shown = await read(source, unread)
    for (const [id, object] of shown) if (isCurrent(object, revisions.get(id))) found.set(id, object)
    unread = unread.filter((id) => revisions.has(id) && !found.has(id))
  }
  return { found, behind: unread }
}

function isCurrent(object: { json: Json } | CopyFailure, revision = 0): boolean {
  if (object instanceof CopyFailure) return true
  const { revision: shown } = object.json
  return typeof shown !== 'number' || shown >= revision
}

/** Counts objects that the source does not show as its feed names them. The cursor stays before them. */
export function reportBehind({ report, warn }: MirrorRun, kind: 'project' | 'version', ids: readonly string[]): void {
  report.skipped += ids.length
  for (const id of ids)
    warn(`The source shows an older state of the ${kind} ${id} than its change feed names. The next run reads it again`)
}
