// Writers of every kind, and the ledger of their responses. A write with a received response must be permanent; a write
// without a response might have happened or not.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { ADDRESS_HEADER, ADMIN_KEY, BYPASS_KEY, type Instance } from './instance.ts'

export type Answer = { status: number; json: Record<string, unknown> }
type Sent = {
  method?: string
  token?: string
  json?: unknown
  form?: Awaited<ReturnType<typeof form>>
  svg?: string
  address?: string
}

/** `acknowledged`: a successful response arrived. `unknown`: the request was sent but no response arrived. */
type Fate = 'acknowledged' | 'unknown'

export type Ledger = {
  admin: string
  author: string
  authorId: string
  /** Follows the project all the time. */
  fan: { id: string; token: string }
  followers: { token: string; follows: boolean | undefined }[]
  affiliateCode: string
  /** The author's project, which all writers use. */
  project: { id: string; slug: string }
  versions: Map<string, { sha512: string; url: string }>
  /** Projects that are publicly searchable. */
  listed: Set<string>
  collections: Set<string>
  conversions: Map<string, Fate>
  payouts: Map<string, Fate>
  revenue: Map<string, Fate>
  /** The day for which each revenue was reported. */
  days: Map<string, string>
  /** Sessions of those who have signed up. */
  sessions: string[]
  /** Versions to release, with the release time by the clock of Depot. */
  releases: Map<string, number>
  icons: number
  summary: { acknowledged: number; asked: number }
  downloads: { acknowledged: number[]; asked: number }
  /** Responses that clients must not receive, whatever fails. */
  improper: string[]
  answers: Map<number, number>
}

export const PASSWORD = 'violet-lighthouse-harbour-19'
/** For what costs much of a processor. */
const RARELY_MS = 150
const SESSIONS_MAX = 60
/** A day that has begun by every clock that is set here. */
const SET_BACK_MS = 3 * 3_600_000
const RELEASE_AFTER_MS = 2_000

/** Pause between two writes of a kind; longer if Depot does not respond, so that not every request fails. */
const PAUSE_MS = 10
const PAUSE_WHEN_DOWN_MS = 200

const serial = { last: 0 }
function unique(prefix: string): string {
  serial.last += 1
  return `${prefix}-${process.pid.toString(36)}-${serial.last.toString(36)}`
}

/** Everybody has an address: a balancer keeps each on one server. */
function addressOf(token: string | undefined): string {
  return token === undefined
    ? '192.0.2.1'
    : `192.0.2.${2 + ((createHash('sha1').update(token).digest()[0] ?? 0) % 250)}`
}

