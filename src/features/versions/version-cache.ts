// Versions kept as ready bytes, with and without their changelog, and with what decides who sees them. Whoever changes
// what a version's view shows, or who may see its project, names the version's ID under `version`.
import type { EntityCache } from '#cache/entity-cache.ts'
import type { Db } from '#db/db.ts'
import { notFound } from '#lib/errors.ts'
import { entityTag } from '#lib/json-bytes.ts'
import type { Taxonomy } from '#lib/taxonomy.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Membership } from '../projects/policy.ts'
import { findMembership, listMemberships } from '../projects/queries.ts'
import { canSeeVersion, isPublicVersion, type VersionFacts } from './policy.ts'
import { listVersionReads, type VersionReadRow } from './queries.ts'
import { toVersionView } from './views.ts'

export type CachedVersion = VersionFacts & {
  revision: number
  /** The whole view. */
  bytes: Buffer
  etag: string
  /** The view without its changelog. */
  brief: { bytes: Buffer; etag: string }
}

export type VersionReader = { db: Db; cache: EntityCache; taxonomy: Taxonomy; config: { files: { baseUrl: string } } }

const VERSION = {
  name: 'version',
  idOf: (version: CachedVersion) => version.id,
  sizeOf: (version: CachedVersion) => version.bytes.length + version.brief.bytes.length + 400,
  revisionOf: (version: CachedVersion) => version.revision,
}

const CHANGELOG_KEY = Buffer.from(',"changelog":')
const CLOSING_BRACE = Buffer.from('}')

function toCachedVersion(row: VersionReadRow, reader: VersionReader): CachedVersion {
  const view = toVersionView(row, { taxonomy: reader.taxonomy, filesBaseUrl: reader.config.files.baseUrl })
  const brief = Buffer.from(JSON.stringify(view))
  const bytes = Buffer.concat([
    brief.subarray(0, brief.length - 1),
    CHANGELOG_KEY,
    Buffer.from(JSON.stringify(row.changelog)),
    CLOSING_BRACE,
  ])
  return {
    id: row.id,
    status: row.status,
    project: {
      id: row.project_id,
      status: row.project_status,
      team_id: row.team_id,
      organization_id: row.organization_id,
    },
    revision: row.revision,
    bytes,
    etag: entityTag(bytes),
    brief: { bytes: brief, etag: entityTag(brief) },
  }
}

/** The versions with these IDs, whoever asks, in the order asked for; unknown ones are left out. One statement at most. */
export async function listCachedVersions(reader: VersionReader, ids: readonly string[]): Promise<CachedVersion[]> {
  const found = await reader.cache
    .kind(VERSION)
    .getMany(ids, async (missing) =>
      (await listVersionReads(reader.db, missing)).map((row) => toCachedVersion(row, reader)),
    )
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Of these versions, those the viewer may see. One statement at most. */
export async function keepVisibleVersions<Facts extends VersionFacts>(
  db: Db,
  viewer: Viewer | null,
  versions: readonly Facts[],
): Promise<Facts[]> {
  const hidden = versions.filter((version) => !isPublicVersion(version))
  const projectIds = [...new Set(hidden.map(({ project }) => project.id))]
  const memberships = viewer === null ? new Map<string, Membership>() : await listMemberships(db, viewer.id, projectIds)
  return versions.filter((version) => canSeeVersion(viewer, version, memberships.get(version.project.id) ?? {}))
}

/**
 * The version with this ID, if the viewer may see it.
 * @throws ApiError 404 when it is absent or hidden.
 */
export async function getVersion(reader: VersionReader, viewer: Viewer | null, id: string): Promise<CachedVersion> {
  const [version] = await keepVisibleVersions(reader.db, viewer, await listCachedVersions(reader, [id]))
  if (version === undefined) throw notFound('version')
  return version
}

/** The same with the viewer's membership, for routes that go on to ask what he may do. */
export async function getVersionAsMember(
  reader: VersionReader,
  viewer: Viewer,
  id: string,
): Promise<{ version: CachedVersion; membership: Membership }> {
  const [version] = await listCachedVersions(reader, [id])
  if (version === undefined) throw notFound('version')
  const membership = await findMembership(reader.db, viewer.id, version.project)
  if (!canSeeVersion(viewer, version, membership)) throw notFound('version')
  return { version, membership }
}
