// Caches the JSON of versions, with and without changelog, together with the facts that decide who can see them. A
// command that changes a version's view or the visibility of its project must add the version's ID to the change set,
// under `version`.

import { findMembership, listMemberships } from '#features/basics/access/memberships.ts'
import type { Membership, ProjectFacts } from '#features/basics/access/project-policy.ts'
import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { FilesConfig } from '#features/basics/images/hosted-image.ts'
import { ownTurn } from '#lib/concurrency/own-turn.ts'
import { notFound } from '#lib/errors.ts'
import { JsonEntityWithTail, withLargerNumber } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { Counted } from '#platform/cache/changes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Db } from '#platform/db/db.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { canSeeVersion, isPublicVersion, type VersionFacts } from '../policy.ts'
import { findVersionIdByNumber, listVersionReads, type VersionReadRow } from '../queries.ts'
import { toVersionView, type VersionView } from '../views.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    version: true
  }
}

/** The JSON of a version. `brief` is the JSON without the changelog, which comes last. */
export class CachedVersion extends JsonEntityWithTail implements VersionFacts {
  declare readonly is?: VersionView
  readonly id: string
  readonly status: string
  readonly project: ProjectFacts
  readonly revision: number
  /** When the scanner passed the files; null for any other verdict, which only members can see. */
  readonly scanPassed: Date | null

  constructor(
    facts: VersionFacts & { id: string; revision: number; scanPassed: Date | null },
    json: { head: string; tail: string },
  ) {
    super(json.head, json.tail)
    this.id = facts.id
    this.status = facts.status
    this.project = facts.project
    this.revision = facts.revision
    this.scanPassed = facts.scanPassed
  }
}

function toCachedVersion(row: VersionReadRow, { taxonomy, config }: VersionReader): CachedVersion {
  const view = JSON.stringify(toVersionView(row, { taxonomy, filesBaseUrl: config.files.baseUrl }))
  const { id, status, revision, project_id, project_status, team_id, organization_id, scan_passed: scanPassed } = row
  return new CachedVersion(
    { id, status, revision, scanPassed, project: { id: project_id, status: project_status, team_id, organization_id } },
    { head: view.slice(0, -1), tail: `,"changelog":${JSON.stringify(row.changelog)}}` },
  )
}

export type VersionReader = { db: Db; cache: EntityCache; taxonomy: Taxonomy; config: FilesConfig }

const VERSION = defineCache({
  name: 'version',
  contains: 'View of a version as JSON',
  idOf: (version: CachedVersion) => version.id,
  sizeOf: (version: CachedVersion) => version.sizeBytes + 400,
  revisionOf: (version: CachedVersion) => version.revision,
  recount: (version: CachedVersion, { revision, downloads }: Counted): CachedVersion | undefined => {
    // A later revision already includes these downloads. An earlier revision is outdated in other fields too.
    if (version.revision !== revision) return version.revision > revision ? version : undefined
    const before = version.headText
    const head = withLargerNumber(before, 'downloads', downloads)
    return head === before ? version : new CachedVersion(version, { head, tail: version.tail })
  },
})

/** Returns another representation of a cached version, which is cached and invalidated together with the version. */
export function versionForm<D>(
  { cache }: VersionReader,
  version: CachedVersion,
  form: DerivedForm<CachedVersion, D>,
): D {
  return cache.kind(VERSION).derive(version, form)
}

/** Returns the version without waiting if it is cached and public. If undefined, call `getVersion`. */
export function peekPublicVersion({ cache }: Pick<VersionReader, 'cache'>, id: string): CachedVersion | undefined {
  const version = cache.kind(VERSION).peek(id)
  return version !== undefined && isPublicVersion(version) ? version : undefined
}
/** More would hold the event loop for too long when they are put into the cache. */
const VERSIONS_PER_STATEMENT = 1000

