// Copies what the change feed of a source names, page by page. The cursor is stored only after everything before it is copied.

import type { MirrorRun } from './copy/context.ts'
import { copyProjects, type Wants } from './copy/copy-projects.ts'
import { copyRemovals } from './copy/copy-removals.ts'
import { listOrigins, markSeen } from './queries.ts'
import { readChanges } from './source/read-objects.ts'
import type { RemoteChange } from './source/remote-objects.ts'
import { SourceUnusable } from './source/source.ts'

/** Reads to the end of the feed. Returns `expired` if its cursor cannot be continued. */
export async function followFeed(run: MirrorRun, wants: Wants): Promise<'done' | 'expired'> {
  const { mirror, source } = run
  const read = new Set<string>()
  for (;;) {
    const page = await readChanges(source, mirror.cursor)
    if (page === 'expired') return 'expired'
    if (page === undefined)
      throw new SourceUnusable(`The source ${source.address} has no change feed any more. Check the address`)
    await copyChanges(run, page.changes, wants)
    if (page.more && read.has(page.next))
      throw new SourceUnusable(`The change feed of ${source.address} repeats a page. Check the source`)
    read.add(page.next)
    await storeCursor(run, page.next)
    if (!page.more) return 'done'
    source.signal?.throwIfAborted()
  }
}

export async function storeCursor(run: MirrorRun, cursor: string): Promise<void> {
  if (run.mirror.cursor === cursor) return
  run.mirror.cursor = cursor
  run.report.cursor = cursor
  if (run.isDryRun) return
  await run.deps.db.updateTable('mirror').set({ cursor }).where('id', '=', run.mirror.id).execute()
}

/** Copies the changes of a page. Objects of which this instance has the revision are not read. */
async function copyChanges(run: MirrorRun, changes: readonly RemoteChange[], wants: Wants): Promise<void> {
  const { deps, mirror } = run
  const idsOf = (kind: string, state: string) =>
    changes.flatMap((change) => (change.kind === kind && change.state === state ? [change.id] : []))
  const [shown, present] = [idsOf('project', 'present'), idsOf('version', 'present')]
  const projectOrigins = await listOrigins(deps.db, mirror.id, 'project', shown)
  const versionOrigins = await listOrigins(deps.db, mirror.id, 'version', present)
  if (!run.isDryRun) {
    await markSeen(deps.db, mirror, 'project', shown)
    await markSeen(deps.db, mirror, 'version', present)
  }
  const projects = new Map<string, undefined>()
  const versions = new Map<string, Set<string>>()
  for (const { kind, id, project_id, state, revision } of changes) {
    if (state !== 'present') continue
    const origin = (kind === 'project' ? projectOrigins : versionOrigins).get(id)
    const project = kind === 'project' ? id : project_id
    const isKnown = revision !== undefined && origin?.remote_revision === String(revision)
    if (project === undefined || isKnown || !wants(project)) continue
    projects.set(project, undefined)
    if (kind === 'version') versions.set(project, (versions.get(project) ?? new Set()).add(id))
  }
  if (projects.size > 0) await copyProjects(run, { projects, versions })
  await copyRemovals(run, { projects: idsOf('project', 'removed'), versions: idsOf('version', 'removed') })
}
