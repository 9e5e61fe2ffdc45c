// Every operation of both descriptions, with generated requests, as each kind of caller.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { authorizationOf, buildRequest, type Caller, type Request } from '#test/api/operations/requests.ts'
import { createWorld, type Thing, type World } from '#test/api/operations/world.ts'
import { type Fuzzed, type Judgement, startFuzzed } from './judge.ts'
import { type Recipe, recipesOf } from './recipe.ts'
import { toRequest } from './send.ts'
import { type DescribedOperation, describedOperations, resetSettings } from './targets.ts'
import { thingsIn } from './values.ts'

export type Finding = { operationId: string; caller: Caller; problem: string; request: string }

export type Report = {
  requests: number
  operations: number
  /** Operations that got a request. */
  covered: number
  /** Number of responses per status. */
  statuses: Map<number, number>
  findings: Finding[]
  /** Memory in use after garbage collection, measured from time to time. */
  memory: number[]
}

export type CampaignOptions = {
  seed: number
  /** Generated requests for each operation and caller in one round. */
  runs: number
  /** In one round each operation gets requests of one kind of caller, of another in the next; of all unless given. */
  oneCaller?: boolean
  /** Whether another round follows. */
  again: (round: number) => boolean
  /** Names of operations; all unless given. */
  only?: RegExp
  /** Hears of each finding as it comes. */
  onFinding?: (finding: Finding) => void
}

/** Number of requests between two memory measurements. */
const LOOK_EVERY = 400

/** Requests until `again` says that it is enough; the same seed gives the same recipes. */
export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const fuzzed = await startFuzzed()
  const report: Report = { requests: 0, operations: 0, covered: 0, statuses: new Map(), findings: [], memory: [] }
  try {
    // A different order for each seed, so that the last operations vary.
    const rank = ({ route }: DescribedOperation): number => seedOf(`${options.seed} ${route.method} ${route.url}`)
    const targets = describedOperations(fuzzed.t)
      .filter(({ route }) => options.only?.test(route.operationId) ?? true)
      .sort((a, b) => rank(a) - rank(b))
    report.operations = targets.length
    for (let round = 0; options.again(round); round += 1) {
      for (const [index, target] of targets.entries()) {
        if (!options.again(round)) break
        const callers = callersOf(target.route)
        const chosen = options.oneCaller === true ? [callers[(index + round) % callers.length] ?? 'owner'] : callers
        for (const caller of chosen) await fuzzOperation(fuzzed, report, { ...options, target, caller, round })
        if (round === 0) report.covered += 1
        if (report.requests >= (report.memory.length + 1) * LOOK_EVERY) report.memory.push(memoryBytes())
      }
    }
  } finally {
    await fuzzed.close()
  }
  return report
}

/** Returns the callers: admins only for operations that others cannot use. */
function callersOf({ config: { auth, role } }: RouteEntry): Caller[] {
  if (auth === 'operator' || role === 'admin') return ['anonymous', 'moderator', 'admin']
  return auth === 'public' ? ['anonymous', 'owner'] : ['anonymous', 'owner', 'moderator']
}

type Work = CampaignOptions & { target: DescribedOperation; caller: Caller; round: number }

async function fuzzOperation(fuzzed: Fuzzed, report: Report, work: Work): Promise<void> {
  const { target, caller, round, runs } = work
  const { document, path, operation, route } = target
  let place = await makePlace(fuzzed, route, caller)
  const tryOne = async (recipe: Recipe): Promise<void> => {
    for (const thing of thingsIn(JSON.stringify(recipe))) {
      if (!place.ids.has(thing)) place.ids.set(thing, await place.world.id(thing))
    }
    const request = await toRequest(recipe, { route, sample: place.sample, ids: place.ids })
    if (place.authorization !== undefined) request.headers['authorization'] ??= place.authorization
    const send = async (sent: Request): Promise<Judgement> => {
      const judged = await fuzzed.judge(operation, { ...sent, remoteAddress: addressOf(report.requests) })
      report.requests += 1
      report.statuses.set(judged.status, (report.statuses.get(judged.status) ?? 0) + 1)
      return judged
    }
    const { status, etag, problem } = await send(request)
    if (recipe.ifMatching && status === 200 && etag !== undefined && problem === undefined) {
      request.headers['if-none-match'] = etag
      const again = await send(request)
      const isFine = again.status === 304 || (again.status === 200 && again.etag !== etag)
      const wrong = isFine ? again.problem : `${again.status} for the ETag that it has sent`
      if (wrong !== undefined) throw new Problem(wrong, request)
    }
    // Read-only mode would reject all later requests.
    if (route.operationId === 'updateSettings' && status < 300) await resetSettings(fuzzed.t)
    // A change invalidates the fixtures, so the next request gets new ones.
    if (route.method !== 'GET' && status < 300) place = await makePlace(fuzzed, route, caller)
    if (problem !== undefined) throw new Problem(problem, request)
  }
  const result = await fc.check(fc.asyncProperty(recipesOf(document, path, operation), tryOne), {
    seed: seedOf(`${work.seed} ${round} ${route.operationId} ${caller}`),
    numRuns: runs,
    // Making a failing request smaller must not take over the run.
    interruptAfterTimeLimit: 60_000,
  })
  const { errorInstance: error } = result
  if (error === null || error === undefined) return
  const finding: Finding = {
    operationId: route.operationId,
    caller,
    problem: error instanceof Error ? error.message : String(error),
    request: error instanceof Problem ? show(error.request) : String((error as Error).stack),
  }
  report.findings.push(finding)
  work.onFinding?.(finding)
}

class Problem extends Error {
  readonly request: Request

  constructor(problem: string, request: Request) {
    super(problem)
    this.request = request
  }
}

type Place = { world: World; ids: Map<Thing, string>; sample: Request; authorization: string | undefined }

/** Creates a new world and a valid request to the operation in it. */
async function makePlace({ t }: Fuzzed, route: RouteEntry, caller: Caller): Promise<Place> {
  const world = createWorld(t)
  const sample = await buildRequest(world, route)
  return { world, sample, ids: new Map(), authorization: await authorizationOf(world, caller) }
}

/** Another one for each request, so that what is limited for an address does not hide the rest. */
function addressOf(request: number): string {
  return `10.${(request >> 16) & 255}.${(request >> 8) & 255}.${request & 255}`
}

/** FNV-1a, as a whole number that the library takes. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return hash | 0
}

function show({ method, url, headers, payload }: Request): string {
  const { authorization: _, 'x-ratelimit-key': __, 'user-agent': ___, ...others } = headers
  const body = Buffer.isBuffer(payload) ? payload.toString('latin1') : (payload ?? '')
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return `${method} ${String(url).slice(0, 600)} ${JSON.stringify(others).slice(0, 300)} ${text.slice(0, 1000)}`
}

/** Returns the memory on the heap and outside it, where cached responses are. */
function memoryBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * By how many bytes the last third of the looks at the memory is above the first, on average; 0 while there are too few
 * of them. The first look is left out: caches fill then.
 */
export function memoryGrowth({ memory }: Pick<Report, 'memory'>): number {
  const looks = memory.slice(1)
  const third = Math.floor(looks.length / 3)
  if (third === 0) return 0
  const mean = (part: readonly number[]): number => part.reduce((sum, each) => sum + each, 0) / part.length
  return mean(looks.slice(-third)) - mean(looks.slice(0, third))
}
