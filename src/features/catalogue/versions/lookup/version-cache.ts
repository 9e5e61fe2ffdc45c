// Versions kept as ready bytes, with and without their changelog, and with what decides who sees them. A command that
// changes what a version's view shows, or who may see its project, names the version's ID under `version`.

import { findMembership, listMemberships } from '#features/basics/access/memberships.ts'
import type { Membership, ProjectFacts } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { type JsonEntity, JsonEntityWithTail, withLargerNumber } from '#lib/text/json-bytes.ts'
import type { Counted } from '#platform/cache/changes.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Db } from '#platform/db/db.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { canSeeVersion, isPublicVersion, type VersionFacts } from '../policy.ts'
import { findVersionIdByNumber, listVersionReads, type VersionReadRow } from '../queries.ts'
import { toVersionView } from '../views.ts'

/** A version's whole view as ready bytes; `brief` lacks the changelog, which comes last. */
export class CachedVersion extends JsonEntityWithTail implements VersionFacts {
  readonly id: string
  readonly status: string
  readonly project: ProjectFacts
  readonly revision: number

  constructor(facts: VersionFacts & { id: string; revision: number }, json: { head: string; tail: string }) {
    super(json.head, json.tail)
    this.id = facts.id
    this.status = facts.status
    this.project = facts.project
    this.revision = facts.revision
  }
}

function toCachedVersion(row: VersionReadRow, { taxonomy, config }: VersionReader): CachedVersion {
  const view = JSON.stringify(toVersionView(row, { taxonomy, filesBaseUrl: config.files.baseUrl }))
  const { id, status, revision, project_id, project_status, team_id, organization_id } = row
  return new CachedVersion(
    { id, status, revision, project: { id: project_id, status: project_status, team_id, organization_id } },
    { head: view.slice(0, -1), tail: `,"changelog":${JSON.stringify(row.changelog)}}` },
  )
}

export type VersionReader = { db: Db; cache: EntityCache; taxonomy: Taxonomy; config: { files: { baseUrl: string } } }

const VERSION = {
  name: 'version' as const,
  idOf: (version: CachedVersion) => version.id,
  sizeOf: (version: CachedVersion) => version.sizeBytes + 400,
  revisionOf: (version: CachedVersion) => version.revision,
  recount: (version: CachedVersion, { revision, downloads }: Counted): CachedVersion | undefined => {
    // A later revision was read with its downloads; of an earlier one more has changed than this number.
    if (version.revision !== revision) return version.revision > revision ? version : undefined
    const before = version.headText
    const head = withLargerNumber(before, 'downloads', downloads)
    return head === before ? version : new CachedVersion(version, { head, tail: version.tail })
  },
}

/** Another form of a version as it is cached, kept and dropped with it. */
export function versionForm<D>(
  { cache }: VersionReader,
  version: CachedVersion,
  form: DerivedForm<CachedVersion, D>,
): D {
  return cache.kind(VERSION).derive(version, form)
}

/** A version in the cache that everybody may see, without a promise; undefined means: ask `getVersion`. */
export function peekPublicVersion({ cache }: Pick<VersionReader, 'cache'>, id: string): CachedVersion | undefined {
  const version = cache.kind(VERSION).peek(id)
  return version !== undefined && isPublicVersion(version) ? version : undefined
}

/** The versions with these IDs, hidden ones too, in the order asked for; unknown ones are left out. At most one statement. */
export async function listCachedVersions(reader: VersionReader, ids: readonly string[]): Promise<CachedVersion[]> {
  return (await readVersionsInOrder(reader, ids)).filter((version) => version !== undefined)
}

/** The same in the places of the IDs, of which some may be undefined, as unknown versions are. */
export async function readVersionsInOrder(
  reader: VersionReader,
  ids: readonly (string | undefined)[],
): Promise<(CachedVersion | undefined)[]> {
  const kind = reader.cache.kind(VERSION)
  const missing: string[] = []
  const versions = ids.map((id) => {
    if (id === undefined) return undefined
    const version = kind.peek(id)
    if (version === undefined) missing.push(id)
    return version
  })
  if (missing.length === 0) return versions
  const found = await kind.getMany(missing, async (unknown) =>
    (await listVersionReads(reader.db, unknown)).map((row) => toCachedVersion(row, reader)),
  )
  return versions.map((version, index) => version ?? found.get(ids[index] ?? ''))
}

/** Of these versions, those the viewer may see. One statement at most. */
export async function filterVisibleVersions<Facts extends VersionFacts>(
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
  const [version] = await filterVisibleVersions(reader.db, viewer, await listCachedVersions(reader, [id]))
  if (version === undefined) throw notFound('version')
  return version
}

/** The same with the viewer's membership, for commands that go on to ask what the viewer may do. */
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

/**
 * The listed or archived version of a project that `name` names as ID or as version number.
 * @throws ApiError 404 when there is none.
 */
export async function getVersionByNumber(
  reader: VersionReader,
  viewer: Viewer | null,
  { projectId, name }: { projectId: string; name: string },
): Promise<CachedVersion> {
  const id = await findVersionIdByNumber(reader.db, projectId, name)
  if (id === undefined) throw notFound('version')
  return getVersion(reader, viewer, id)
}

/** The versions as a list shows them: without their changelogs where the request says so. */
export function withChangelogs(
  versions: readonly CachedVersion[],
  included: boolean | undefined,
): readonly JsonEntity[] {
  return included === false ? versions.map(({ brief }) => brief) : versions
}
