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
  let cursor = mirror.cursor
  // Otherwise the next run begins at the first page of which something was not copied.
  let isCurrent = true
  for (;;) {
    const page = await readChanges(source, cursor)
    if (page === 'expired') return 'expired'
    if (page === undefined)
      throw new SourceUnusable(`The source ${source.address} has no change feed any more. Check the address`)
    isCurrent = (await copyChanges(run, page.changes, wants)) && isCurrent
    if (page.more && read.has(page.next))
      throw new SourceUnusable(`The change feed of ${source.address} repeats a page. Check the source`)
    read.add(page.next)
    cursor = page.next
    if (isCurrent) await storeCursor(run, cursor)
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

/**
 * Copies the changes of a page. Objects of which this instance has the revision are not read. Returns whether the source
 * shows all others in the state that the page names.
 */
async function copyChanges(run: MirrorRun, changes: readonly RemoteChange[], wants: Wants): Promise<boolean> {
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
  const revisions = { projects: new Map<string, number>(), versions: new Map<string, number>() }
  for (const { kind, id, project_id, state, revision } of changes) {
    if (state !== 'present') continue
    const origin = (kind === 'project' ? projectOrigins : versionOrigins).get(id)
    const project = kind === 'project' ? id : project_id
    const isKnown = revision !== undefined && origin?.remote_revision === String(revision)
    if (project === undefined || isKnown || !wants(project)) continue
    projects.set(project, undefined)
    revisions.projects.set(project, (kind === 'project' ? revision : revisions.projects.get(project)) ?? 0)
    if (kind === 'project') continue
    versions.set(project, (versions.get(project) ?? new Set()).add(id))
    revisions.versions.set(id, revision ?? 0)
  }
  const isCopied = projects.size === 0 || (await copyProjects(run, { projects, versions, revisions }))
  const removed = { projects: idsOf('project', 'removed'), versions: idsOf('version', 'removed') }
  return (await copyRemovals(run, removed)) && isCopied
}
