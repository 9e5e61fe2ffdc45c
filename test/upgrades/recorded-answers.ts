// Records the answers of an instance, and compares them with those of a later release.
import { createHash } from 'node:crypto'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import type { Client } from '#test/support/app/test-app.ts'
import type { Answer } from './recording.ts'

/** A partial request is not counted as a download. */
const PART = { range: 'bytes=1-' }
/** Using a session records when, from where and by which program. `seen` is opaque: each release can compute it differently. */
const OF_THE_CALL = new Set(['last_login', 'last_used', 'ip', 'user_agent', 'seen'])

/** Returns the answers to these addresses. Bodies that are not JSON are replaced with their hashes. */
export async function answersTo(client: Client, addresses: readonly string[]): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {}
  for (const address of addresses) {
    const { statusCode: status, rawPayload, headers } = await client.get(address, { headers: PART })
    const type = String(headers['content-type'] ?? '')
    const body = type.includes('json')
      ? rawPayload.toString('utf8')
      : createHash('sha256').update(rawPayload).digest('hex')
    answers[address] = { status, type, body }
  }
  return answers
}

/** Lists what a later answer lacks. A later release may add fields. */
export function differences(recorded: Answer, present: Answer): string[] {
  if (recorded.status !== present.status) return [`status ${present.status} instead of ${recorded.status}`]
  if (recorded.type !== present.type) return [`content type ${present.type} instead of ${recorded.type}`]
  if (!recorded.type.includes('json')) return recorded.body === present.body ? [] : ['another body']
  return missing(parse(recorded), parse(present), '')
}

/** A body with one value per line becomes a list. */
function parse({ type, body }: Answer): unknown {
  if (/^application\/([\w.-]+\+)?json(;|$)/.test(type)) return JSON.parse(body)
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

function missing(before: unknown, now: unknown, path: string): string[] {
  if (Array.isArray(before)) {
    if (!Array.isArray(now) || now.length !== before.length) return [`${path}: a list of another length`]
    return before.flatMap((item, i) => missing(item, now[i], `${path}/${i}`))
  }
  if (typeof before === 'object' && before !== null) {
    if (typeof now !== 'object' || now === null) return [`${path}: ${JSON.stringify(now)}`]
    const present = now as Record<string, unknown>
    return Object.entries(before).flatMap(([key, value]) =>
      OF_THE_CALL.has(key)
        ? []
        : key in present
          ? missing(value, present[key], `${path}/${key}`)
          : [`${path}/${key} is missing`],
    )
  }
  return Object.is(before, now) ? [] : [`${path}: ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`]
}

/** Returns the number of events by kind. */
export async function countEvents({ analytics }: Pick<Deps, 'analytics'>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const kind of EVENT_KINDS) {
    let count = 0
    await analytics.readEvents(kind, async (lines) => {
      count += lines.length
    })
    counts[kind] = count
  }
  return counts
}

/** Returns the keys of all stored files in order. */
export async function listFiles({ files }: Pick<Deps, 'files'>): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of files.list()) keys.push(key)
  return keys.sort()
}
