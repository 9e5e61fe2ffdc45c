// The age of the list of game versions.
import { readManifestState } from '#features/basics/tags/edit/manifest-state.ts'
import type { Deps } from '#ports/deps.ts'
import type { Situation } from './problems.ts'

export async function readGameVersions({
  db,
  config,
  taxonomy,
}: Pick<Deps, 'db' | 'config' | 'taxonomy'>): Promise<Situation['gameVersions']> {
  const versions = [...(taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])]
  return {
    ...(await readManifestState(db)),
    hasManifest: config.versionManifestUrl !== undefined,
    newest: versions.toSorted((a, b) => (a.created < b.created ? 1 : -1))[0],
  }
}
