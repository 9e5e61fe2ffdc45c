// Stores a list of versions as a lock, without choosing anything.
import Type, { type Static } from 'typebox'
import { compare } from '#lib/compare.ts'
import { invalidInput, validationError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { Id } from '#lib/schema/schema-parts.ts'
import { filterBody } from '../../versions/lookup/list-requests.ts'
import { type Answer, toAnswer } from '../answer.ts'
import { listProjectsOfVersions } from '../load/queries.ts'
import { toTarget } from '../load/target.ts'
import { listChosenFiles } from '../queries.ts'
import { checkPackFields, ITEMS_MAX, packFields } from '../requests.ts'
import type { ResolveDeps } from '../resolve-items.ts'

export const LockBody = Type.Object({
  versions: Type.Array(Id('ID of a version'), { minItems: 1, maxItems: ITEMS_MAX }),
  loaders: filterBody.loaders,
  game_versions: filterBody.game_versions,
  ...packFields,
})

/** @throws ApiError 400 naming a version that is unknown, hidden or of the same project as another. */
export async function toLock(deps: ResolveDeps, body: Static<typeof LockBody>): Promise<Answer> {
  checkPackFields(body)
  const { versions, loaders, game_versions } = body
  const target = toTarget(deps, { loaders: loaders ?? [] })
  for (const [index, id] of versions.entries()) parseId(id, `versions.${index}`)
  const projects = await listProjectsOfVersions(deps.db, versions)
  const seen = new Map<string, number>()
  const items = versions.map((id, index) => {
    const projectId = projects.get(id)
    if (projectId === undefined) throw validationError(`versions.${index}`, 'must be the ID of a public version')
    const earlier = seen.get(projectId)
    if (earlier !== undefined && versions[earlier] !== id)
      throw invalidInput(`The versions ${earlier} and ${index} are of the same project`, `versions.${index}`)
    seen.set(projectId, earlier ?? index)
    return { index, projectId, id }
  })
  const once = items.filter(({ projectId, index }) => seen.get(projectId) === index)
  return toAnswer({
    items: items.map(({ index, projectId, id }) => ({ index, state: 'chosen', project_id: projectId, version_id: id })),
    chosen: once
      .sort((a, b) => compare(a.projectId, b.projectId))
      .map(({ id, projectId }) => ({
        candidate: { id, projectId, published: 0, outsideFilter: false, isRead: true, dependencies: [] },
        insteadOf: null,
        requiredBy: [],
      })),
    files: await listChosenFiles(deps.db, versions),
    exact: true,
    unmetPins: [],
    suggested: [],
    external: [],
    provided: [],
    pack: { ...body, loaders: target.filter.loaders ?? [], game_versions: game_versions ?? [] },
  })
}
