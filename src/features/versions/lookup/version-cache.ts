// Versions kept as ready bytes, with and without their changelog, and with what decides who sees them. Whoever changes
// what a version's view shows, or who may see its project, names the version's ID under `version`.
import type { EntityCache } from '#cache/entity-cache.ts'
import type { Db } from '#db/db.ts'
import { findMembership, listMemberships } from '#features/access/memberships.ts'
import type { Membership, ProjectFacts } from '#features/access/project-policy.ts'
import { notFound } from '#lib/errors.ts'
import { bytesToKeep, JsonEntity } from '#lib/json-bytes.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { canSeeVersion, isPublicVersion, type VersionFacts } from '../policy.ts'
import { listVersionReads, type VersionReadRow } from '../queries.ts'
import { toVersionView } from '../views.ts'

/** A version's whole view as ready bytes. */
export class CachedVersion extends JsonEntity implements VersionFacts {
  readonly id: string
  readonly status: string
  readonly project: ProjectFacts
  readonly revision: number
  /** Where in the bytes the changelog begins, with the comma before its key. It comes last. */
  readonly #changelogAt: number
  #brief: JsonEntity | undefined

  constructor(row: VersionReadRow, { taxonomy, config }: VersionReader) {
    const view = JSON.stringify(toVersionView(row, { taxonomy, filesBaseUrl: config.files.baseUrl })).slice(0, -1)
    const changelog = `,"changelog":${JSON.stringify(row.changelog)}}`
    super(bytesToKeep(view + changelog))
    this.id = row.id
    this.status = row.status
    const { project_id: id, project_status: status, team_id, organization_id } = row
    this.project = { id, status, team_id, organization_id }
    this.revision = row.revision
    this.#changelogAt = this.bytes.length - Buffer.byteLength(changelog)
  }

  /** The view without its changelog, made when it is first asked for. */
  get brief(): JsonEntity {
    this.#brief ??= new JsonEntity(endObject(this.bytes.subarray(0, this.#changelogAt)))
    return this.#brief
  }

  /** Bytes kept in the end: both forms. */
  get sizeBytes(): number {
    return this.bytes.length + this.#changelogAt
  }
}

function endObject(bytes: Buffer): Buffer {
  const whole = Buffer.allocUnsafeSlow(bytes.length + 1)
  bytes.copy(whole)
  whole[bytes.length] = CLOSING_BRACE
  return whole
}

export type VersionReader = { db: Db; cache: EntityCache; taxonomy: Taxonomy; config: { files: { baseUrl: string } } }

const VERSION = {
  name: 'version',
  idOf: (version: CachedVersion) => version.id,
  sizeOf: (version: CachedVersion) => version.sizeBytes + 400,
  revisionOf: (version: CachedVersion) => version.revision,
}

const CLOSING_BRACE = 0x7d

/** The versions with these IDs, whoever asks, in the order asked for; unknown ones are left out. One statement at most. */
export async function listCachedVersions(reader: VersionReader, ids: readonly string[]): Promise<CachedVersion[]> {
  const found = await reader.cache
    .kind(VERSION)
    .getMany(ids, async (missing) =>
      (await listVersionReads(reader.db, missing)).map((row) => new CachedVersion(row, reader)),
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
