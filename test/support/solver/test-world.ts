// Test support: worlds as short texts.
import type { Candidate, World, WorldDependency, WorldProject } from '#features/catalogue/resolve/solve/world.ts'

export type TestProject = {
  /** Version → its dependencies such as `required b`, `required b@b1`, `required file x.jar`; newest first. */
  versions: Record<string, readonly string[]>
  /** Versions that do not match the filter. */
  outside?: readonly string[]
  hidden?: boolean
}

export function worldOf(projects: Record<string, TestProject>): World {
  return new Map(Object.entries(projects).map(([id, project]) => [id, toProject(id, project)]))
}

function toProject(id: string, { versions, outside = [], hidden = false }: TestProject): WorldProject {
  if (hidden) return { id, state: 'hidden', listed: [], byId: new Map() }
  const all = Object.entries(versions).map(
    ([version, dependencies], index): Candidate => ({
      id: version,
      projectId: id,
      published: 1000 - index,
      outsideFilter: outside.includes(version),
      isRead: true,
      dependencies: dependencies.map(toDependency),
    }),
  )
  const listed = all.filter(({ outsideFilter }) => !outsideFilter)
  return { id, state: 'known', listed, byId: new Map(all.map((version) => [version.id, version])) }
}

function toDependency(text: string): WorldDependency {
  const [kind = '', name = '', fileName = null] = text.split(' ')
  if (name === 'file') return { kind: kind as WorldDependency['kind'], projectId: null, versionId: null, fileName }
  const [projectId = '', versionId = null] = name.split('@')
  return { kind: kind as WorldDependency['kind'], projectId, versionId, fileName: null }
}
