// The one project type of the older API, out of the list of the newer one.
import Type from 'typebox'

export const ProjectTypeView = Type.String({
  description: 'mod, modpack, resourcepack, shader, or project: not known yet',
})

/** The type that decides: a pack is a pack, whatever else it is; without versions it is a `project`. */
export function mainType(projectTypes: readonly string[]): string {
  return projectTypes.includes('modpack') ? 'modpack' : (projectTypes[0] ?? 'project')
}

const SHOWN_AS_MOD = ['plugin', 'datapack']

/** The type as it is shown. */
export function shownType(projectType: string): string {
  return SHOWN_AS_MOD.includes(projectType) ? 'mod' : projectType
}
