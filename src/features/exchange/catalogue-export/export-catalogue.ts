// Writes the public catalogue to a file: a first load for mirrors and other programs, which a static server can send.
import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { signWithInstanceKey } from '#features/basics/instance-key/instance-keys.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listCollections } from '#features/community/collections/queries.ts'
import { toCollectionView } from '#features/community/collections/views.ts'
import { listCachedOrganizations, toOrganizationViews } from '#features/community/organizations/organization-cache.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { parseCursor } from '#features/reading/changes/cursor.ts'
import { listChanges } from '#features/reading/changes/list-changes.ts'
import type { ChangesView } from '#features/reading/changes/views.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Deps } from '#ports/deps.ts'

const PAGE = 500

/** The kinds of objects that the API shows to everybody one by one. Advisories have a separate export. */
const KINDS = ['project', 'version', 'user', 'organization', 'collection'] as const
const COUNTS = {
  project: 'projects',
  version: 'versions',
  user: 'users',
  organization: 'organizations',
  collection: 'collections',
} as const satisfies Record<(typeof KINDS)[number], string>

export type CatalogueReport = Record<(typeof COUNTS)[keyof typeof COUNTS], number> & { bytes: number; cursor: string }

/**
 * Writes one JSON object per line, in the order of the changes: an entry of the change feed and, if it is present, the object.
 * `FILE.sig` has the signature of the SHA-512 of the file with the key of the instance, in base64.
 * @throws OperatorError if one of the files exists.
 */
export async function exportCatalogue(deps: Deps, file: string): Promise<CatalogueReport> {
  const signature = `${file}.sig`
  for (const path of [file, signature])
    if (existsSync(path)) throw new OperatorError(`${path} exists already. Choose another name, or move the file`)
  const counts = { projects: 0, versions: 0, users: 0, organizations: 0, collections: 0 }
  const report: CatalogueReport = { ...counts, bytes: 0, cursor: '' }
  const partial = `${file}.partial`
  const hash = createHash('sha512')
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      report.bytes += chunk.length
      done(null, chunk)
    },
  })
  try {
    await pipeline(() => lines(deps, report), createGzip(), count, createWriteStream(partial, { flags: 'w' }))
    const signed = await signWithInstanceKey(deps, hash.digest())
    await writeFile(signature, `${signed.toString('base64')}\n`)
    await rename(partial, file)
    return report
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function* lines(deps: Deps, report: CatalogueReport): AsyncGenerator<string> {
  let since: string | undefined
  for (let more = true; more; ) {
    const cursor = since === undefined ? undefined : parseCursor(since)
    const page = await listChanges(deps, { since: cursor, kinds: KINDS, limit: PAGE })
    const objects = await readObjects(deps, page)
    for (const change of page.changes) {
      const object = objects.get(`${change.kind} ${change.id}`)
      // A later entry says that the object is no longer public.
      if (change.state === 'present' && object === undefined) continue
      const kind = KINDS.find((known) => known === change.kind)
      if (object !== undefined && kind !== undefined) report[COUNTS[kind]] += 1
      const entry = JSON.stringify(change)
      yield object === undefined ? `${entry}\n` : `${entry.slice(0, -1)},"object":${object}}\n`
    }
    since = page.next
    more = page.more
    report.cursor = page.next
  }
}

/** Returns the JSON of the objects that everybody can see. */
async function readObjects(deps: Deps, { changes }: ChangesView): Promise<Map<string, string>> {
  const idsOf = (kind: string) =>
    changes.flatMap((change) => (change.kind === kind && change.state === 'present' ? [change.id] : []))
  const [projects, versions, users, organizations, collections] = [
    await listVisibleProjects(deps, null, idsOf('project')),
    await listVisibleVersions(deps, null, idsOf('version')),
    await listCachedUsers(deps, idsOf('user')),
    await listCachedOrganizations(deps, idsOf('organization')),
    await listCollections(deps.db, null, idsOf('collection')),
  ]
  const organizationViews = await toOrganizationViews(deps, null, organizations)
  const toCollection = toCollectionView(deps.config)
  return new Map([
    ...projects.map(({ id, bytes }): [string, string] => [`project ${id}`, bytes.toString()]),
    ...versions.map(({ id, bytes }): [string, string] => [`version ${id}`, bytes.toString()]),
    ...users.map(({ id, bytes }): [string, string] => [`user ${id}`, bytes.toString()]),
    ...organizationViews.map(({ bytes }, index): [string, string] => [
      `organization ${organizations[index]?.id}`,
      bytes.toString(),
    ]),
    ...collections.map((row): [string, string] => [`collection ${row.id}`, JSON.stringify(toCollection(row))]),
  ])
}
