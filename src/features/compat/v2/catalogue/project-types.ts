// Derives the single project type of the v2 API from the list of types in the v3 API.
import Type from 'typebox'

export const ProjectTypeView = Type.String({
  description: 'mod, modpack, resourcepack or shader. `project`: not known yet',
})

const SHOWN_AS_MOD = ['plugin', 'datapack']

/** Returns the type that the v2 API shows: `modpack` has priority, and a project without versions is a `project`. */
export function shownType(projectTypes: readonly string[]): string {
  const type = projectTypes.includes('modpack') ? 'modpack' : (projectTypes[0] ?? 'project')
  return SHOWN_AS_MOD.includes(type) ? 'mod' : type
}