/** Sends one request; undefined when no answer came. */
export async function call(instance: Instance, path: string, sent: Sent = {}): Promise<Answer | undefined> {
  const { method = 'GET', token, json, form: data, svg, address = addressOf(token) } = sent
  const headers: Record<string, string> = {
    'user-agent': 'depot-faults/1.0',
    'x-ratelimit-key': BYPASS_KEY,
    [ADDRESS_HEADER]: address,
    ...(token === undefined ? {} : { authorization: token }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(svg === undefined ? {} : { 'content-type': 'image/svg+xml' }),
    ...data?.headers,
  }
  const body = data?.payload ?? svg ?? (json === undefined ? undefined : JSON.stringify(json))
  try {
    const response = await fetch(`${instance.depot.url}${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(60_000),
      ...(body === undefined ? {} : { body: body as string }),
    })
    const text = await response.text()
    return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : {} }
  } catch {
    return undefined
  }
}

/** The same with the operator's key. */
export async function operate(instance: Instance, path: string, json: unknown): Promise<Answer | undefined> {
  const { url } = instance.depot
  const headers = {
    'user-agent': 'depot-faults/1.0',
    [ADDRESS_HEADER]: '192.0.2.1',
    'x-ratelimit-key': BYPASS_KEY,
    'x-admin-key': ADMIN_KEY,
    'content-type': 'application/json',
  }
  try {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(json) })
    return { status: response.status, json: JSON.parse(await response.text()) }
  } catch {
    return undefined
  }
}

/** So long ago that the money is the affiliate's. */
const SOLD = new Date(Date.now() - 90 * 86_400_000).toISOString()
/** Amount of a payout, out of the 1.00 that a sale earns. */
export const PAYOUT = '0.25'

export function conversionOf(ledger: Ledger, externalId: string) {
  return { external_id: externalId, affiliate_code_id: ledger.affiliateCode, amount: '10.00', at: SOLD }
}

export function payoutOf(ledger: Ledger, externalId: string) {
  return { external_id: externalId, user_id: ledger.authorId, amount: PAYOUT }
}

export function revenueOf(externalId: string, day: string) {
  return { external_id: externalId, day, amount: '7.00' }
}

/** Publishes a version of the project; the ledger has it when it was answered with 201. */
export async function publish(instance: Instance, ledger: Ledger, projectId = ledger.project.id): Promise<boolean> {
  const number = unique('v').slice(-32)
  const bytes = modJar(number)
  const data = versionData({ project_id: projectId, version_number: number })
  const answer = await call(instance, '/v3/version', {
    method: 'POST',
    token: ledger.author,
    form: await form(data, [{ name: 'file', filename: `${number}.jar`, bytes }]),
  })
  if (!note(ledger, 'publish', answer, 201)) return false
  const [file] = (answer?.json['files'] ?? []) as { url: string }[]
  const sha512 = createHash('sha512').update(bytes).digest('hex')
  ledger.versions.set(String(answer?.json['id']), { sha512, url: new URL(file?.url ?? '').pathname })
  return true
}

/** A project with a version that is approved, for the search. */
async function list(instance: Instance, ledger: Ledger): Promise<void> {
  const slug = unique('faults')
  const { author: token } = ledger
  const made = await call(instance, '/v3/project', { method: 'POST', token, json: projectData(slug) })
  if (!note(ledger, 'create a project', made, 201)) return
  if (!(await publish(instance, ledger, String(made?.json['id'])))) return
  const json = { status: 'approved' }
  const approved = await call(instance, `/v3/project/${slug}`, { method: 'PATCH', token: ledger.admin, json })
  if (note(ledger, 'approve', approved, 204)) ledger.listed.add(slug)
}

/**
 * Sends a write with an unknown result again, as a client would, until the result is known. The earlier request might
 * have succeeded.
 */
function nextOf(fates: Map<string, Fate>, kind: string): { id: string; success: number[] } {
  const [unknown] = [...fates].find(([, fate]) => fate === 'unknown') ?? []
  return unknown === undefined ? { id: unique(kind), success: [201] } : { id: unknown, success: [200, 201] }
}

/**
 * Returns whether the response is the expected success. Any response other than success, a temporary rejection or none
 * is improper.
 */
function note(ledger: Ledger, what: string, answer: Answer | undefined, wanted: number | number[]): boolean {
  const status = answer?.status ?? 0
  ledger.answers.set(status, (ledger.answers.get(status) ?? 0) + 1)
  if ([wanted].flat().includes(status)) return true
  const word = String(answer?.json['error'] ?? '')
  const isForTheMoment = status >= 500 && word !== 'internal_error'
  if (answer !== undefined && !isForTheMoment) ledger.improper.push(`${what}: ${status} ${JSON.stringify(answer.json)}`)
  return false
}

const WRITERS: ((instance: Instance, ledger: Ledger) => Promise<unknown>)[] = [
  (instance, ledger) => publish(instance, ledger),
  async (instance, ledger) => {
    // An account can own at most this number.
    if (ledger.listed.size < 50) await list(instance, ledger)
  },
  async (instance, ledger) => {
    for (const follower of ledger.followers) {
      const wanted = follower.follows === undefined ? true : !follower.follows
      const method = wanted ? 'POST' : 'DELETE'
      const path = `/v3/project/${ledger.project.id}/follow`
      const answer = await call(instance, path, { method, token: follower.token })
      // If the result is unknown, the other state might be the true one: following twice is rejected.
      if (follower.follows === undefined && answer?.status === 400) follower.follows = wanted
      else follower.follows = note(ledger, 'follow', answer, 204) ? wanted : undefined
    }
  },
  async (instance, ledger) => {
    const { id, success } = nextOf(ledger.conversions, 'sale')
    ledger.conversions.set(id, 'unknown')
    const answer = await operate(instance, '/_internal/admin/affiliate-conversion', conversionOf(ledger, id))
    if (note(ledger, 'record a sale', answer, success)) ledger.conversions.set(id, 'acknowledged')
  },
  async (instance, ledger) => {
    const json = { name: 'A list', projects: [ledger.project.id] }
    const answer = await call(instance, '/v3/collection', { method: 'POST', token: ledger.author, json })
    if (!note(ledger, 'make a collection', answer, 201)) return
    const id = String(answer?.json['id'])
    // An account can have at most this number.
    if (ledger.collections.size < 50) ledger.collections.add(id)
    else await call(instance, `/v3/collection/${id}`, { method: 'DELETE', token: ledger.author })
  },
  async (instance, ledger) => {
    ledger.summary.asked += 1
    const { asked } = ledger.summary
    const json = { summary: `Summary number ${asked} of this` }
    const path = `/v3/project/${ledger.project.id}`
    const answer = await call(instance, path, { method: 'PATCH', token: ledger.author, json })
    if (note(ledger, 'edit', answer, 204)) ledger.summary.acknowledged = asked
  },
  async (instance, ledger) => {
    const [first] = ledger.versions.values()
    if (first === undefined) return
    ledger.downloads.asked += 1
    const n = ledger.downloads.asked
    const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
    const answer = await call(instance, first.url, { address })
    if (note(ledger, 'download', answer, 200)) ledger.downloads.acknowledged.push(Date.now())
  },
  async (instance, ledger) => {
    // Never pays out more than the balance: unknown payouts count as paid.
    const sold = [...ledger.conversions.values()].filter((fate) => fate === 'acknowledged').length
    if ((ledger.payouts.size + 1) * Number(PAYOUT) > sold) return
    const { id, success } = nextOf(ledger.payouts, 'payout')
    ledger.payouts.set(id, 'unknown')
    const answer = await operate(instance, '/_internal/admin/payout', payoutOf(ledger, id))
    if (note(ledger, 'pay out', answer, success)) ledger.payouts.set(id, 'acknowledged')
  },
  async (instance, ledger) => {
    const { id, success } = nextOf(ledger.revenue, 'revenue')
    const day = ledger.days.get(id) ?? new Date(Date.now() - SET_BACK_MS).toISOString().slice(0, 10)
    ledger.revenue.set(id, 'unknown')
    ledger.days.set(id, day)
    const answer = await operate(instance, '/_internal/admin/revenue', revenueOf(id, day))
    if (note(ledger, 'report revenue', answer, success)) ledger.revenue.set(id, 'acknowledged')
    await sleep(RARELY_MS)
  },
  async (instance, ledger) => {
    if (ledger.sessions.length >= SESSIONS_MAX) return sleep(RARELY_MS)
    const username = unique('person')
    const json = { username, email: `${username}@example.org`, password: PASSWORD }
    const answer = await call(instance, '/_internal/auth/create', { method: 'POST', json })
    if (note(ledger, 'sign up', answer, 201)) ledger.sessions.push(String(answer?.json['session']))
    await sleep(RARELY_MS)
  },
  async (instance, ledger) => {
    const { clockMs } = instance
    // All writers download the first version.
    const id = [...ledger.versions.keys()].at(-1)
    if (id === undefined || ledger.versions.size === 1 || ledger.releases.has(id)) return
    const at = Date.now() + clockMs + RELEASE_AFTER_MS
    const json = { status: 'scheduled', requested_status: 'listed', scheduled_at: new Date(at).toISOString() }
    const answer = await call(instance, `/v3/version/${id}`, { method: 'PATCH', token: ledger.author, json })
    // The clock was set meanwhile, or the request waited for longer.
    if (String(answer?.json['description']).includes('in the future')) return
    if (note(ledger, 'schedule', answer, 204)) ledger.releases.set(id, at)
    await sleep(RARELY_MS)
  },
  async (instance, ledger) => {
    const path = `/v3/project/${ledger.project.id}/icon?ext=svg`
    const answer = await call(instance, path, { method: 'PATCH', token: ledger.author, svg: svgOf(ledger.icons) })
    if (note(ledger, 'draw an icon', answer, 204)) ledger.icons += 1
    await sleep(RARELY_MS)
  },
  // Work for threads: search, and Markdown on a page.
  async (instance, ledger) => {
    note(ledger, 'search', await call(instance, `/v3/search?query=${ledger.project.slug}`), 200)
    note(ledger, 'read a page', await call(instance, `/mod/${ledger.project.slug}`), 200)
  },
]

function svgOf(n: number): string {
  const colour = (n * 7919) % 0xffffff
  return `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="#${colour.toString(16).padStart(6, '0')}"/></svg>`
}

/** Lets every writer write again and again until `stop`; resolves when all are done. */
export function startWriters(instance: Instance, ledger: Ledger): { stop(): Promise<void> } {
  let isOver = false
  const running = WRITERS.map(async (write) => {
    while (!isOver) {
      const unanswered = ledger.answers.get(0)
      await write(instance, ledger)
      await sleep(ledger.answers.get(0) === unanswered ? PAUSE_MS : PAUSE_WHEN_DOWN_MS)
    }
  })
  return {
    stop: async () => {
      isOver = true
      await Promise.all(running)
    },
  }
}
