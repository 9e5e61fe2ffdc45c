// Writes the demo catalogue to the database and the file store. Existing items stay unchanged, so the next run completes an
// interrupted run, and a larger demo extends a smaller one.
import { sql } from 'kysely'
import { type DemoCatalogue, demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { DEMO_SEED, demoId } from '#demo/ids.ts'
import { addMissing, beginDemo, type Written } from '#demo/items.ts'
import { withDemoLock } from '#demo/lock.ts'
import { forgetOrLeave, isStoreHeld } from '#demo/remove/forget-events.ts'
import { seedCollections } from '#demo/seed/collections.ts'
import { storeEvents } from '#demo/seed/events.ts'
import { createNames, type Indexed } from '#demo/seed/names.ts'
import { seedOrganizations, seedPeople } from '#demo/seed/people.ts'
import { type SeedDeps, writeProjects } from '#demo/seed/projects.ts'
import { giveSignIns, type SignIn } from '#demo/seed/sign-ins.ts'
import { type Actor, COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

export type SeedReport = {
  people: Written
  organizations: Written
  projects: Written
  /** Number of versions of the added projects. */
  versions: number
  collections: Written
  /** `isLeft`: a running server owns the analytics store and stores the events. */
  events: { added: number; isLeft: boolean }
  /** Accounts that got a password in this run, which is shown once. */
  signIns: SignIn[]
}

type AllDeps = SeedDeps & Pick<Deps, 'config' | 'pool' | 'taxonomy' | 'now' | 'analytics'>

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
  actor: Actor = COMMAND,
): Promise<SeedReport> {
  const report = await withDemoLock(deps, async () => {
    // Events of removed demo projects would count in addition to the new ones.
    if (await forgetOrLeave(deps)) {
      throw new ApiError(
        'conflict',
        'The running server removes the events of demo projects that were removed; try again in a moment',
      )
    }
    const written = await writeCatalogue(deps, projects, onProgress)
    if (!(await isStoreHeld(deps)))
      return { ...written, events: { added: await storeEvents(deps, projects), isLeft: false } }
    return { ...written, events: { added: 0, isLeft: await lacksEvents(deps.db) } }
  })
  const { added } = report.projects
  if (added > 0) await recordAudit(deps.db, { action: 'demo.written', actor, details: { projects: added } })
  // The job needs the lock.
  if (report.events.isLeft)
    await transaction(deps, (tx) => enqueue(tx, 'seed.store-events', { projects }, { jobKey: 'seed.store-events' }))
  return report
}

async function writeCatalogue(
  deps: AllDeps,
  count: number,
  onProgress: (done: number) => void,
): Promise<Omit<SeedReport, 'events'>> {
  const { until, mark } = await beginDemo(deps.db, deps.now())
  const catalogue = demoCatalogue({ taxonomy: deps.taxonomy, projects: count, seed: DEMO_SEED, until })
  const projectIds = new Map<string, string>()
  const names = createNames(catalogue, { until, mark, projectIds })
  const people = await seedPeople(deps, catalogue.people, mark)
  const organizations = await seedOrganizations(deps, catalogue.organizations, names)
  const projects = { added: 0, present: 0 }
  let versions = 0
  for (const batch of batchesOf(catalogue, projectIds)) {
    const { added, present } = await addMissing(deps.db, 'project', batch, async (missing) => {
      await writeProjects(deps, missing, names)
      versions += missing.reduce((sum, { project }) => sum + project.versions.length, 0)
    })
    projects.added += added
    projects.present += present
    onProgress(projects.added + projects.present)
  }
  const approved = await listApproved(deps.db, [...projectIds.values()])
  const collections = await seedCollections(deps, { projectIds: approved, people: names.people.length, until })
  return { people, organizations, projects, versions, collections, signIns: await giveSignIns(deps) }
}

/** Returns the projects of the catalogue in batches, and records their IDs. */
function* batchesOf({ projects }: DemoCatalogue, projectIds: Map<string, string>): Generator<Indexed[]> {
  let batch: Indexed[] = []
  for (const project of projects) {
    const index = projectIds.size
    const id = demoId('project', index)
    projectIds.set(project.slug, id)
    batch.push({ project, index, id })
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  yield batch
}

/** Returns those of the projects that are public, in the same order. */
async function listApproved(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select wanted.id from unnest(${ids}::text[]) with ordinality as wanted (id, place)
    join project on project.id = wanted.id where project.status = 'approved' order by place`.execute(db)
  return rows.map(({ id }) => id)
}

async function lacksEvents(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from demo_item where kind = 'project' and not has_events limit 1`.execute(db)
  return rows.length > 0
}
