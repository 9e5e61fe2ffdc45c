// What processes tell each other of changes: the channel, the form of its payloads, and the sending of them.
//
// A payload is a JSON array: the kind, then the changed IDs, or the kind alone for "anything of this kind":
// ["project","aaaaaaaa","bbbbbbbb"] or ["project"].

import { sql, type Transaction } from 'kysely'
import type { ChangedIds, Changes } from './changes.ts'

export const CHANNEL = 'depot_changes'

/** PostgreSQL refuses payloads of 8000 bytes and more. */
const PAYLOAD_BYTES_MAX = 7_999

/**
 * Announces changes to every process, this one included, at the moment `tx` commits; never when it rolls back.
 * One statement whatever the number of changes; nothing to announce sends nothing. It belongs at the end of the
 * transaction: PostgreSQL commits those that announce something one after the other.
 */
export async function notifyChanged<DB>(tx: Transaction<DB>, changes: Changes): Promise<void> {
  const payloads = encodeInvalidations(changes)
  if (payloads.length === 0) return
  await sql`select pg_notify(${CHANNEL}, invalidation.payload) from unnest(${payloads}::text[]) as invalidation (payload)`.execute(
    tx,
  )
}

/** The payloads that say these changes, each within PostgreSQL's limit. */
export function encodeInvalidations(changes: Changes): string[] {
  return [...changes].flatMap(([kind, ids]) => (ids === 'all' ? [JSON.stringify([kind])] : encodeIds(kind, ids)))
}

function encodeIds(kind: string, ids: ReadonlySet<string>): string[] {
  const opening = `[${JSON.stringify(kind)}`
  const payloads: string[] = []
  let payload = opening
  let bytes = Buffer.byteLength(opening) + 1
  for (const id of ids) {
    const part = `,${JSON.stringify(id)}`
    const partBytes = Buffer.byteLength(part)
    if (bytes + partBytes > PAYLOAD_BYTES_MAX) {
      payloads.push(`${payload}]`)
      payload = opening
      bytes = Buffer.byteLength(opening) + 1
    }
    payload += part
    bytes += partBytes
  }
  if (payload !== opening) payloads.push(`${payload}]`)
  return payloads
}

/** The kind and IDs of a payload, or undefined when it is not one of ours: then anything may have changed. */
export function decodeInvalidation(payload: string): { kind: string; ids: ChangedIds } | undefined {
  let parts: unknown
  try {
    parts = JSON.parse(payload)
  } catch {
    return undefined
  }
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string')) return undefined
  const [kind, ...ids] = parts
  if (kind === undefined) return undefined
  return { kind, ids: ids.length === 0 ? 'all' : new Set(ids) }
}
