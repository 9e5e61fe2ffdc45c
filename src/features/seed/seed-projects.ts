// Writes projects of the demo catalogue with everything they hold, some at a time: their files first, then their rows.

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { ChangeSet } from '#cache/changes.ts'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { checkFilename } from '#features/versions/files/filename.ts'
import { dropClaims } from '#files/claims.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Deps } from '#main/deps.ts'
import { demoArchive } from './demo-archive.ts'
import type { DemoVersion } from './demo-versions.ts'
import { freeNames } from './free-names.ts'
import { insertRows } from './insert-rows.ts'
import { demoId, demoVersionId } from './seed-ids.ts'
import { listPresent, memberRow, ownerRow } from './seed-people.ts'
import type { SeededProject } from './waiting-projects.ts'

export type SeedDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'fileRules'>

/** What the catalogue's names stand for in the database. */
export type Names = {
  accountOf(username: string): string
  /** With who owns it now, which may be somebody else than in the catalogue. */
  organizationOf(slug: string): { id: string; ownerId: string } | undefined
  projectOf(slug: string): string
  /** Some demo accounts, no two alike. */
  peopleFrom(start: number, count: number): string[]
}

export type Indexed = { project: SeededProject; index: number }

type PreparedVersion = {
  version: DemoVersion
  id: string
  projectId: string
  authorId: string
  file: { id: string; storageKey: string; bytes: Buffer; sha1: string; sha512: string; contentType: string }
}

/** Files put into the store at once. */
const PUTS_AT_ONCE = 16

/** Adds those of the batch that are not there yet; each project is there as a whole or not at all. */
export async function seedProjects(
  deps: SeedDeps,
  batch: readonly Indexed[],
  names: Names,
): Promise<{ added: number; present: number; versions: number }> {
  const ids = batch.map(({ index }) => demoId('project', index))
  const present = await listPresent(deps.db, 'project', ids)
  const missing = batch.filter((_, i) => !present.has(ids[i] ?? ''))
  if (missing.length === 0) return { added: 0, present: present.size, versions: 0 }
  const slugs = await freeNames(
    deps.db,
    'project',
    missing.map(({ project }) => project.slug),
    64,
  )
  const versions = missing.flatMap((indexed) => prepareVersions(deps, indexed, names))
  await claim(deps, versions)
  await putAll(deps, versions)
  await transaction(deps, async (tx, changed) => {
    await insertProjects(tx, missing, { names, slugs })
    await insertVersions(tx, versions, names)
    await insertFollows(tx, missing, names)
    await dropClaims(
      tx,
      versions.map(({ file }) => file.storageKey),
    )
    nameChanged(changed, missing)
  })
  return { added: missing.length, present: present.size, versions: versions.length }
}

function nameChanged(changed: ChangeSet, missing: readonly Indexed[]): void {
  changed.add('project', ...missing.map(({ index }) => demoId('project', index)))
}

function prepareVersions({ fileRules }: SeedDeps, { project, index }: Indexed, names: Names): PreparedVersion[] {
  return project.versions.map((version, i) => {
    const id = demoVersionId('version', index, i)
    const fileId = demoVersionId('file', index, i)
    const bytes = demoArchive(project, version)
    return {
      version,
      id,
      projectId: demoId('project', index),
      authorId: ownerOf(project, names),
      file: {
        id: fileId,
        storageKey: `versions/${id}/${fileId}`,
        bytes,
        sha1: createHash('sha1').update(bytes).digest('hex'),
        sha512: createHash('sha512').update(bytes).digest('hex'),
        contentType: checkFilename(fileRules, 'file', version.fileName).contentType,
      },
    }
  })
}

function organizationOf({ organization }: SeededProject, names: Names): ReturnType<Names['organizationOf']> {
  return organization === null ? undefined : names.organizationOf(organization)
}

function ownerOf(project: SeededProject, names: Names): string {
  return organizationOf(project, names)?.ownerId ?? names.accountOf(project.owner)
}

/** What a run that is cut off leaves in the store is removed later, unless another run takes it up. */
async function claim({ db }: SeedDeps, versions: readonly PreparedVersion[]): Promise<void> {
  const keys = versions.map(({ file }) => file.storageKey)
  await sql`insert into upload_claim (storage_key) select unnest(${keys}::text[])
    on conflict (storage_key) do update set created = now()`.execute(db)
}

async function putAll({ files }: SeedDeps, versions: readonly PreparedVersion[]): Promise<void> {
  const rest = versions.values()
  const put = async (): Promise<void> => {
    for (const { file } of rest) await files.put(file.storageKey, file.bytes, { contentType: file.contentType })
  }
  await Promise.all(Array.from({ length: PUTS_AT_ONCE }, put))
}

