import type { Viewer } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { listVisibleProjectNames } from './queries.ts'

/**
 * Returns the IDs of the projects with these IDs or slugs, in this order and without duplicates. An ID takes precedence.
 * @throws ApiError `validation_error` naming the first project that is unknown or hidden from the viewer.
 */
export async function resolveProjects(
  db: Db,
  viewer: Viewer,
  { names, field }: { names: readonly string[]; field: string },
): Promise<string[]> {
  const projects = await listVisibleProjectNames(db, viewer, names)
  const idByName = new Map([
    ...projects.map(({ id, slug }) => [slug, id] as const),
    ...projects.map(({ id }) => [id, id] as const),
  ])
  const ids = names.map((name, index) => {
    const id = idByName.get(name) ?? idByName.get(name.toLowerCase())
    if (id === undefined)
      throw validationError(`${field}.${index}`, 'must be the ID or slug of a project that you can see')
    return id
  })
  return [...new Set(ids)]
}
