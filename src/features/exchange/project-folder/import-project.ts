// Creates a project from a folder that `exportProject` or another program has written: everything, or nothing.
import { sql } from 'kysely'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordStatusEvents } from '#features/basics/events/record-event.ts'
import { iconColumns, withStoredImages } from '#features/basics/images/hosted-image.ts'
import { insertGalleryItems } from '#features/catalogue/projects/gallery/queries.ts'
import { toGalleryImageFields } from '#features/catalogue/projects/gallery/requests.ts'
import { assertProjectSlugFree, type ProjectRow, setLikenessOfIcon } from '#features/catalogue/projects/queries.ts'
import { insertProjectRow } from '#features/catalogue/publishing/insert-project.ts'
import { type PreparedProject, prepareProject } from '#features/catalogue/publishing/prepare-project.ts'
import { insertDependencies, type ResolvedDependency } from '#features/catalogue/versions/publish/dependencies.ts'
import { type UploadedPart, withParts } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims } from '#ports/files/claims.ts'
import { findOwner, type ImportOwner } from '../import/checks.ts'
import { distinctDependencies, insertImportedVersion } from '../import/write-version.ts'
import { RESTORED_STATUSES } from './layout.ts'
import { type ProjectFolder, readFolder, refusing, stageFolder } from './read-folder.ts'

export type ImportReport = {
  id: string
  slug: string
  versions: number
  files: number
  images: number
  skipped: number
}

type Plan = {
  deps: Deps
  read: ProjectFolder
  prepared: PreparedProject
  owner: ImportOwner
  report: ImportReport
  warn: (message: string) => void
}

/** @throws OperatorError naming the file and the field; then nothing is created. */
export async function importProject(
  deps: Deps,
  { folder, owner: name, warn }: { folder: string; owner: string; warn: (message: string) => void },
): Promise<ImportReport> {
  const owner = await findOwner(deps, name)
  const read = await readFolder(deps, folder)
  await refusing('project.json', () => assertProjectSlugFree(deps.db, read.project.columns.slug))
  const parts: UploadedPart[] = []
  return withParts(deps, parts, async () => {
    await stageFolder(deps, { folder, read, parts })
    return createImported(deps, { place: folder, read, parts, owner, warn })
  })
}

type ToCreate = Pick<Plan, 'read' | 'owner' | 'warn'> & {
  /** Name of the folder or the file, for errors. */
  place: string
  /** The staged files, which the caller discards. */
  parts: readonly UploadedPart[]
}

/** Creates a project from its description and its staged files. @throws OperatorError; then nothing is created. */
export async function createImported(deps: Deps, { place, read, parts, owner, warn }: ToCreate): Promise<ImportReport> {
  const { slug } = read.project.columns
  const prepared = await refusing(place, () => prepareProject(deps, { caller: 'import' }, read.project, parts))
  const { files } = prepared
  const report: ImportReport = {
    id: prepared.projectId,
    slug,
    versions: prepared.versions.length,
    files: files.length,
    images: read.files.length - files.length,
    skipped: 0,
  }
  const plan: Plan = { deps, read, prepared, owner, report, warn }
  await refusing(place, () =>
    withStoredImages(deps, prepared, (imageKeys) =>
      transaction(deps, async (tx, changed) => {
        await assertProjectSlugFree(tx, slug)
        await insertRows(tx, changed, plan)
        await dropClaims(tx, imageKeys)
      }),
    ),
  )
  return report
}

async function insertRows(tx: Tx, changed: ChangeSet, plan: Plan): Promise<void> {
  const { read, prepared, owner } = plan
  const { projectId, icon } = prepared
  const { extras, project } = read
  const status = RESTORED_STATUSES.find((known) => known === extras.status) ?? 'draft'
  const updated = new Date(extras.updated)
  await insertProjectRow(tx, COMMAND, {
    id: projectId,
    ...project.columns,
    status,
    published: new Date(extras.published),
    updated,
    approved: extras.approved == null ? null : new Date(extras.approved),
    organization_id: owner.organizationId,
    ...iconColumns(icon),
  })
  if (icon?.likeness != null) await setLikenessOfIcon(tx, projectId, icon.likeness)
  if (status !== 'draft') await recordStatusEvents(tx, { id: projectId, from: 'draft', to: status })
  const images = prepared.gallery.map((image, index) => ({
    image,
    fields: toGalleryImageFields(project.gallery[index] ?? {}),
    created: new Date(extras.gallery_items[index]?.created ?? extras.published),
  }))
  await insertGalleryItems(tx, projectId, images)
  for (const index of project.versions.keys()) await insertVersion(tx, changed, plan, { index, status })
  await insertReferences(tx, plan)
  // The statements above have set the time of the import.
  await tx.updateTable('project').set({ updated }).where('id', '=', projectId).execute()
  changed.add('project', projectId)
}

