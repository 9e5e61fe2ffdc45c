// Stores the events of demo projects. Their downloads are part of the existing counters, so the imported downloads are
// reduced by the same number, and counters, events and imported downloads agree.
import { sql } from 'kysely'
import { type DemoEvents, demoEvents } from '#demo/catalogue/events.ts'
import { isPublishers } from '#demo/catalogue/people.ts'
import { createRandom } from '#demo/catalogue/random.ts'
import { demoId, demoVersionId } from '#demo/ids.ts'
import type { Indexed } from '#demo/seed/projects.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { APPEND_EVENTS_MAX } from '#ports/analytics-store/analytics-store.ts'
import { countByVersion } from '#ports/analytics-store/download-counts.ts'
import type { EventKind, Events } from '#ports/analytics-store/events.ts'
import type { Deps } from '#ports/deps.ts'

export type EventDeps = Pick<Deps, 'db' | 'cache' | 'analytics'>

/** Number of projects whose events are stored together. */
export const EVENT_PROJECTS = 400
/** Index of the random stream; those of projects begin at 0. */
const EVENTS = 70_000_000

type Group = { batch: string; isCounted: boolean; projects: Indexed[] }

/** Stores the events of projects that have none, and returns their number. Idempotent. */
export async function seedEvents(
  deps: EventDeps,
  projects: readonly Indexed[],
  { seed, until }: { seed: number; until: Date },
): Promise<number> {
  let stored = 0
  for (const { batch, isCounted, projects: group } of await listGroups(deps, projects)) {
    const events = eventsOf(group, { seed, until })
    if (!isCounted) await countFirst(deps, batch, group, events.downloads)
    await append(deps, 'view', batch, events.views, until)
    await append(deps, 'download', batch, events.downloads, until)
    await deps.db
      .updateTable('demo_item')
      .set({ has_events: true })
      .where('kind', '=', 'project')
      .where('events_batch', '=', batch)
      .execute()
    stored += events.views.length + events.downloads.length
  }
  return stored
}

/** Repeats the group of an interrupted run unchanged; the remaining projects are one new group. */
async function listGroups({ db }: EventDeps, projects: readonly Indexed[]): Promise<Group[]> {
  const ids = projects.map(({ index }) => demoId('project', index))
  const { rows } = await sql<{ id: string; events_batch: string | null }>`
    select demo_item.id, events_batch from demo_item join project on project.id = demo_item.id
    where kind = 'project' and not has_events and demo_item.id = any(${ids}::text[])`.execute(db)
  const batches = new Map(rows.map(({ id, events_batch }) => [id, events_batch]))
  const groups = new Map<string | null, Group>()
  for (const indexed of projects) {
    const batch = batches.get(demoId('project', indexed.index))
    if (batch === undefined) continue
    const group = groups.get(batch) ?? { batch: batch ?? `demo-${newId()}`, isCounted: batch !== null, projects: [] }
    group.projects.push(indexed)
    groups.set(batch, group)
  }
  return [...groups.values()]
}

function eventsOf(group: readonly Indexed[], { seed, until }: { seed: number; until: Date }): DemoEvents {
  const all: DemoEvents = { views: [], downloads: [] }
  for (const { project, index } of group) {
    const { views, downloads } = demoEvents(createRandom(seed, EVENTS + index), {
      projectId: demoId('project', index),
      projectType: project.projectType,
      slug: project.slug,
      published: project.published,
      downloads: project.downloads,
      versions: project.versions.map((version, n) => ({ id: demoVersionId('version', index, n), version })),
      until,
      isWatched: isPublishers(index),
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
      where kind = 'project' and id = any(${group.map(({ index }) => demoId('project', index))}::text[])`.execute(tx)
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
