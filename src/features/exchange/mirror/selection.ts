// The selection of projects that a run of a mirror copies.

import type { MirrorRun } from './copy/context.ts'
import type { CopyFailure } from './failures.ts'
import { listOrigins } from './queries.ts'
import { type ReadProject, readNamedProjects, readOrganizationProjects, searchProjects } from './source/read-objects.ts'

export type Selection =
  | { kind: 'all' }
  | { kind: 'projects'; names: readonly string[] }
  | { kind: 'organization'; name: string }
  | { kind: 'search'; query: string }

/** Projects by their IDs; undefined for those that are not read yet. */
export type Selected = Map<string, ReadProject | CopyFailure | undefined>

/**
 * Returns the projects that a run looks at one by one. A search that is not complete ends at the first project that has not
 * changed since the last run, because the latest changes come first.
 */
export async function selectProjects(run: MirrorRun, selection: Selection, isComplete: boolean): Promise<Selected> {
  switch (selection.kind) {
    case 'projects': {
      const { found, unknown } = await readNamedProjects(run.source, selection.names)
      for (const name of unknown) {
        run.report.skipped += 1
        run.warn(`The source shows no project ${name}`)
      }
      return found
    }
    case 'organization':
      return readOrganizationProjects(run.source, selection.name)
    case 'search':
      return searchFor(run, selection.query, isComplete)
    case 'all':
      return searchFor(run, '', isComplete)
  }
}

async function searchFor({ deps, mirror, source }: MirrorRun, query: string, isComplete: boolean): Promise<Selected> {
  const selected: Selected = new Map()
  for await (const hits of searchProjects(source, query)) {
    const ids = hits.map(({ id }) => id)
    const origins = await listOrigins(deps.db, mirror.id, 'project', ids)
    const copyIds = [...origins.values()].flatMap(({ project_id }) => project_id ?? [])
    const copies = await updatedOf(deps.db, copyIds)
    const isNew = hits.map(({ id, modified }) => {
      const origin = origins.get(id)
      const updated = copies.get(origin?.project_id ?? '')
      return origin?.remote_revision == null || updated?.getTime() !== new Date(modified).getTime()
    })
    for (const [index, { id }] of hits.entries()) if (isComplete || isNew[index]) selected.set(id, undefined)
    if (!isComplete && isNew.includes(false)) break
  }
  return selected
}

async function updatedOf(db: MirrorRun['deps']['db'], ids: readonly string[]): Promise<Map<string, Date>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('project').select(['id', 'updated']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, updated }) => [id, updated]))
}
