// After each round: everything that was acknowledged is there, and nothing is there twice.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { depot } from '../support/running-depot.ts'
import { ADDRESS_HEADER, BYPASS_KEY, type Instance } from './instance.ts'
import { call, conversionOf, type Ledger, operate } from './writers.ts'

/** What a killed process may lose of events: docs/analytics.md promises a second. */
export const EVENTS_LOST_MS = 1_500
/** For what follows a commit (search, counters), on a machine that is busy with other things. */
const FOLLOWS_WITHIN_MS = 120_000
const SHARE = 0.1
/** Files whose bytes are compared in one round; every version's hash is compared in each. */
const DOWNLOADS_COMPARED = 10

/** What does not agree, in words; `killedAt` is the moment since which events may be lost. */
export async function checkLedger(instance: Instance, ledger: Ledger, killedAt: number | undefined): Promise<string[]> {
  await untilReady(instance)
  const problems = [
    ...(await checkVersions(instance, ledger)),
    ...(await checkPlainRows(instance, ledger)),
    ...(await checkFollows(instance, ledger)),
    ...(await checkMoney(instance, ledger)),
    ...(await checkDownloads(instance, ledger, killedAt)),
    ...(await checkSearch(instance, ledger)),
    ...ledger.improper.splice(0).map((problem) => withLog(instance, problem)),
  ]
  return problems
}

/** A 5xx names its request, under which the log has the rest. */
function withLog(instance: Instance, problem: string): string {
  const id = /request ([0-9a-f-]{36})/.exec(problem)?.[1]
  const line =
    id === undefined
      ? undefined
      : instance
          .log()
          .split('\n')
          .find((text) => text.includes(id))
  return line === undefined ? problem : `${problem} ${line.slice(0, 700)}`
}

export async function untilReady(instance: Instance): Promise<void> {
  const isReady = async (): Promise<boolean> => (await call(instance, '/ready'))?.status === 200
  if (!(await eventually(isReady))) throw new Error(`Depot is not ready again: ${instance.depot.output().slice(-2000)}`)
}

/** Whether it comes true within the time that is allowed for what follows a commit. */
async function eventually(isTrue: () => Promise<boolean>): Promise<boolean> {
  const endsAt = Date.now() + FOLLOWS_WITHIN_MS
  while (!(await isTrue())) {
    if (Date.now() > endsAt) return false
    await sleep(50)
  }
  return true
}

async function checkVersions(instance: Instance, { versions, admin }: Ledger): Promise<string[]> {
  const problems: string[] = []
  const ids = [...versions.keys()]
  for (let start = 0; start < ids.length; start += 200) {
    const some = ids.slice(start, start + 200)
    const found = await listOf(instance, `/v3/versions?ids=${encodeURIComponent(JSON.stringify(some))}`, admin)
    const byId = new Map(found.map((version) => [String(version['id']), version]))
    for (const id of some) {
      const [file] = (byId.get(id)?.['files'] ?? []) as { hashes: { sha512: string } }[]
      if (file?.hashes.sha512 !== versions.get(id)?.sha512) problems.push(`version ${id} is lost or another`)
    }
  }
  for (const id of ids.slice(-DOWNLOADS_COMPARED)) {
    const { url = '', sha512 } = versions.get(id) ?? {}
    // A part of a file counts as no download.
    const answer = await fetch(`${instance.depot.url}${url}`, { headers: headersOf(admin, 'bytes=0-99999999') })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (createHash('sha512').update(bytes).digest('hex') !== sha512) {
      problems.push(`file of version ${id}: ${answer.status}, other bytes`)
    }
  }
  return problems
}

function headersOf(token?: string, range?: string): Record<string, string> {
  return {
    'user-agent': 'depot-faults/1.0',
    'x-ratelimit-key': BYPASS_KEY,
    [ADDRESS_HEADER]: '192.0.2.2',
    ...(token === undefined ? {} : { authorization: token }),
    ...(range === undefined ? {} : { range }),
  }
}

