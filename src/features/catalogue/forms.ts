// The forms of projects and versions in responses. The v2 API has the same routes with another prefix and other forms.
import type { EntityForm, JsonEntity, JsonEntityWithTail } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { CachedProject } from './projects/lookup/project-cache.ts'
import { ProjectView } from './projects/views.ts'
import type { CachedVersion } from './versions/lookup/version-cache.ts'
import { VersionView } from './versions/views.ts'

/** Differences between the catalogue's routes in two API versions. */
export type CatalogueForms = {
  prefix: string
  project: EntityForm<CachedProject>
  version: EntityForm<CachedVersion, JsonEntityWithTail>
}

export const V3: CatalogueForms = {
  prefix: '/v3',
  project: { schema: ProjectView, toJson: (project) => project },
  version: { schema: VersionView, toJson: (version) => version },
}

/** Returns the JSON of each version, without changelogs if `included` is false. */
export function listVersionJson(
  versions: readonly CachedVersion[],
  { version: { toJson } }: CatalogueForms,
  included: boolean | undefined,
): Promise<JsonEntity[]> {
  return convertInPieces(versions, (version) => (included === false ? toJson(version).brief : toJson(version)))
}
