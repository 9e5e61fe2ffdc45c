// After each round: everything that was acknowledged is there, and nothing is there twice.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { depot } from '#test/support/processes/running-depot.ts'
import { ADDRESS_HEADER, BYPASS_KEY, type Instance } from './instance.ts'
import { checkMoney } from './money.ts'
import { call, type Ledger } from './writers.ts'

/** Age of events that a killed process can lose: docs/api/analytics.md promises a second. */
export const EVENTS_LOST_MS = 1_500
/** For what follows a commit (search, counters), on a machine that is busy with other things. */
const FOLLOWS_WITHIN_MS = 120_000
/** Files whose bytes are compared in one round; every version's hash is compared in each. */
const DOWNLOADS_COMPARED = 10

/** Lists the inconsistencies. `killedAt` is the time since which events can be lost. */
export async function checkLedger(instance: Instance, ledger: Ledger, killedAt: number | undefined): Promise<string[]> {
  await untilReady(instance)
  const problems = [
    ...(await checkVersions(instance, ledger)),
    ...(await checkPlainRows(instance, ledger)),
    ...(await checkFollows(instance, ledger)),
    ...(await checkMoney(instance, ledger)),
    ...(await checkPeople(instance, ledger)),
    ...(await checkReleases(instance, ledger)),
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
  const isReady = async (): Promise<boolean> => (await call(instance, '/ready'))?.json['status'] === 'ready'
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
    if (createHash('sha512').update(bytes).digest('hex') !== sha512)
      problems.push(`file of version ${id}: ${answer.status}, other bytes`)
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
    if ((await call(instance, `/v3/collection/${id}`, { token: author }))?.status !== 200)
      problems.push(`collection ${id} is lost`)
  }
  const answer = await call(instance, `/v3/project/${project.id}`)
  const number = Number(/number (\d+)/.exec(String(answer?.json['summary']))?.[1] ?? 0)
  if (number < summary.acknowledged || number > summary.asked)
    problems.push(`the summary is number ${number}, acknowledged was ${summary.acknowledged} of ${summary.asked}`)
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
  // One follows all the time.
  count += 1
  const shown = (await call(instance, `/v3/project/${project.id}`))?.json['followers']
  if (shown !== count) problems.push(`${shown} followers are shown and there are ${count}`)
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
    arrived && shown <= asked ? [] : [`${shown} downloads are counted, ${safe} must be, ${asked} were requested`]
  // The next round does not report the losses of this round again.
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

/** Users who signed up are signed in, and the icon can be read. */
async function checkPeople(instance: Instance, { sessions, project, icons }: Ledger): Promise<string[]> {
  const problems: string[] = []
  for (const token of sessions.slice(-5)) {
    const answer = await call(instance, '/v3/user', { token })
    if (answer?.status !== 200) problems.push(`a session is lost: ${answer?.status}`)
  }
  const shown = await call(instance, `/v3/project/${project.id}`)
  const url = shown?.json['icon_url']
  if (icons > 0 && typeof url !== 'string') problems.push('the icon is lost')
  if (typeof url === 'string') {
    const { status } = await fetch(`${instance.depot.url}${new URL(url).pathname}`, { headers: headersOf() })
    if (status !== 200) problems.push(`the icon is ${status}`)
  }
  return problems
}

/** Due releases, by the clock of Depot, are listed; the follower receives no notification twice. */
async function checkReleases(instance: Instance, { releases, fan }: Ledger): Promise<string[]> {
  const problems: string[] = []
  const due = [...releases].filter(([, at]) => at < Date.now() + instance.clockMs).map(([id]) => id)
  const late = async (): Promise<string[]> => {
    const { rows } = await instance.query(
      `select id from version where id in ('${due.join("','")}') and status <> 'listed'`,
    )
    return rows.map(({ id }) => id)
  }
  if ((await late()).length > 0) await instance.query("select graphile_worker.add_job('releases.sweep')")
  if (!(await eventually(async () => (await late()).length === 0)))
    problems.push(`versions are not released: ${await late()}`)
  // A released version is not due again.
  for (const id of due) releases.set(id, 0)
  const { rows } = await instance.query(
    `select cause from notification where account_id = '${fan.id}' group by cause having count(*) > 1`,
  )
  if (rows.length > 0) problems.push(`${rows.length} notifications came twice`)
  return problems
}

/** With a clock that was just set, a client that has used up its requests waits for a minute at most. */
export async function checkClock(instance: Instance): Promise<string[]> {
  const address = `198.51.100.${Math.floor(Math.random() * 250)}`
  const headers = { 'user-agent': 'depot-faults/1.0', [ADDRESS_HEADER]: address }
  // Counts as several requests, and is rejected before it costs anything.
  const sent = { method: 'POST', body: '{}', headers: { ...headers, 'content-type': 'application/json' } }
  for (let n = 0; n < 300; n += 1) {
    const answer = await fetch(`${instance.depot.url}/_internal/auth/login`, sent)
    await answer.arrayBuffer()
    if (answer.status !== 429) continue
    const seconds = Number(answer.headers.get('retry-after'))
    return seconds >= 1 && seconds <= 60 ? [] : [`a client is to wait ${seconds} s after the clock was set`]
  }
  return ['no limit holds after the clock was set']
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
  // Retries failed jobs now, and unlocks the jobs of killed processes.
  await instance.query(`select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
    where locked_by is not null having count(*) > 0`)
  const isDone = async (): Promise<boolean> => {
    const { rows } = await instance.query(
      // Jobs that a later job replaced must not run again.
      `select array_agg(id) as ids from graphile_worker.jobs
        where locked_at is null and (attempts < max_attempts or last_error is not null)`,
    )
    if (rows[0]?.ids === null) return true
    await instance.query(`select graphile_worker.reschedule_jobs('{${rows[0]?.ids}}', run_at => now())`)
    return false
  }
  const worked = await eventually(isDone)
  const { rows: left } = await instance.query(
    'select task_identifier, attempts, locked_by, left(last_error, 200) as error from graphile_worker.jobs limit 5',
  )
  await instance.depot.stop('SIGTERM')
  const { code, stdout, stderr } = await depot(instance.dataDir, ['verify'], instance.env)
  return [
    ...(swept ? [] : ['claims are left after the sweep']),
    ...(worked ? [] : [`jobs are left: ${JSON.stringify(left)}`]),
    ...(code === 0 ? [] : [`verify: ${stdout}${stderr}`]),
  ]
}
