// Notices of changes: the channel and the form of their payloads, JSON of one of these forms.
//
//   {"logged":[{"id":"…","changes":{"project":["aaaaaaaa"],"version":"all"}}, …]}   what was committed
//   {"logged":[]}                                          the same, too long to say: the log of changes has it
//   {"proof":"…"}                                          a listener asks itself whether it hears
//   ["project","aaaaaaaa"] or ["project"]                  sent by hand: a kind, its IDs or all of it

import type { LoggedChanges } from './change-log.ts'
import { type Changes, type Counts, readChanges } from './changes.ts'

export const CHANNEL = 'depot_changes'

/** PostgreSQL refuses payloads of 8000 bytes and more. */
const PAYLOAD_BYTES_MAX = 7_999

/** A notice as it was heard. `id` is absent from what was sent by hand. */
export type Notice =
  | { is: 'changes'; news: { changes: Changes; counts: Counts; id?: string }[] }
  | { is: 'in the log' }
  | { is: 'proof'; word: string }

const IN_THE_LOG = '{"logged":[]}'

/** The payloads that say what these transactions have changed: as few as PostgreSQL's limit allows, at least one. */
export function encodeNotices(logged: readonly LoggedChanges[]): string[] {
  const payloads: string[] = []
  let parts: string[] = []
  let bytes = IN_THE_LOG.length
  let isComplete = true
  const close = (): void => {
    if (parts.length > 0) payloads.push(`{"logged":[${parts.join()}]}`)
    parts = []
    bytes = IN_THE_LOG.length
  }
  for (const one of logged) {
    const part = JSON.stringify(one)
    const partBytes = Buffer.byteLength(part) + 1
    if (IN_THE_LOG.length + partBytes > PAYLOAD_BYTES_MAX) {
      isComplete = false
      continue
    }
    if (bytes + partBytes > PAYLOAD_BYTES_MAX) close()
    parts.push(part)
    bytes += partBytes
  }
  close()
  if (!isComplete) payloads.push(IN_THE_LOG)
  return payloads
}

export function encodeProof(word: string): string {
  return JSON.stringify({ proof: word })
}

/** What a payload says, or undefined when it is none of the forms: then anything may have changed. */
export function decodeNotice(payload: string): Notice | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(payload)
  } catch {
    return undefined
  }
  if (Array.isArray(parsed)) return byHand(parsed)
  if (typeof parsed !== 'object' || parsed === null) return undefined
  if ('proof' in parsed) return typeof parsed.proof === 'string' ? { is: 'proof', word: parsed.proof } : undefined
  if (!('logged' in parsed) || !Array.isArray(parsed.logged)) return undefined
  if (parsed.logged.length === 0) return { is: 'in the log' }
  const news = parsed.logged.map((one: { id?: unknown; changes?: unknown } | null) => {
    const news = readChanges(one?.changes)
    const id = one?.id
    return news === undefined || typeof id !== 'string' ? undefined : { ...news, id }
  })
  return news.every((one) => one !== undefined) ? { is: 'changes', news } : undefined
}

function byHand(parts: unknown[]): Notice | undefined {
  if (!parts.every((part) => typeof part === 'string')) return undefined
  const [kind, ...ids] = parts
  if (kind === undefined) return undefined
  const changes: Changes = new Map([[kind, ids.length === 0 ? 'all' : new Set(ids)]])
  return { is: 'changes', news: [{ changes, counts: new Map() }] }
}
