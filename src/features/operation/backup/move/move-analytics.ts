// `depot move analytics`: copies every event exactly once into another store. Does not change the old store.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { catchUp } from '#features/reading/downloads/counter-ledger.ts'
import { reconcileDownloads } from '#features/reading/downloads/reconcile-downloads.ts'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import { countOf, differenceOf, digestOf, type EventDigest, withDigest } from '../events/event-digest.ts'
import { EVENT_COLUMNS, eventsOfStore, linesOf } from '../events/event-parts.ts'
import { followStore, hasEvents } from '../events/event-stage.ts'
import { isServed } from '../rows.ts'

export type MoveAnalyticsReport = {
  events: number
  /** Number of compared combinations of kind and day. */
  days: number
  /** Whether this run continued an interrupted move. */
  resumed: boolean
}

export type MoveAnalyticsStep = 'reading' | 'storing' | 'comparing'

/**
 * Local copy of the parts that the move stores. A store returns events in no particular order, so only a retry with the
 * same parts under the same IDs stores each event exactly once.
 */
const Plan = Type.Object({
  id: Type.String(),
  madeAt: Type.Number(),
  source: Type.String(),
  target: Type.String(),
  settledAt: Type.Number(),
  parts: Type.Array(Type.Object({ kind: Type.Enum(EVENT_KINDS), count: Type.Integer() })),
  digest: Type.Record(Type.String(), Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()])),
})
type Plan = Static<typeof Plan>

type MoveDeps = Pick<Deps, 'pool' | 'db' | 'cache' | 'log' | 'config' | 'analytics'>
type OnProgress = (step: MoveAnalyticsStep, done: number, total?: number) => void

const FOLDER = 'move-analytics'
const PLAN = 'plan.json'

/**
 * Copies the events while no server runs, compares the number and hash of the events per kind and day, and makes the
 * download counters follow the new store. A temporary copy in the data folder uses about 20 bytes per event. After an
 * interruption, the next run continues.
 * @throws OperatorError if a server runs, if the new store has events, if the old store changed after an interrupted move,
 * or if the stores differ at the end. Also throws the errors of the stores.
 */
export async function moveAnalytics(
  deps: MoveDeps,
  target: AnalyticsStore,
  { onProgress = () => {} }: { onProgress?: OnProgress } = {},
): Promise<MoveAnalyticsReport> {
  if (await isServed(deps.pool))
    throw new OperatorError('A server is running. Stop it and run this command again. Nothing was changed.')
  const folder = join(deps.config.dataDir, FOLDER)
  const source = deps.analytics
  // The counters must include every event of the old store before they follow the new store.
  await catchUp({ ...deps, store: source })
  const interrupted = await findPlan(folder, { source: await source.identity(), target: await target.identity() })
  if (interrupted !== undefined)
    await requireUnchanged(source, interrupted, (done) => onProgress('reading', done, countOf(interrupted.digest)))
  const plan = interrupted ?? (await createPlan({ source, target, folder }, (done) => onProgress('reading', done)))
  const total = countOf(plan.digest)
  await storeParts({ target, folder, plan }, (done) => onProgress('storing', done, total))
  const stored = await digestOf(target, (done) => onProgress('comparing', done, total))
  const difference = differenceOf(plan.digest, stored)
  if (difference !== undefined) {
    throw new OperatorError(
      `The new store does not have the same events: ${difference}. The old store is unchanged. Empty the new store and run this command again.`,
    )
  }
  await followTarget(deps, target, plan)
  await rm(folder, { recursive: true, force: true })
  return { events: total, days: Object.keys(plan.digest).length, resumed: interrupted !== undefined }
}

/** Returns the plan of an interrupted move between these stores. */
async function findPlan(
  folder: string,
  { source, target }: { source: string; target: string },
): Promise<Plan | undefined> {
  const text = await readFile(join(folder, PLAN), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const plan: unknown = JSON.parse(text)
  return Value.Check(Plan, plan) && plan.source === source && plan.target === target ? plan : undefined
}

async function requireUnchanged(source: AnalyticsStore, plan: Plan, onRead: (done: number) => void): Promise<void> {
  const difference = differenceOf(plan.digest, await digestOf(source, onRead))
  if (difference === undefined) return
  throw new OperatorError(
    `The old store has changed since a move was interrupted: ${difference}. Empty the new store (DROP DATABASE) and run this command again.`,
  )
}

async function createPlan(
  { source, target, folder }: { source: AnalyticsStore; target: AnalyticsStore; folder: string },
  onRead: (done: number) => void,
): Promise<Plan> {
  if (await hasEvents(target))
    throw new OperatorError('The new store already has events. Configure an empty database. Nothing was changed.')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const settledAt = await target.settledAt()
  const digest: EventDigest = {}
  const parts: Plan['parts'] = []
  let done = 0
  for await (const { kind, count, bytes } of eventsOfStore(withDigest(source, digest))()) {
    await writeFile(join(folder, String(parts.length)), bytes, { mode: 0o600, flush: true })
    parts.push({ kind, count })
    done += count
    onRead(done)
  }
  const identities = { source: await source.identity(), target: await target.identity() }
  const plan: Plan = { id: newId(), madeAt: Date.now(), ...identities, settledAt, parts, digest }
  const temporary = join(folder, `${PLAN}.part`)
  await writeFile(temporary, JSON.stringify(plan), { mode: 0o600, flush: true })
  await rename(temporary, join(folder, PLAN))
  return plan
}

const batchId = (plan: Plan, part: number): string => `${plan.id}-${part}`

async function storeParts(
  { target, folder, plan }: { target: AnalyticsStore; folder: string; plan: Plan },
  onStored: (done: number) => void,
): Promise<void> {
  let done = 0
  for (const [part, { kind, count }] of plan.parts.entries()) {
    const bytes = await readFile(join(folder, String(part)))
    // Each part is one batch.
    await target.appendLines(kind, {
      id: batchId(plan, part),
      madeAt: plan.madeAt,
      columns: EVENT_COLUMNS[kind] ?? [],
      lines: await linesOf(bytes),
    })
    done += count
    onStored(done)
  }
}

/** Makes the counters follow the new store. The moved batches are already counted. */
async function followTarget(deps: MoveDeps, target: AnalyticsStore, plan: Plan): Promise<void> {
  const batches = plan.parts.flatMap(({ kind }, part) => (kind === 'download' ? [batchId(plan, part)] : []))
  const client = await deps.pool.connect()
  try {
    await client.query('begin')
    await followStore(client, { identity: plan.target, settledAt: plan.settledAt, batches })
    await client.query('commit')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
  await reconcileDownloads({ ...deps, store: target })
}
