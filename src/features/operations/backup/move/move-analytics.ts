// `depot move analytics`: copies every event into another store, each exactly once. The old store stays as it is.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { catchUp } from '#features/operations/downloads/counter-ledger.ts'
import { reconcileDownloads } from '#features/operations/downloads/reconcile-downloads.ts'
import { newId } from '#lib/ids.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { type AnalyticsStore, APPEND_EVENTS_MAX } from '#ports/analytics-store/analytics-store.ts'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'
import { countOf, differenceOf, digesting, digestOf, type EventDigest } from '../events/event-digest.ts'
import { EVENT_COLUMNS, eventsOfStore, readPart } from '../events/event-parts.ts'
import { followStore, hasEvents } from '../events/event-stage.ts'
import { isServed } from '../rows.ts'

export type MoveAnalyticsReport = {
  events: number
  /** Kinds and days that were compared. */
  days: number
  /** Whether a move that was interrupted was carried on. */
  resumed: boolean
}

export type MoveAnalyticsStep = 'reading' | 'storing' | 'comparing'

/**
 * What is to be stored, written down before any of it is: a store gives its events in no order, so that after an
 * interruption only these parts, under the same IDs, are stored exactly once.
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

type Needs = Pick<Deps, 'pool' | 'db' | 'cache' | 'log' | 'config' | 'analytics'>
type OnProgress = (step: MoveAnalyticsStep, done: number, total?: number) => void

const FOLDER = 'move-analytics'
const PLAN = 'plan.json'

/**
 * Copies while no server runs, compares number and hash of the events of each kind and day, and lets the download
 * counters follow the new store. The events wait in the data folder meanwhile, about 20 bytes each. Interrupted, the next
 * run goes on.
 * @throws OperatorError when a server runs, when the new store has events, when the old one got events since a move was
 * interrupted, and when both differ at the end; what the stores throw.
 */
export async function moveAnalytics(
  deps: Needs,
  target: AnalyticsStore,
  { onProgress = () => {} }: { onProgress?: OnProgress } = {},
): Promise<MoveAnalyticsReport> {
  if (await isServed(deps.pool)) {
    throw new OperatorError('A server takes events: stop it, then run this again; nothing was changed')
  }
  const folder = join(deps.config.dataDir, FOLDER)
  const source = deps.analytics
  // Counters have seen every event of the old store before they follow the new one.
  await catchUp({ ...deps, store: source })
  const begun = await findPlan(folder, { source: await source.identity(), target: await target.identity() })
  if (begun !== undefined)
    await requireSame(source, begun, (done) => onProgress('reading', done, countOf(begun.digest)))
  const plan = begun ?? (await makePlan({ source, target, folder }, (done) => onProgress('reading', done)))
  const total = countOf(plan.digest)
  await storeParts({ target, folder, plan }, (done) => onProgress('storing', done, total))
  const stored = await digestOf(target, (done) => onProgress('comparing', done, total))
  const difference = differenceOf(plan.digest, stored)
  if (difference !== undefined) {
    throw new OperatorError(
      `The new store does not have the same events: ${difference}. The old store is as it was; empty the new one and run this again`,
    )
  }
  await followTarget(deps, target, plan)
  await rm(folder, { recursive: true, force: true })
  return { events: total, days: Object.keys(plan.digest).length, resumed: begun !== undefined }
}

/** That of a move between these very stores that was interrupted. */
async function findPlan(
  folder: string,
  { source, target }: { source: string; target: string },
): Promise<Plan | undefined> {
  const text = await readFile(join(folder, PLAN), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const plan: unknown = JSON.parse(text)
  return Value.Check(Plan, plan) && plan.source === source && plan.target === target ? plan : undefined
}

async function requireSame(source: AnalyticsStore, plan: Plan, onRead: (done: number) => void): Promise<void> {
  const difference = differenceOf(plan.digest, await digestOf(source, onRead))
  if (difference === undefined) return
  throw new OperatorError(
    `Events have come since a move was interrupted: ${difference}. Empty the new store (DROP DATABASE) and run this again`,
  )
}

type Places = { source: AnalyticsStore; target: AnalyticsStore; folder: string }

async function makePlan({ source, target, folder }: Places, onRead: (done: number) => void): Promise<Plan> {
  if (await hasEvents(target)) {
    throw new OperatorError('The new store has events already. Name an empty database; nothing was changed')
  }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const settledAt = await target.settledAt()
  const digest: EventDigest = {}
  const parts: Plan['parts'] = []
  let done = 0
  for await (const { kind, count, bytes } of eventsOfStore(digesting(source, digest))()) {
    await writeFile(join(folder, String(parts.length)), bytes, { mode: 0o600, flush: true })
    parts.push({ kind, count })
    done += count
    onRead(done)
  }
  const identities = { source: await source.identity(), target: await target.identity() }
  const plan: Plan = { id: newId(), madeAt: Date.now(), ...identities, settledAt, parts, digest }
  const written = join(folder, `${PLAN}.part`)
  await writeFile(written, JSON.stringify(plan), { mode: 0o600, flush: true })
  await rename(written, join(folder, PLAN))
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
    // A part is one batch.
    for await (const events of readPart(kind, EVENT_COLUMNS[kind] ?? [], { bytes, size: APPEND_EVENTS_MAX })) {
      await target.append(kind, { id: batchId(plan, part), madeAt: plan.madeAt, events: events as never })
    }
    done += count
    onStored(done)
  }
}

/** The batches that were moved are counted already. */
async function followTarget(deps: Needs, target: AnalyticsStore, plan: Plan): Promise<void> {
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
