// Writes the demo catalogue to the database and the file store. Existing items stay unchanged, so the next run completes an
// interrupted run, and a larger demo extends a smaller one.
import { sql } from 'kysely'
import { type DemoCatalogue, demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { asSeeded } from '#demo/catalogue/new-projects.ts'
import { demoId } from '#demo/ids.ts'
import { beginDemo, DEMO_SEED } from '#demo/items.ts'
import { CATALOGUE_LOCK, withDemoLock } from '#demo/lock.ts'
import { forgetEvents, hasEventsToForget, isStoreHeld } from '#demo/remove/forget-events.ts'
import { seedCollections } from '#demo/seed/collections.ts'
import { EVENT_PROJECTS, seedEvents } from '#demo/seed/events.ts'
import { seedOrganizations, seedPeople, type Written } from '#demo/seed/people.ts'
import {
  type Indexed,
  type Names,
  type PreparedBatch,
  prepareProjects,
  type SeedDeps,
  storeProjects,
  writeProjects,
} from '#demo/seed/projects.ts'
import { giveSignIns, type SignIn } from '#demo/seed/sign-ins.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

export type SeedReport = {
  people: Written
  organizations: Written
  projects: Written
  /** Number of versions of the added projects. */
  versions: number
  collections: Written
  /** `isLeft`: a running server owns the analytics store and stores the rest. */
  events: { added: number; isLeft: boolean }
  /** Accounts that got a password in this run, which is shown once. */
  signIns: SignIn[]
}

type AllDeps = SeedDeps & Pick<Deps, 'pool' | 'taxonomy' | 'now' | 'analytics'>

/** Number of projects per transaction, with some hundreds of versions. */
const BATCH = 50

/**
 * Adds the missing demo projects of `projects`, with people, organizations, follows and collections.
 * @throws ApiError `conflict` if another run is in progress.
 */
export async function seedCatalogue(
  deps: AllDeps,
  projects: number,
  onProgress: (done: number) => void = () => {},
): Promise<SeedReport> {
  return withDemoLock(deps, CATALOGUE_LOCK, async () => {
    await forgetFormer(deps)
    const { until, mark } = await beginDemo(deps.db, deps.now())
    const catalogue = demoCatalogue({ taxonomy: deps.taxonomy, projects, seed: DEMO_SEED, until })
    const report = await seedAll(deps, catalogue, { until, mark, onProgress })
    const { added } = report.projects
    if (added > 0) await recordAudit(deps.db, { action: 'demo.written', actor: COMMAND, details: { projects: added } })
    return report
  })
}

/** Events of removed demo projects would count in addition to the new ones. */
async function forgetFormer(deps: AllDeps): Promise<void> {
  if (!(await hasEventsToForget(deps.db))) return
  if (!(await isStoreHeld(deps))) return forgetEvents(deps)
  await transaction(deps, (tx) => enqueue(tx, 'seed.forget-events', {}, { jobKey: 'seed.forget-events' }))
  throw new ApiError(
    'conflict',
    'The running server removes the events of demo projects that were removed; try again in a moment',
  )
}

async function seedAll(
  deps: AllDeps,
  catalogue: DemoCatalogue,
  { until, mark, onProgress }: { until: Date; mark: string; onProgress: (done: number) => void },
): Promise<SeedReport> {
  const { people } = catalogue
  const peopleWritten = await seedPeople(deps, people, { seed: DEMO_SEED, mark })
  const accountOf = indexBy(people, ({ username }) => username, 'account')
  const organizations = await seedOrganizations(deps, catalogue.organizations, { accountOf, seed: DEMO_SEED, mark })
  const slugs = new Map<string, number>()
  const names: Names = {
    seed: DEMO_SEED,
    until,
    mark,
    people,
    accountOf,
    organizationOf: await findOrganizations(deps, catalogue),
    projectOf: (slug) => demoId('project', slugs.get(slug) ?? missingName(slug)),
    peopleFrom: (start, count) => someOf(people.length, start, count),
  }
  const batches = batchesOf(catalogue, slugs, until)
  const { projects, versions, events } = await seedProjects(deps, batches, { names, onProgress })
  const ids = [...slugs.values()].map((index) => demoId('project', index))
  const collections = await seedCollections(deps, {
    // The query keeps approved projects only.
    projectIds: await keepPresent(deps, ids),
    people: people.length,
    seed: DEMO_SEED,
    until,
  })
  const signIns = await giveSignIns(deps)
  return { people: peopleWritten, organizations, projects, versions, collections, events, signIns }
}

/** Returns the projects of the catalogue in batches, and records their slugs. */
function* batchesOf({ projects }: DemoCatalogue, slugs: Map<string, number>, until: Date): Generator<Indexed[]> {
  let batch: Indexed[] = []
  for (const demo of projects) {
    const index = slugs.size
    slugs.set(demo.slug, index)
    batch.push({ project: asSeeded(demo, index, until), index })
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  yield batch
}

type StoredBatch = { batch: readonly Indexed[]; prepared: PreparedBatch; keys: readonly string[] }

/**
 * Writes batches of projects. While the rows of a batch are written, the files of the next batch are stored and a third
 * batch is prepared. Events are stored at the same time.
 */
async function seedProjects(
  deps: AllDeps,
  batches: Iterable<Indexed[]>,
  { names, onProgress }: { names: Names; onProgress: (done: number) => void },
): Promise<Pick<SeedReport, 'projects' | 'versions' | 'events'>> {
  const total = { added: 0, present: 0, versions: 0 }
  const isHeld = await isStoreHeld(deps)
  let addedEvents = 0
  let withoutEvents: Indexed[] = []
  let storing: Promise<void> = Promise.resolve()
  const storeEvents = async (group: readonly Indexed[]): Promise<void> => {
    if (!isHeld) addedEvents += await seedEvents(deps, group, { seed: DEMO_SEED, until: names.until })
  }
  try {
    for await (const { batch, prepared, keys } of ahead(storedBatches(deps, batches, names))) {
      const { added, present, versions } = await writeProjects(deps, prepared, { keys, names })
      total.added += added
      total.present += present
      total.versions += versions
      onProgress(total.added + total.present)
      withoutEvents.push(...batch)
      if (withoutEvents.length < EVENT_PROJECTS) continue
      await storing
      storing = handled(storeEvents(withoutEvents))
      withoutEvents = []
    }
    await storing
    await storeEvents(withoutEvents)
  } finally {
    await storing.catch(() => undefined)
  }
  const { versions, ...projects } = total
  const isLeft = isHeld && (await leaveEvents(deps, projects.added + projects.present))
  return { projects, versions, events: { added: addedEvents, isLeft } }
}

async function* storedBatches(deps: AllDeps, batches: Iterable<Indexed[]>, names: Names): AsyncGenerator<StoredBatch> {
  for await (const { batch, prepared } of ahead(preparedBatches(deps, batches, names)))
    yield { batch, prepared, keys: await storeProjects(deps, prepared) }
}

async function* preparedBatches(
  deps: AllDeps,
  batches: Iterable<Indexed[]>,
  names: Names,
): AsyncGenerator<Pick<StoredBatch, 'batch' | 'prepared'>> {
  for (const batch of batches) yield { batch, prepared: await prepareProjects(deps, batch, names) }
}

/** Produces the next item while the caller works on the current item. */
async function* ahead<Item>(items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  let next = handled(items.next())
  try {
    for (;;) {
      const { done, value } = await next
      if (done === true) return
      next = handled(items.next())
      yield value
    }
  } finally {
    // After a failure, the item in progress must be finished before the caller continues.
    await next.catch(() => undefined)
    await items.return(undefined)
  }
}

/** Marks a promise that is awaited later, so that a rejection does not end the process before. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

function indexBy<Item>(items: readonly Item[], nameOf: (item: Item) => string, kind: 'account') {
  const places = new Map(items.map((item, n) => [nameOf(item), n]))
  return (name: string): string => demoId(kind, places.get(name) ?? missingName(name))
}

function missingName(name: string): never {
  throw new Error(`The demo catalogue has no item named ${name}`)
}

/** Returns different numbers below `total`, in steps that share no factor with it. */
function someOf(total: number, start: number, count: number): number[] {
  let step = Math.max(1, Math.floor(total * 0.618))
  while (step > 1 && gcd(step, total) !== 1) step -= 1
  return Array.from({ length: Math.min(count, total) }, (_, i) => (start + i * step) % total)
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}

/** Reads the organizations, because those of an earlier, smaller run can have another owner than in this catalogue. */
async function findOrganizations({ db }: SeedDeps, { organizations }: DemoCatalogue): Promise<Names['organizationOf']> {
  const rows = await db
    .selectFrom('organization')
    .innerJoin('team_member', 'team_member.team_id', 'organization.team_id')
    .select(['organization.id', 'team_member.account_id'])
    .where('team_member.is_owner', '=', true)
    .where('organization.id', '=', sql<string>`any(${organizations.map((_, n) => demoId('organization', n))}::text[])`)
    .execute()
  const owners = new Map(rows.map(({ id, account_id }) => [id, account_id]))
  const places = new Map(organizations.map(({ slug }, n) => [slug, demoId('organization', n)]))
  return (slug) => {
    const id = places.get(slug)
    const ownerId = id === undefined ? undefined : owners.get(id)
    return id === undefined || ownerId === undefined ? undefined : { id, ownerId }
  }
}

/** Returns the demo projects that still exist and are public. */
async function keepPresent({ db }: SeedDeps, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{
    id: string
  }>`select id from unnest(${[...ids]}::text[]) with ordinality as wanted (id, place)
    where exists (select 1 from project where project.id = wanted.id and project.status = 'approved')
    order by place`.execute(db)
  return rows.map(({ id }) => id)
}

/** Enqueues a job for missing events. Returns whether events are missing. */
async function leaveEvents(deps: SeedDeps, projects: number): Promise<boolean> {
  return transaction(deps, async (tx) => {
    const missing = await tx
      .selectFrom('demo_item')
      .select('id')
      .where('kind', '=', 'project')
      .where('has_events', '=', false)
      .limit(1)
      .executeTakeFirst()
    if (missing === undefined) return false
    await enqueue(tx, 'seed.store-events', { projects }, { jobKey: 'seed.store-events' })
    return true
  })
}