async function listOf(instance: Instance, path: string, token?: string): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${instance.depot.url}${path}`, { headers: headersOf(token) })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>[]
}

async function checkPlainRows(
  instance: Instance,
  { collections, summary, project, author }: Ledger,
): Promise<string[]> {
  const problems: string[] = []
  for (const id of collections) {
    if ((await call(instance, `/v3/collection/${id}`, { token: author }))?.status !== 200) {
      problems.push(`collection ${id} is lost`)
    }
  }
  const answer = await call(instance, `/v3/project/${project.id}`)
  const number = Number(/number (\d+)/.exec(String(answer?.json['summary']))?.[1] ?? 0)
  if (number < summary.acknowledged || number > summary.asked) {
    problems.push(`the summary is number ${number}, acknowledged was ${summary.acknowledged} of ${summary.asked}`)
  }
  return problems
}

async function checkFollows(instance: Instance, { followers, project }: Ledger): Promise<string[]> {
  const problems: string[] = []
  let count = 0
  for (const [index, follower] of followers.entries()) {
    const self = await call(instance, '/v3/user', { token: follower.token })
    const followed = await listOf(instance, `/v3/user/${self?.json['id']}/follows`, follower.token)
    const follows = followed.some(({ id }) => id === project.id)
    if (follower.follows !== undefined && follower.follows !== follows) problems.push(`follower ${index}: ${follows}`)
    follower.follows = follows
    if (follows) count += 1
  }
  const shown = (await call(instance, `/v3/project/${project.id}`))?.json['followers']
  if (shown !== count) problems.push(`${shown} followers are shown and there are ${count}`)
  return problems
}

/** Each sale is there once: what was acknowledged is a repetition, and in the end the sum is that of all. */
async function checkMoney(instance: Instance, ledger: Ledger): Promise<string[]> {
  const problems: string[] = []
  for (const [id, fate] of ledger.conversions) {
    if (fate === 'acknowledged' && Math.random() > 0.2) continue
    const answer = await operate(instance, '/_internal/admin/affiliate-conversion', conversionOf(ledger, id))
    if (answer?.status !== 200 && (fate === 'acknowledged' || answer?.status !== 201)) {
      problems.push(`sale ${id} (${fate}) is ${answer?.status}`)
      continue
    }
    ledger.conversions.set(id, 'acknowledged')
  }
  const { rows } = await instance.query(
    'select coalesce(sum(revenue), 0)::text as sum, count(*)::int as count from affiliate_conversion',
  )
  const [{ sum, count }] = rows as [{ sum: string; count: number }]
  const wanted = ledger.conversions.size
  if (count !== wanted || Math.abs(Number(sum) - wanted * 10 * SHARE) > 0.001) {
    problems.push(`${count} sales with ${sum}, and ${wanted} were reported`)
  }
  return problems
}

async function checkDownloads(instance: Instance, ledger: Ledger, killedAt: number | undefined): Promise<string[]> {
  const { acknowledged, asked } = ledger.downloads
  const safe = acknowledged.filter((at) => killedAt === undefined || at < killedAt - EVENTS_LOST_MS).length
  let shown = 0
  const isThere = async (): Promise<boolean> => {
    shown = Number((await call(instance, `/v3/project/${ledger.project.id}`))?.json['downloads'])
    return shown >= safe
  }
  const arrived = await eventually(isThere)
  const problems =
    arrived && shown <= asked ? [] : [`${shown} downloads are counted, ${safe} must be, ${asked} were asked`]
  // What this round has lost, the next one does not miss again.
  const lost = Math.max(0, acknowledged.length - shown)
  ledger.downloads = { acknowledged: acknowledged.slice(lost), asked }
  return problems
}

async function checkSearch(instance: Instance, { listed }: Ledger): Promise<string[]> {
  const problems: string[] = []
  for (const slug of [...listed].slice(-20)) {
    const isFound = async (): Promise<boolean> => {
      const answer = await call(instance, `/v3/search?query=${slug}`)
      return ((answer?.json['hits'] ?? []) as { slug: string }[]).some((hit) => hit.slug === slug)
    }
    if (!(await eventually(isFound))) problems.push(`${slug} is not found by the search`)
  }
  return problems
}

/** Ends Depot and compares rows, files and events; claims of broken uploads are swept first. */
export async function checkNothingLeft(instance: Instance): Promise<string[]> {
  await instance.query("update upload_claim set created = now() - interval '30 days'")
  await instance.query("select graphile_worker.add_job('files.sweep', '{}'::json)")
  const isSwept = async (): Promise<boolean> => {
    const { rows } = await instance.query('select count(*)::int as count from upload_claim')
    return rows[0]?.count === 0
  }
  const swept = await eventually(isSwept)
  await instance.depot.stop('SIGTERM')
  const { code, stdout, stderr } = await depot(instance.dataDir, ['verify'], instance.env)
  return [...(swept ? [] : ['claims are left after the sweep']), ...(code === 0 ? [] : [`verify: ${stdout}${stderr}`])]
}
