// The channel and the payloads of notices, which are JSON in one of these forms:
//
//   {"logged":[{"id":"…","changes":{"user":["aaaaaaaa"],"token":"all"}}, …]}   committed transactions
//   {"logged":[]}                                          transactions that only the change log contains
//   {"proof":"…"}                                          test message of a new listener
//   ["user","aaaaaaaa"] or ["user"]                        sent by hand: IDs of a kind, or the whole kind

import type { LoggedChanges } from './change-log.ts'
import { type Changes, type Counts, readChanges } from './changes.ts'

export const CHANNEL = 'depot_changes'

/** PostgreSQL rejects payloads of 8,000 bytes or more. */
const PAYLOAD_BYTES_MAX = 7_999

/** A received notice. A notice that was sent by hand has no `id`. */
export type Notice =
  | { is: 'changes'; news: { changes: Changes; counts: Counts; id?: string }[] }
  | { is: 'in the log' }
  | { is: 'proof'; word: string }

const IN_THE_LOG = '{"logged":[]}'

/** Returns the payloads for the changes of these transactions: at least one, and as few as possible. */
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

/** Parses a payload; undefined if invalid, so that anything might have changed. */
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