/** Returns the versions with these IDs, including hidden ones, in this order. Skips unknown IDs. */
export async function listCachedVersions(reader: VersionReader, ids: readonly string[]): Promise<CachedVersion[]> {
  const versions: (CachedVersion | undefined)[] = []
  for (let start = 0; start < ids.length; start += VERSIONS_PER_STATEMENT)
    versions.push(...(await readVersionsInOrder(reader, ids.slice(start, start + VERSIONS_PER_STATEMENT))))
  return versions.filter((version) => version !== undefined)
}

/** Returns one version per ID, or undefined for an unknown or undefined ID. Runs at most one statement. */
export async function readVersionsInOrder(
  reader: VersionReader,
  ids: readonly (string | undefined)[],
): Promise<(CachedVersion | undefined)[]> {
  await ownTurn(ids.length)
  const kind = reader.cache.kind(VERSION)
  const missing: string[] = []
  const versions = ids.map((id) => {
    if (id === undefined) return undefined
    const version = kind.peek(id)
    if (version === undefined) missing.push(id)
    return version
  })
  if (missing.length === 0) return versions
  const versionsById = await kind.getMany(missing, async (unknown) =>
    convertInPieces(await listVersionReads(reader.db, unknown), (row) => toCachedVersion(row, reader)),
  )
  return versions.map((version, index) => version ?? versionsById.get(ids[index] ?? ''))
}

/** Returns the versions that the viewer can see. Runs at most one statement. */
export async function filterVisibleVersions<Facts extends VersionFacts>(
  db: Db,
  viewer: Viewer | null,
  versions: readonly Facts[],
): Promise<Facts[]> {
  const hidden = versions.filter((version) => !isPublicVersion(version))
  const projectIds = [...new Set(hidden.map(({ project }) => project.id))]
  const memberships = viewer === null ? new Map<string, Membership>() : await listMemberships(db, viewer, projectIds)
  return versions.filter((version) => canSeeVersion(viewer, version, memberships.get(version.project.id) ?? {}))
}

/** Returns the versions with these IDs that the viewer can see, in this order. Runs at most two statements for 1,000 IDs. */
export async function listVisibleVersions(
  reader: VersionReader,
  viewer: Viewer | null,
  ids: readonly string[],
): Promise<CachedVersion[]> {
  const versions = await listCachedVersions(reader, ids)
  return filterVisibleVersions(reader.db, viewer, versions)
}

/** Returns the version with this ID. @throws ApiError 404 if it is absent or hidden from the viewer. */
export async function getVersion(reader: VersionReader, viewer: Viewer | null, id: string): Promise<CachedVersion> {
  const [version] = await listVisibleVersions(reader, viewer, [id])
  if (version === undefined) throw notFound('version')
  return version
}

/** Returns the version as `getVersion` does, with the viewer's membership, which decides what they may do. */
export async function getVersionAsMember(
  reader: VersionReader,
  viewer: Viewer,
  id: string,
): Promise<{ version: CachedVersion; membership: Membership }> {
  const [version] = await listCachedVersions(reader, [id])
  if (version === undefined) throw notFound('version')
  const membership = await findMembership(reader.db, viewer, version.project)
  if (!canSeeVersion(viewer, version, membership)) throw notFound('version')
  return { version, membership }
}

/** Returns the viewer if their token includes VERSION_READ, otherwise null: the request then sees public versions only. */
export function versionViewer(viewer: Viewer): Viewer | null {
  return hasScope(viewer.scopes, 'VERSION_READ') ? viewer : null
}

/** Returns the listed or archived version of a project with this ID or version number. @throws ApiError 404. */
export async function getVersionByNumber(
  reader: VersionReader,
  viewer: Viewer | null,
  { projectId, name }: { projectId: string; name: string },
): Promise<CachedVersion> {
  const id = await findVersionIdByNumber(reader.db, projectId, name)
  if (id === undefined) throw notFound('version')
  return getVersion(reader, viewer, id)
}
