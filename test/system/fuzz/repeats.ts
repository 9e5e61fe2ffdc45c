// Requests in which one character or pair is repeated up to the size limit, in every path, query value, header, form field,
// JSON string and file name. They find time that grows faster than the input. first-round.ts has the first places.
import { authorizedRequest, bareRequest, type Request } from '#test/api/operations/requests.ts'
import { createWorld, type World } from '#test/api/operations/world.ts'
import { visitor } from '#test/support/http/visitor.ts'
import { firstRound } from './first-round.ts'
import { type Fuzzed, startFuzzed } from './judge.ts'
import { type Case, isRead, PLACES, type Random, randomOf, type Session, type Target, textOf } from './repeat-places.ts'
import { describedOperations, resetSettings } from './targets.ts'

export type RepeatOptions = {
  seed: number
  /** Whether another request follows. */
  again: (requests: number) => boolean
  onFinding?: (finding: string) => void
}
export type RepeatReport = { requests: number; routes: number; findings: string[] }

/** Sends requests until `again` says that it is enough; the same seed sends the same requests. */
export async function repeatCharacters({ seed, again, onFinding }: RepeatOptions): Promise<RepeatReport> {
  const fuzzed = await startFuzzed()
  const report: RepeatReport = { requests: 0, routes: 0, findings: [] }
  try {
    const targets = targetsOf(fuzzed)
    report.routes = targets.length
    const session = await openSession(fuzzed)
    let world = createWorld(fuzzed.t)
    let samples = new Map<Target, Request>()
    for (const { target, change, text, seed: ownSeed } of casesOf(targets, randomOf(seed))) {
      if (!again(report.requests)) break
      const sample =
        samples.get(target) ??
        // Some samples work once in a world, such as turning on the second factor.
        (await sampleOf(world, target, session).catch(() => {
          world = createWorld(fuzzed.t)
          samples = new Map()
          return sampleOf(world, target, session)
        }))
      if (isRead(target)) samples.set(target, sample)
      const make = (fewer: number) =>
        change({ ...target, random: randomOf(ownSeed), session, text: { ...text, fewer }, sample })
      const { problem, status } = await fuzzed.judgeCost(make)
      report.requests += 1
      // The sample might name what this request has deleted.
      if (!isRead(target) && status < 400) {
        world = createWorld(fuzzed.t)
        samples = new Map()
        await resetSettings(fuzzed.t)
      }
      if (problem === undefined) continue
      const { method, url } = target.route
      const finding = `${method} ${url} with ${JSON.stringify(text)}: ${status}, ${problem}\n  ${show(await make(0))}`
      report.findings.push(finding)
      onFinding?.(finding)
    }
  } finally {
    await fuzzed.close()
  }
  return report
}

/** Returns the first round, and then random cases without end. */
function* casesOf(targets: readonly Target[], random: Random): Generator<Case> {
  yield* firstRound(targets)
  for (;;) {
    const { choose, change } = random.of(PLACES)
    yield { target: random.of(choose(targets, random)), change, text: textOf(random), seed: random.below(2 ** 31) }
  }
}

/** Lists operations once, and pages. */
function targetsOf({ t }: Fuzzed): Target[] {
  const described = describedOperations(t)
  const pages = t.app
    .routeTable()
    .filter(
      ({ hidden, url, operationId }) =>
        hidden && !url.includes('*') && /^(?:site|publish|manage|moderate|operate|own)[A-Z]/.test(operationId),
    )
  return [...described, ...pages.map((route) => ({ route, operation: undefined }))]
}

async function openSession({ t }: Fuzzed): Promise<Session> {
  const admin = await t.make.account({ role: 'admin' })
  const project = await t.make.project({ owner: admin, status: 'approved' })
  const browser = visitor(t, admin.token)
  const { body } = await browser.get('/account')
  const [, csrf = ''] = /name="_csrf" value="([^"]*)"/.exec(body) ?? []
  return { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; '), csrf, slug: project.slug }
}

async function sampleOf(world: World, { route, operation }: Target, { cookie, slug }: Session): Promise<Request> {
  if (operation !== undefined) return authorizedRequest(world, route)
  const request = bareRequest({ ...route, url: route.url.replace(/:(?:slug|id|project)\b/, slug) })
  return { ...request, headers: { ...request.headers, cookie, accept: 'text/html' } }
}

function show({ method, url, headers, payload }: Request): string {
  const long = Object.entries(headers).filter(([, value]) => value.length > 1_000)
  const shown = long.map(([name, value]) => `${name}: ${value.slice(0, 60)}`).join(', ')
  return `${method} ${String(url).slice(0, 200)} ${shown} ${JSON.stringify(payload ?? '').slice(0, 200)}`
}
