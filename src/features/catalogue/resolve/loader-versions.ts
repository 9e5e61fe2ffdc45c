// Proposes versions of a loader for a pack, which the catalogue itself does not contain: those that published packs name, and
// those of a service that the operator sets.

import { sql } from 'kysely'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Db } from '#platform/db/db.ts'
import { readJsonWithin } from '#platform/outgoing/read-json.ts'
import type { Deps } from '#ports/deps.ts'
import { fieldsOf, textOf } from '../versions/manifests/manifest.ts'
import { versionVisibleTo } from '../versions/policy.ts'

const VERSIONS_MAX = 20
/** Maximum number of versions that are read from the response of a service. */
const LISTED_MAX = 1000

const LOADER_VERSIONS = defineCache<RememberDefinition<readonly string[]>>({
  name: 'loader-versions',
  contains: 'Versions of a loader that packs name',
  maxAgeMs: MINUTE_MS,
  maxBytes: MIB,
  sizeOf: (versions) => versions.reduce((sum, version) => sum + 2 * version.length + 16, 0),
})

const LOADER_METADATA = defineCache<RememberDefinition<readonly string[]>>({
  ...LOADER_VERSIONS,
  name: 'loader-metadata',
  contains: 'Versions of a loader that its own service lists',
  maxAgeMs: 10 * MINUTE_MS,
  maxBytes: MIB,
  isStaleAllowed: true,
})

type Wanted = { loader: string; gameVersion: string }

/**
 * Returns versions of the loader: those that public packs for the game version name, the most recently used one first, and
 * then those that the operator's service lists.
 */
export async function listLoaderVersions(
  deps: Pick<Deps, 'dbRead' | 'cache' | 'config' | 'log'>,
  wanted: Wanted,
): Promise<readonly string[]> {
  const { loader, gameVersion } = wanted
  if (loader === '' || gameVersion === '') return []
  const key = `${loader}\n${gameVersion}`
  const [ofPacks, listed] = await Promise.all([
    deps.cache.remember(LOADER_VERSIONS).get(key, () => readFromPacks(deps.dbRead, wanted)),
    deps.config.loaderMetadata[loader] === undefined
      ? []
      : deps.cache.remember(LOADER_METADATA).get(key, () => readMetadata(deps, wanted)),
  ])
  return [...new Set([...ofPacks, ...listed])].slice(0, VERSIONS_MAX)
}

/** Returns nothing if the service is unavailable: the page needs no proposals. */
async function readMetadata({ config, log }: Pick<Deps, 'config' | 'log'>, { loader, gameVersion }: Wanted) {
  const url = (config.loaderMetadata[loader] ?? '').replaceAll('{game_version}', encodeURIComponent(gameVersion))
  try {
    return versionsIn(await readJsonWithin(url))
  } catch (err) {
    log.warn({ err, loader }, 'Could not read the versions of a loader')
    return []
  }
}

/** Accepts `["1"]`, `[{"version": "1"}]`, `[{"loader": {"version": "1"}}]`, and an object whose `versions` has such a list. */
function versionsIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : fieldsOf(value)['versions']
  if (!Array.isArray(list)) return []
  return list.slice(0, LISTED_MAX).flatMap((item) => {
    const { version, loader } = fieldsOf(item)
    return textOf(typeof item === 'string' ? item : (version ?? fieldsOf(loader)['version'])) ?? []
  })
}

async function readFromPacks(db: Db, { loader, gameVersion }: Wanted): Promise<string[]> {
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