async function insertProjects(
  tx: Tx,
  missing: readonly Indexed[],
  { names, slugs }: { names: Names; slugs: ReadonlyMap<string, string> },
): Promise<void> {
  await insertRows(
    tx,
    'team',
    missing.map(({ index }) => ({ id: demoId('projectTeam', index) })),
  )
  await insertRows(
    tx,
    'team_member',
    missing.flatMap(({ project, index }) => teamRows(project, demoId('projectTeam', index), names)),
  )
  await insertRows(
    tx,
    'project',
    missing.map(({ project, index }) => projectRow(project, index, { names, slugs })),
  )
  await insertRows(
    tx,
    'thread',
    missing.map(({ index }) => ({
      id: demoId('thread', index),
      type: 'project',
      project_id: demoId('project', index),
    })),
  )
}

/** An organization's project has no owner of its own. */
function teamRows(project: SeededProject, teamId: string, names: Names) {
  const owner = ownerOf(project, names)
  const others = project.members
    .map(({ username, role }) => memberRow(teamId, names.accountOf(username), role))
    .filter(({ account_id }) => account_id !== owner)
  return organizationOf(project, names) === undefined ? [ownerRow(teamId, owner), ...others] : others
}

function projectRow(
  project: SeededProject,
  index: number,
  { names, slugs }: { names: Names; slugs: ReadonlyMap<string, string> },
) {
  const { status, published, slug } = project
  const isReviewed = status !== 'draft' && status !== 'processing'
  return {
    id: demoId('project', index),
    slug: slugs.get(slug) ?? slug,
    name: project.name,
    summary: project.summary,
    description: project.description,
    status,
    requested_status: 'approved' as const,
    license: project.licenseId,
    license_url: project.licenseUrl,
    categories: project.categories,
    additional_categories: project.additionalCategories,
    link_urls: JSON.stringify(project.links),
    downloads: project.downloads,
    followers: countFollowers(project, names),
    published,
    updated: project.versions.at(-1)?.published ?? published,
    approved: isReviewed ? new Date(published.getTime() + (index % 24) * (DAY_MS / 24)) : null,
    queued: status === 'draft' ? null : published,
    team_id: demoId('projectTeam', index),
    organization_id: organizationOf(project, names)?.id ?? null,
    color: project.color,
  }
}

async function insertVersions(tx: Tx, versions: readonly PreparedVersion[], names: Names): Promise<void> {
  await insertRows(
    tx,
    'version',
    versions.map(({ id, projectId, authorId, version }) => ({
      id,
      project_id: projectId,
      author_id: authorId,
      name: version.name,
      version_number: version.number,
      changelog: version.changelog,
      version_type: version.channel,
      status: 'listed',
      featured: version.featured,
      downloads: version.downloads,
      date_published: version.published,
      loaders: version.loaders,
      fields: JSON.stringify(version.fields),
    })),
  )
  await insertRows(
    tx,
    'file_content',
    versions.map(({ projectId, file }) => ({ sha512: file.sha512, project_id: projectId })),
  )
  await insertRows(
    tx,
    'file',
    versions.map(({ id, version, file }) => ({
      id: file.id,
      version_id: id,
      filename: version.fileName,
      size_bytes: file.bytes.length,
      sha1: file.sha1,
      sha512: file.sha512,
      is_primary: true,
      content_type: file.contentType,
      storage_key: file.storageKey,
      created: version.published,
    })),
  )
  await insertRows(
    tx,
    'dependency',
    versions.flatMap(({ id, version }) =>
      version.dependencies.map(({ slug, kind }) => ({
        dependent_id: id,
        project_id: names.projectOf(slug),
        dependency_type: kind,
      })),
    ),
  )
}

/** As many as there are demo people for, and enough that popular projects have more of them. */
function countFollowers({ follows }: SeededProject, names: Names): number {
  const wanted = Math.min(follows, Math.round(12 * Math.log2(1 + follows)))
  return names.peopleFrom(0, wanted).length
}

async function insertFollows(tx: Tx, missing: readonly Indexed[], names: Names): Promise<void> {
  const follows = missing.flatMap(({ project, index }) =>
    names.peopleFrom(index * 31, countFollowers(project, names)).map((accountId) => ({
      account_id: accountId,
      project_id: demoId('project', index),
      created: project.published,
    })),
  )
  await insertRows(tx, 'follow', follows)
}
