// Proposes dependencies: those that the file declares, otherwise those of the previous version.

import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import type { DEPENDENCY_TYPES } from '../kinds.ts'
import type { Confidence, DeclaredWithSource, PreviousVersion, Source } from './propose.ts'
import { type ChosenDependency, listChosenDependencies, listProjectsOfIds, listRememberedChoices } from './queries.ts'

export type DependencyProposal = {
  /** ID in the manifest; null for a dependency of the previous version. */
  declared_id: string | null
  dependency_type: (typeof DEPENDENCY_TYPES)[number]
  /** The project, if it is known. */
  project_id: string | null
  /** Name of a file that this instance does not host, if the publisher chose that before. */
  file_name: string | null
  resolved: boolean
  source: Source
  confidence: Confidence
}

/** Returns at most 256 dependencies with two statements. */
export async function proposeDependencies(
  db: Db,
  viewer: Viewer,
  {
    projectId,
    declared,
    previous,
  }: { projectId: string; declared: readonly DeclaredWithSource[]; previous: PreviousVersion | undefined },
): Promise<DependencyProposal[]> {
  if (declared.length === 0) {
    if (previous === undefined) return []
    const source: Source = {
      kind: 'previous_version',
      version_id: previous.id,
      version_number: previous.version_number,
    }
    const chosen = await listChosenDependencies(db, viewer, previous.id)
    return chosen.map((dependency) => ({ ...toProposal(dependency), source, confidence: 'low' as const }))
  }
  const ids = declared.map(({ id }) => id)
  const remembered = await listRememberedChoices(db, viewer, { projectId, ids })
  const found = await listProjectsOfIds(db, viewer, ids)
  return declared.map(({ id, type, source }) => {
    const known = remembered.get(id)
    if (known !== undefined) return { ...toProposal(known), dependency_type: type, source, confidence: 'high' as const }
    const project = resolveId(id, projectId, found)
    return {
      declared_id: id,
      dependency_type: type,
      project_id: project?.project_id ?? null,
      file_name: null,
      resolved: project !== undefined,
      source,
      confidence: project === undefined ? ('low' as const) : project.is_slug ? ('low' as const) : ('medium' as const),
    }
  })
}

function toProposal({ declared_id, project_id, file_name, dependency_type }: ChosenDependency) {
  return {
    declared_id,
    project_id,
    file_name,
    dependency_type: dependency_type as DependencyProposal['dependency_type'],
    resolved: true,
  }
}

/** Returns the only project whose files declare the ID, otherwise the project with this slug. */
function resolveId(id: string, ownProjectId: string, found: Awaited<ReturnType<typeof listProjectsOfIds>>) {
  const ofId = found.filter((row) => row.id === id && row.project_id !== ownProjectId)
  const declaring = ofId.filter(({ is_slug }) => !is_slug)
  if (declaring.length > 1) return undefined
  return declaring[0] ?? ofId.find(({ is_slug }) => is_slug)
}
