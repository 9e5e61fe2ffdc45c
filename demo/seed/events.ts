// Stores the events of demo projects. Their downloads are part of the existing counters, so the imported downloads are
// reduced by the same number, and counters, events and imported downloads agree.
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { demoCatalogue } from '#demo/catalogue/catalogue.ts'
import { type DemoEvents, demoEvents } from '#demo/catalogue/events.ts'
import { DEMO_SEED, demoId, demoPartId, demoRandom } from '#demo/ids.ts'
import { findDemo } from '#demo/items.ts'
import type { Indexed } from '#demo/seed/names.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { APPEND_EVENTS_MAX } from '#ports/analytics-store/analytics-store.ts'
import { countByVersion } from '#ports/analytics-store/download-counts.ts'
import type { EventKind, Events } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'

export type EventDeps = Pick<Deps, 'db' | 'cache' | 'analytics' | 'taxonomy'>

/** Number of projects whose events are stored together. */
const GROUP = 400

type Group = { batch: string; isCounted: boolean; projects: Indexed[] }

/** Stores the events of those of the first `projects` that have none, and returns the number of events. Idempotent. */
export async function storeEvents(deps: EventDeps, projects: number, signal?: AbortSignal): Promise<number> {
  const demo = await findDemo(deps.db)
  if (demo === undefined) return 0
  const { until } = demo
  const catalogue = demoCatalogue({ taxonomy: deps.taxonomy, projects, seed: DEMO_SEED, until })
  let stored = 0
  let group: Indexed[] = []
  let index = 0
  for (const project of catalogue.projects) {
    group.push({ project, index, id: demoId('project', index) })
    index += 1
    if (group.length === GROUP || index === projects) {
      for (const part of await listGroups(deps, group)) stored += await storeGroup(deps, part, until)
      group = []
    }
    signal?.throwIfAborted()
    // Lets the server handle requests.
    await setImmediate()
  }
  return stored
}

async function storeGroup(deps: EventDeps, { batch, isCounted, projects }: Group, until: Date): Promise<number> {
  const events = eventsOf(projects, until)
  if (!isCounted) await countFirst(deps, batch, projects, events.downloads)
  await append(deps, 'view', batch, events.views, until)
  await append(deps, 'download', batch, events.downloads, until)
  await sql`update demo_item set has_events = true where kind = 'project' and events_batch = ${batch}`.execute(deps.db)
  return events.views.length + events.downloads.length
}

/** Repeats the group of an interrupted run unchanged; the remaining projects are one new group. */
async function listGroups({ db }: EventDeps, projects: readonly Indexed[]): Promise<Group[]> {
  const ids = projects.map(({ id }) => id)
  const { rows } = await sql<{ id: string; events_batch: string | null }>`
    select demo_item.id, events_batch from demo_item join project on project.id = demo_item.id
    where kind = 'project' and not has_events and demo_item.id = any(${ids}::text[])`.execute(db)
  const batches = new Map(rows.map(({ id, events_batch }) => [id, events_batch]))
  const groups = new Map<string | null, Group>()
  for (const indexed of projects) {
    const batch = batches.get(indexed.id)
    if (batch === undefined) continue
    const group = groups.get(batch) ?? { batch: batch ?? `demo-${newId()}`, isCounted: batch !== null, projects: [] }
    group.projects.push(indexed)
    groups.set(batch, group)
  }
  return [...groups.values()]
}

function eventsOf(group: readonly Indexed[], until: Date): DemoEvents {
  const all: DemoEvents = { views: [], downloads: [] }
  for (const { project, index, id } of group) {
    const { views, downloads } = demoEvents(demoRandom('event', index), {
      project,
      projectId: id,
      versionIds: project.versions.map((_, n) => demoPartId('version', index, n)),
      until,
    })
    for (const view of views) all.views.push(view)
    for (const download of downloads) all.downloads.push(download)
  }
  return all
}

const partId = (batch: string, kind: EventKind, n: number): string => `${batch}-${kind}-${n}`

/** Records these batches as counted before they are stored, so that the counter follower skips them. */
async function countFirst(
  deps: EventDeps,
  batch: string,
  group: readonly Indexed[],
  downloads: DemoEvents['downloads'],
): Promise<void> {
  const { projects, versions } = countByVersion(downloads)
  const parts = Math.ceil(downloads.length / APPEND_EVENTS_MAX)
  const ids = Array.from({ length: parts }, (_, n) => partId(batch, 'download', n))
  await transaction(deps, async (tx) => {
    await sql`update demo_item set events_batch = ${batch}
      where kind = 'project' and id = any(${group.map(({ id }) => id)}::text[])`.execute(tx)
    await sql`insert into download_batch (id) select unnest(${ids}::text[])`.execute(tx)
    for (const [table, counts] of [
      ['project', projects.map(({ project_id, downloads }) => ({ id: project_id, downloads }))],
      ['version', versions.map(({ version_id, downloads }) => ({ id: version_id, downloads }))],
    ] as const) {
      await sql`update ${sql.table(table)} set imported_downloads = imported_downloads - counted.downloads
        from unnest(${counts.map(({ id }) => id)}::text[], ${counts.map(({ downloads }) => downloads)}::bigint[])
          as counted (id, downloads)
        where ${sql.ref(`${table}.id`)} = counted.id`.execute(tx)
    }
  })
}

async function append<K extends 'view' | 'download'>(
  { analytics }: EventDeps,
  kind: K,
  batch: string,
  events: readonly Events[K][],
  until: Date,
): Promise<void> {
  for (let start = 0; start < events.length; start += APPEND_EVENTS_MAX) {
    const part = events.slice(start, start + APPEND_EVENTS_MAX)
    // The ID is created before the first attempt, because a store recognises a batch by its ID.
    await analytics.append(kind, {
      id: partId(batch, kind, start / APPEND_EVENTS_MAX),
      madeAt: until.getTime(),
      events: part,
    })
  }
}
