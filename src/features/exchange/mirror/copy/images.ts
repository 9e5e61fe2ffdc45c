// The icon and the gallery of a copy: downloaded and encoded again, as for an upload.
import type { Insertable } from 'kysely'
import { type HostedImage, iconColumns, imageKeys, toHostedImage } from '#features/basics/images/hosted-image.ts'
import { ICON_BYTES_MAX, removeImages } from '#features/basics/images/icons.ts'
import { toGalleryRow } from '#features/catalogue/projects/gallery/queries.ts'
import { setLikenessOfIcon } from '#features/catalogue/projects/queries.ts'
import { newId } from '#lib/ids.ts'
import { videoOf } from '#lib/text/video-links.ts'
import type { Tx } from '#platform/db/db.ts'
import type { GalleryItem } from '#platform/db/schema.ts'
import { CopyFailure } from '../failures.ts'
import { downloadImage } from '../source/download.ts'
import type { RemoteGalleryItem, RemoteProject } from '../source/remote-objects.ts'
import type { MirrorRun } from './context.ts'
import { asFailure, dateOf } from './parse-remote.ts'
import { CALLER } from './prepare-versions.ts'

const GALLERY_BYTES_MAX = 5 * 1024 * 1024

/** The images of a copy, by their URLs at the source. */
export type CopiedImages = { icon?: string; gallery?: Record<string, string> }

export type PreparedImages = {
  /** Absent if the icon is unchanged; null if the source has none. */
  icon?: { url: string; image: HostedImage } | null
  /** New images by their URLs. */
  gallery: Map<string, HostedImage>
  /** Failure of an image that another run can copy. */
  failure?: CopyFailure
}

/** An image that cannot be copied is left out with a warning. */
export async function prepareImages(
  run: MirrorRun,
  { remote, projectId, before }: { remote: RemoteProject; projectId: string; before: CopiedImages },
): Promise<PreparedImages> {
  const prepared: PreparedImages = { gallery: new Map() }
  if (run.isDryRun || !run.withFiles) return prepared
  const { images } = run.deps
  const iconUrl = remote.raw_icon_url ?? remote.icon_url ?? undefined
  if (iconUrl === undefined && before.icon !== undefined) prepared.icon = null
  if (iconUrl !== undefined && iconUrl !== before.icon) {
    await orWarn(run, prepared, iconUrl, async () => {
      const bytes = await downloadImage(run.source, iconUrl, ICON_BYTES_MAX)
      const image = toHostedImage(
        await images.processIcon(bytes, extensionOf(iconUrl), { caller: CALLER }),
        `${projectId}-${newId()}`,
      )
      prepared.icon = { url: iconUrl, image }
    })
  }
  for (const item of remote.gallery) {
    const url = urlOf(item)
    if (before.gallery?.[url] !== undefined || prepared.gallery.has(url)) continue
    await orWarn(run, prepared, url, async () => {
      const bytes = await downloadImage(run.source, url, GALLERY_BYTES_MAX)
      const processed = await images.processPicture(bytes, extensionOf(url), { caller: CALLER })
      prepared.gallery.set(url, toHostedImage(processed, `${projectId}-${newId()}/images`))
    })
  }
  return prepared
}

const urlOf = ({ raw_url, url }: RemoteGalleryItem): string => raw_url ?? url
const extensionOf = (url: string): string => /\.([a-z]{2,5})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? 'png'

async function orWarn(
  { warn, report }: MirrorRun,
  prepared: PreparedImages,
  url: string,
  copy: () => Promise<void>,
): Promise<void> {
  try {
    await copy()
  } catch (error) {
    const failure = asFailure(url, error)
    if (!(failure instanceof CopyFailure)) throw failure
    if (failure.code === 'unavailable') prepared.failure = failure
    report.skipped += 1
    warn(`The image ${url} was left out: ${failure.message}`)
  }
}

/** Returns the files of images that were prepared. */
export const imageFiles = ({ icon, gallery }: PreparedImages) => [
  ...(icon?.image.stored ?? []),
  ...[...gallery.values()].flatMap(({ stored }) => stored),
]

/** Writes the icon and the gallery of a locked project, and returns what was copied. */
export async function writeImages(
  tx: Tx,
  {
    remote,
    projectId,
    before,
    prepared,
  }: { remote: RemoteProject; projectId: string; before: CopiedImages; prepared: PreparedImages },
): Promise<CopiedImages> {
  const icon = await writeIcon(tx, projectId, before, prepared)
  const gallery: Record<string, string> = {}
  const used = new Set<string>()
  let hasFeatured = false
  for (const item of remote.gallery) {
    const url = urlOf(item)
    const image = prepared.gallery.get(url)
    const id = before.gallery?.[url]
    if (gallery[url] !== undefined || (image === undefined && id === undefined)) continue
    const featured: boolean = item.featured && !hasFeatured
    hasFeatured ||= featured
    const fields: ItemFields = {
      featured,
      name: item.name ?? item.title ?? null,
      description: item.description ?? null,
      ordering: item.ordering ?? 0,
      video: videoOf(item.video ?? '')?.url ?? null,
      created: dateOf(item.created),
    }
    const written = id === undefined ? await insertItem(tx, projectId, image, fields) : await updateItem(tx, id, fields)
    if (written === undefined) continue
    gallery[url] = written
    used.add(written)
  }
  const gone = Object.values(before.gallery ?? {}).filter((id) => !used.has(id))
  if (gone.length > 0) {
    const rows = await tx.deleteFrom('gallery_item').where('id', 'in', gone).returningAll().execute()
    await removeImages(tx, rows.flatMap(imageKeys))
  }
  return { ...icon, gallery }
}

type ItemFields = Pick<Insertable<GalleryItem>, 'featured' | 'name' | 'description' | 'ordering' | 'created' | 'video'>

/** Returns undefined if the gallery has an image with this content already. */
async function insertItem(
  tx: Tx,
  projectId: string,
  image: HostedImage | undefined,
  fields: ItemFields,
): Promise<string | undefined> {
  if (image === undefined) return undefined
  const row = await tx
    .insertInto('gallery_item')
    .values({ ...toGalleryRow(projectId, image), ...fields })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  const keys = image.stored.map(({ key }) => key)
  if (row === undefined) await removeImages(tx, keys)
  return row?.id
}

async function updateItem(tx: Tx, id: string, fields: ItemFields): Promise<string | undefined> {
  const updated = tx.updateTable('gallery_item').set(fields).where('id', '=', id).returning('id')
  return (await updated.executeTakeFirst())?.id
}

async function writeIcon(
  tx: Tx,
  projectId: string,
  before: CopiedImages,
  { icon }: PreparedImages,
): Promise<Pick<CopiedImages, 'icon'>> {
  if (icon === undefined) return before.icon === undefined ? {} : { icon: before.icon }
  const old = await tx
    .selectFrom('project')
    .select(['icon_url', 'raw_icon_url'])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
  const image = icon?.image
  await tx.updateTable('project').set(iconColumns(image)).where('id', '=', projectId).execute()
  await setLikenessOfIcon(tx, projectId, image?.likeness ?? null)
  await removeImages(tx, [old.icon_url, old.raw_icon_url])
  return icon === null ? {} : { icon: icon.url }
}
