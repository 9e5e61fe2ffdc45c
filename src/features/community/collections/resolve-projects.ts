import type { Viewer } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { listVisibleProjectNames } from './queries.ts'

/**
 * IDs of the projects that these names name, in their order, each once. One statement.
 * @throws ApiError `validation_error` naming the first that is unknown or hidden from the viewer.
 */
export async function resolveProjects(
  db: Db,
  viewer: Viewer,
  { names, field }: { names: readonly string[]; field: string },
): Promise<string[]> {
  const known = new Map<string, string>()
  const projects = await listVisibleProjectNames(db, viewer, names)
  for (const { id, slug } of projects) known.set(slug, id)
  // The ID wins over a slug.
  for (const { id } of projects) known.set(id, id)
  const ids = names.map((name, index) => {
    const id = known.get(name) ?? known.get(name.toLowerCase())
    if (id === undefined) throw validationError(`${field}.${index}`, 'names no project')
    return id
  })
  return [...new Set(ids)]
}
