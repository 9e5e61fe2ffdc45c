// Proposes versions of a loader for a pack, which the catalogue itself does not contain: those that published packs name.
import { sql } from 'kysely'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { versionVisibleTo } from '../versions/policy.ts'

const VERSIONS_MAX = 20

const LOADER_VERSIONS: RememberDefinition<readonly string[]> = {
  name: 'loader-versions',
  sizeOf: (versions) => versions.reduce((sum, version) => sum + 2 * version.length + 16, 0),
}

/** Returns the versions that public packs for the game version name for the loader, the most recently used one first. */
export function listLoaderVersions(
  { dbRead, cache }: Pick<Deps, 'dbRead' | 'cache'>,
  { loader, gameVersion }: { loader: string; gameVersion: string },
): Promise<readonly string[]> {
  if (loader === '' || gameVersion === '') return Promise.resolve([])
  return cache
    .remember(LOADER_VERSIONS)
    .get(`${loader}\n${gameVersion}`, () => readFromPacks(dbRead, { loader, gameVersion }))
}

async function readFromPacks(db: Db, { loader, gameVersion }: { loader: string; gameVersion: string }) {
  const { rows } = await sql<{ name: string }>`
    select manifest.content -> 'packLoaderVersions' ->> ${loader} as name
    from file_manifest manifest
    join file on file.id = manifest.file_id
    join version on version.id = file.version_id
    join project on project.id = version.project_id
    where manifest.content ? 'packLoaderVersions' and manifest.content -> 'packLoaderVersions' ? ${loader}
      and manifest.content -> 'gameVersions' -> 'ranges' ? ${gameVersion} and ${versionVisibleTo(null)}
    group by 1 order by max(version.date_published) desc, 1 limit ${VERSIONS_MAX}`.execute(db)
  return rows.map(({ name }) => name)
}