async function insertVersion(
  tx: Tx,
  changed: ChangeSet,
  { deps, read, prepared, owner }: Plan,
  { index, status }: { index: number; status: ProjectRow['status'] },
): Promise<void> {
  const [version, extras, files] = [read.project.versions[index], read.versionExtras[index], prepared.versions[index]]
  if (version === undefined || extras === undefined || files === undefined) return
  const { withdrawn = null, date_published } = extras
  await insertImportedVersion(tx, deps, {
    ...{ id: files.id, version, published: new Date(date_published), withdrawn },
    ...{ project: { id: prepared.projectId, status }, authorId: owner.accountId, files: files.files },
  })
  changed.add('version', files.id)
}

/** Writes dependencies and replacements when all versions have their new IDs. Those that do not exist here are left out. */
async function insertReferences(tx: Tx, { read, prepared, report, warn }: Plan): Promise<void> {
  const { projectId } = prepared
  const versions = new Map<string, string>()
  for (const [index, { id }] of read.versionExtras.entries())
    if (id !== undefined) versions.set(id, prepared.versions[index]?.id ?? '')
  const dependencies = read.project.versions.flatMap((version) => version.dependencies)
  const known = await projectsHere(tx, dependencies)
  for (const [index, { dependencies: own, columns }] of read.project.versions.entries()) {
    const id = prepared.versions[index]?.id ?? ''
    const resolved: ResolvedDependency[] = []
    for (const { project_id, version_id, file_name, dependency_type, declared_id } of own) {
      const version = versions.get(version_id ?? '') ?? version_id ?? null
      const isOwn = version_id != null && versions.has(version_id)
      const wanted = project_id === read.extras.id ? projectId : (project_id ?? null)
      const project = isOwn ? projectId : version === null ? wanted : (known.versions.get(version) ?? null)
      const exists = project === projectId || (project !== null && known.projects.has(project))
      const namesObject = version_id != null || project_id != null
      if (namesObject && !exists) {
        report.skipped += 1
        warn(
          `Version ${columns.version_number}: the dependency on ${version_id ?? project_id} was left out, because it does not exist here`,
        )
        continue
      }
      resolved.push({
        project_id: project,
        version_id: version,
        file_name: file_name ?? null,
        dependency_type,
        declared_id: declared_id?.toLowerCase() ?? null,
      })
    }
    await insertDependencies(tx, id, distinctDependencies(resolved))
    const replacement = versions.get(read.versionExtras[index]?.withdrawn?.replacement ?? '')
    if (replacement !== undefined && replacement !== id)
      await tx.updateTable('version').set({ withdrawn_replacement: replacement }).where('id', '=', id).execute()
  }
}

type Named = { project_id?: string | null | undefined; version_id?: string | null | undefined }

async function projectsHere(
  tx: Tx,
  dependencies: readonly Named[],
): Promise<{ projects: Set<string>; versions: Map<string, string> }> {
  const idsOf = (field: keyof Named) => [...new Set(dependencies.flatMap((one) => one[field] ?? []))]
  const projects = await sql<{
    id: string
  }>`select id from project where id = any(${idsOf('project_id')}::text[])`.execute(tx)
  const versions = await sql<{ id: string; project_id: string }>`select id, project_id from version
    where id = any(${idsOf('version_id')}::text[])`.execute(tx)
  return {
    projects: new Set([...projects.rows.map(({ id }) => id), ...versions.rows.map(({ project_id }) => project_id)]),
    versions: new Map(versions.rows.map(({ id, project_id }) => [id, project_id])),
  }
}
