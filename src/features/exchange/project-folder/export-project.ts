// Writes one project with its published versions, files and images to a folder, which `importProject` reads.
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PUBLIC_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import { isNotBlocked } from '#features/catalogue/contents/blocked-contents.ts'
import { listProjectReadsByNames, type ProjectReadRow } from '#features/catalogue/projects/queries.ts'
import { listVersionReads, type VersionReadRow } from '#features/catalogue/versions/queries.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Deps } from '#ports/deps.ts'
import { FILES_FOLDER, PROJECT_FILE, VERSION_FILE, VERSIONS_FOLDER } from './layout.ts'

/** Number of versions in memory. */
const PAGE = 200

export type ExportReport = { versions: number; files: number; images: number }

export type Entry = { path: string } & ({ json: unknown } | { storageKey: string; kind: 'file' | 'image' })

/**
 * Writes a new folder. It has its name only when it is complete.
 * @throws OperatorError if the folder exists or there is no such project.
 */
export async function exportProject(
  deps: Pick<Deps, 'db' | 'files'>,
  { name, folder }: { name: string; folder: string },
): Promise<ExportReport> {
  if (existsSync(folder)) throw new OperatorError(`${folder} exists already. Choose another name, or move the folder.`)
  const [row] = await listProjectReadsByNames(deps.db, [name, name.toLowerCase()], [])
  if (row === undefined) throw new OperatorError(`There is no project ${name}. Check the ID or slug.`)
  const report: ExportReport = { versions: 0, files: 0, images: 0 }
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  try {
    await mkdir(partial)
    for await (const entry of entriesOf(deps, row, report)) {
      const path = join(partial, entry.path)
      await mkdir(dirname(path), { recursive: true })
      if ('json' in entry) {
        await writeFile(path, `${JSON.stringify(entry.json, null, 2)}\n`)
        continue
      }
      const opened = await deps.files.open(entry.storageKey)
      if (opened === undefined)
        throw new OperatorError(
          `The file store lacks ${entry.path}. Run depot doctor --full, which lists missing files.`,
        )
      await pipeline(opened.stream, createWriteStream(path, { flags: 'wx' }))
      report[entry.kind === 'file' ? 'files' : 'images'] += 1
    }
    await rename(partial, folder)
    return report
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** Yields the descriptions, files and images of a project. Reads the versions in pages. */
export async function* entriesOf(
  { db }: Pick<Deps, 'db'>,
  row: ProjectReadRow,
  report: ExportReport,
): AsyncGenerator<Entry> {
  const rows = await db
    .selectFrom('version')
    .select('id')
    .where('project_id', '=', row.id)
    .where('status', 'in', PUBLIC_VERSION_STATUSES)
    .orderBy('date_published')
    .orderBy('id')
    .execute()
  const images: Entry[] = []
  const imageAt = (path: string, key: string): string => {
    images.push({ path: `${path}${extname(key)}`, storageKey: key, kind: 'image' })
    return `${path}${extname(key)}`
  }
  const iconKey = row.raw_icon_url ?? row.icon_url
  const icon = iconKey === null ? null : imageAt('icon', iconKey)
  const gallery = row.gallery.map(({ raw_url }, index) => imageAt(`gallery/${numbered(index)}`, raw_url))
  yield { path: PROJECT_FILE, json: describeProject(row, { icon, gallery, hasVersions: rows.length > 0 }) }
  yield* images
  for (let at = 0; at < rows.length; at += PAGE) {
    const ids = rows.slice(at, at + PAGE).map(({ id }) => id)
    const read = new Map((await listVersionReads(db, ids)).map((version) => [version.id, version]))
    const keys = await db
      .selectFrom('file')
      .select(['id', 'storage_key'])
      .where('version_id', 'in', ids)
      .where(isNotBlocked())
      .execute()
    const keyOf = new Map(keys.map(({ id, storage_key }) => [id, storage_key]))
    for (const [index, id] of ids.entries()) {
      const version = read.get(id)
      if (version === undefined) continue
      report.versions += 1
      const folder = `${VERSIONS_FOLDER}/${numbered(at + index)}`
      yield { path: `${folder}/${VERSION_FILE}`, json: describeVersion(version) }
      for (const file of version.files) {
        const storageKey = keyOf.get(file.id)
        if (storageKey !== undefined)
          yield { path: `${folder}/${FILES_FOLDER}/${file.filename}`, storageKey, kind: 'file' }
      }
    }
  }
}

const numbered = (index: number): string => String(index + 1).padStart(5, '0')

function describeProject(
  row: ProjectReadRow,
  { icon, gallery, hasVersions }: { icon: string | null; gallery: readonly string[]; hasVersions: boolean },
) {
  const { id, slug, name, summary, description, categories, additional_categories, license, license_url } = row
  const { link_urls, other_names, public_statistics, version_order, license_decided, requested_status, status } = row
  return {
    id,
    ...{ slug, name, summary, description, categories, additional_categories, license_id: license, license_url },
    ...{ link_urls, public_statistics, license_decided, requested_status, status },
    // Without newer fields that are not set, older releases can read the folder.
    ...(other_names.length === 0 ? {} : { other_names }),
    ...(version_order === 'date' ? {} : { version_order }),
    ...(hasVersions ? {} : { project_type: row.draft_type }),
    published: row.published.toISOString(),
    updated: row.updated.toISOString(),
    approved: row.approved?.toISOString() ?? null,
    icon,
    gallery_items: row.gallery.map((item, index) => ({
      item: gallery[index],
      featured: item.featured,
      name: item.name,
      description: item.description,
      ordering: item.ordering,
      ...(item.video === null ? {} : { video: item.video }),
      created: new Date(item.created).toISOString(),
    })),
  }
}

function describeVersion(row: VersionReadRow) {
  const { withdrawn_kind: kind, withdrawn_reason: reason, withdrawn_at: at } = row
  const isWithdrawn = kind !== null && reason !== null
  return {
    ...(row.fields as Record<string, unknown>),
    id: row.id,
    version_number: row.version_number,
    version_title: row.name,
    version_body: row.changelog,
    release_channel: row.version_type,
    loaders: row.loaders,
    featured: row.featured,
    ordering: row.ordering,
    status: row.status,
    date_published: row.date_published.toISOString(),
    ...(isWithdrawn
      ? {
          withdrawn: {
            kind,
            reason,
            at: (at ?? row.date_published).toISOString(),
            replacement: row.withdrawn_replacement,
          },
        }
      : {}),
    dependencies: row.dependencies,
    file_parts: row.files.map(({ filename }) => filename),
    primary_file: row.files.find(({ is_primary }) => is_primary)?.filename ?? null,
    file_types: Object.fromEntries(
      row.files.flatMap(({ filename, file_type }) => (file_type === null ? [] : [[filename, file_type]])),
    ),
  }
}
