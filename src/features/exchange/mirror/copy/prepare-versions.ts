// Prepares versions of a source for the transaction that writes them: checks them and downloads their files.

import { sql } from 'kysely'
import { listBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import { PUBLISHED } from '#features/catalogue/contents/content-owners.ts'
import {
  type PreparedFile,
  prepareFiles,
  type UploadedPart,
} from '#features/catalogue/versions/publish/prepare-files.ts'
import type { NewVersion } from '#features/catalogue/versions/publish/requests.ts'
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { newId } from '#lib/ids.ts'
import type { StagedFile } from '#ports/files/files.ts'
import { CopyFailure } from '../failures.ts'
import { listFreeIds, type OriginRow } from '../queries.ts'
import { downloadFile } from '../source/download.ts'
import type { RemoteFile, RemoteVersion } from '../source/remote-objects.ts'
import type { MirrorRun } from './context.ts'
import { asFailure, parseRemoteVersion } from './parse-remote.ts'

const DOWNLOADS_AT_ONCE = 4
/** Key of the mirror for the fair scheduling of archive inspections. */
export const CALLER = 'mirror'

export type PreparedVersion = {
  remote: RemoteVersion
  parsed: NewVersion & { published: Date }
  id: string
  origin: OriginRow | undefined
  /** The files that the version lacks here. */
  files: PreparedFile[]
  lacksFiles: boolean
}

export type Preparation = {
  prepared: PreparedVersion[]
  failures: Map<string, CopyFailure>
  /** Files on the local disk, which the caller discards. */
  staged: StagedFile[]
}

/** A version that cannot be copied is a failure and not an error. @throws SourceUnusable; nothing then remains staged. */
export async function prepareVersions(
  run: MirrorRun,
  {
    versions,
    origins,
    projectId,
  }: { versions: readonly RemoteVersion[]; origins: Map<string, OriginRow>; projectId: string },
): Promise<Preparation> {
  const preparation: Preparation = { prepared: [], failures: new Map(), staged: [] }
  const places = await placesOf(run, { versions, origins, projectId })
  try {
    await forEachConcurrently(
      versions,
      async (remote) => {
        try {
          preparation.prepared.push(await prepareVersion(run, remote, places, preparation.staged))
        } catch (error) {
          const failure = asFailure(remote.id, error)
          if (!(failure instanceof CopyFailure)) throw failure
          preparation.failures.set(remote.id, failure)
        }
      },
      DOWNLOADS_AT_ONCE,
    )
  } catch (error) {
    await Promise.allSettled(preparation.staged.map((file) => run.deps.files.discard(file)))
    throw error
  }
  const order = new Map(versions.map(({ id }, index) => [id, index]))
  preparation.prepared.sort((a, b) => (order.get(a.remote.id) ?? 0) - (order.get(b.remote.id) ?? 0))
  return preparation
}

type Places = {
  origins: Map<string, OriginRow>
  freeIds: Set<string>
  /** Hashes of the files of each version here, and the files that another project was public with first. */
  present: Map<string, Set<string>>
  elsewhere: Set<string>
  blocked: Set<string>
}

async function placesOf(
  { deps: { db } }: MirrorRun,
  {
    versions,
    origins,
    projectId,
  }: { versions: readonly RemoteVersion[]; origins: Map<string, OriginRow>; projectId: string },
): Promise<Places> {
  const hashes = versions.flatMap(({ files }) => files.map(({ hashes: { sha512 } }) => sha512))
  const remoteIds = versions.map(({ id }) => id)
  const ids = [...origins.values()].flatMap(({ version_id }) => version_id ?? [])
  const [freeIds, owners, blocked, files] = await Promise.all([
    listFreeIds(db, 'version', remoteIds),
    sql<{ sha512: string }>`select sha512 from file_content where sha512 = any(${hashes}::text[])
      and project_id <> ${projectId} and stage = ${PUBLISHED}`.execute(db),
    listBlocked(db, hashes),
    sql<{ version_id: string; hashes: string[] }>`select version_id, array_agg(sha512) as hashes from file
      where version_id = any(${ids}::text[]) group by version_id`.execute(db),
  ])
  return {
    origins,
    freeIds,
    blocked,
    elsewhere: new Set(owners.rows.map(({ sha512 }) => sha512)),
    present: new Map(files.rows.map((row) => [row.version_id, new Set(row.hashes)])),
  }
}

async function prepareVersion(
  run: MirrorRun,
  remote: RemoteVersion,
  { origins, freeIds, present, elsewhere, blocked }: Places,
  staged: StagedFile[],
): Promise<PreparedVersion> {
  const { deps, withFiles } = run
  const parsed = parseRemoteVersion(remote, deps.taxonomy)
  const origin = origins.get(remote.id)
  const id = origin?.version_id ?? (freeIds.has(remote.id) ? remote.id : newId())
  const taken = remote.files.find(({ hashes }) => elsewhere.has(hashes.sha512))
  if (taken !== undefined) throw new CopyFailure('refused', `another project here contains ${taken.filename}`)
  const refused = remote.files.find(({ hashes }) => blocked.has(hashes.sha512))
  if (refused !== undefined) throw new CopyFailure('refused', `the moderators blocked ${refused.filename}`)
  const missing = remote.files.filter(({ hashes }) => present.get(id)?.has(hashes.sha512) !== true)
  if (withFiles) takeBudget(run, missing)
  const files = withFiles && !run.isDryRun ? await fetchFiles(run, { remote, parsed, id, missing }, staged) : []
  return { remote, parsed, id, origin, files, lacksFiles: !withFiles && missing.length > 0 }
}

function takeBudget({ budget }: MirrorRun, files: readonly RemoteFile[]): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (bytes > budget.bytes) throw new CopyFailure('max_bytes', 'its files have more bytes than --max-bytes allows')
  budget.bytes -= bytes
}

async function fetchFiles(
  { deps, source }: MirrorRun,
  of: { remote: RemoteVersion; parsed: NewVersion; id: string; missing: readonly RemoteFile[] },
  staged: StagedFile[],
): Promise<PreparedFile[]> {
  const { remote, parsed, id, missing } = of
  const parts: UploadedPart[] = []
  for (const { url, size, hashes, filename } of missing) {
    const file = await downloadFile(deps.files, source, { url, size, sha512: hashes.sha512 })
    staged.push(file)
    parts.push({ name: filename, filename, staged: file })
  }
  const fileTypes = new Map([...parsed.fileTypes].filter(([name]) => parts.some((part) => part.name === name)))
  const files = await prepareFiles(deps, { version: { ...parsed, fileTypes }, versionId: id, parts, caller: CALLER })
  const primary = new Set(remote.files.flatMap(({ primary: is, hashes }) => (is ? [hashes.sha512] : [])))
  return files.map((file) => ({ ...file, isPrimary: primary.has(file.staged.sha512) }))
}
