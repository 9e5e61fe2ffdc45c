// The pictures of a project's gallery: added, described, put in order, removed (facts/catalogue.md 1.12).
import type { Updateable } from 'kysely'
import { transaction } from '#cache/transaction.ts'
import type { Tx } from '#db/db.ts'
import { onUnique } from '#db/pg-errors.ts'
import type { GalleryItem } from '#db/schema.ts'
import { removePictures } from '#features/pictures/icons.ts'
import { type Picture, placePicture, storePictures } from '#features/pictures/pictures.ts'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Deps } from '#main/deps.ts'
import { lockProject } from '../queries.ts'

/** Bytes of one picture. */
export const GALLERY_BYTES_MAX = 5 * 1024 * 1024
const GALLERY_ITEMS_MAX = 64
const GALLERY_WIDTH = 350

/** What is said of a picture; an absent key keeps it as it is. */
export type PictureText = { name?: string; description?: string; featured?: boolean; ordering?: number }

type GalleryDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/**
 * Adds a picture. A featured one takes the place of the one that was featured before.
 * @throws ApiError `invalid_input` for a faulty picture, one that the gallery has already, and a full gallery.
 */
export async function addPicture(
  deps: GalleryDeps & Pick<Deps, 'images' | 'files'>,
  { projectId, bytes, ext, text }: { projectId: string; bytes: Buffer; ext: string; text: PictureText },
): Promise<void> {
  const processed = await deps.images.processGalleryImage(bytes, ext)
  // A folder for each upload: removing one picture never takes away the bytes of another.
  const picture = placePicture(deps.config, processed, `${projectId}-${newId()}/images`, GALLERY_WIDTH)
  try {
    await storePictures(deps.files, picture.stored)
    await editGallery(deps, projectId, (tx) => insertPicture(tx, deps, { projectId, picture, text }))
  } catch (error) {
    // After a lost connection the commit may have taken place: a picture too many does less harm than one too few.
    if (error instanceof ApiError) await Promise.allSettled(picture.stored.map(({ key }) => deps.files.remove(key)))
    throw error
  }
}

/** @throws ApiError 404 when the project's gallery has no picture at this address. */
export async function updatePicture(
  deps: GalleryDeps,
  { projectId, url, text }: { projectId: string; url: string; text: PictureText },
): Promise<void> {
  await editGallery(deps, projectId, async (tx) => {
    const { id } = await getPicture(tx, projectId, url)
    if (text.featured === true) await clearFeatured(tx, projectId)
    const update: Updateable<GalleryItem> = text
    if (Object.keys(update).length === 0) return
    await tx.updateTable('gallery_item').set(update).where('id', '=', id).execute()
  })
}

/** @throws ApiError 404 when the project's gallery has no picture at this address. */
export async function removePicture(
  deps: GalleryDeps,
  { projectId, url }: { projectId: string; url: string },
): Promise<void> {
  await editGallery(deps, projectId, async (tx) => {
    const item = await getPicture(tx, projectId, url)
    await tx.deleteFrom('gallery_item').where('id', '=', item.id).execute()
    await removePictures(tx, deps.config, [item.url, item.raw_url])
  })
}

/** One edit of a gallery at a time: the project's row is locked, and it is the project that changes. */
async function editGallery(deps: GalleryDeps, projectId: string, edit: (tx: Tx) => Promise<void>): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    if ((await lockProject(tx, projectId)) === undefined) throw notFound('project')
    await edit(tx)
    await tx
      .updateTable('project')
      .set({ updated: new Date(deps.now()) })
      .where('id', '=', projectId)
      .execute()
    changed.add('project', projectId)
  })
}

async function insertPicture(
  tx: Tx,
  { now }: Pick<Deps, 'now'>,
  { projectId, picture, text }: { projectId: string; picture: Picture; text: PictureText },
): Promise<void> {
  const { count } = await tx
    .selectFrom('gallery_item')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  if (count >= GALLERY_ITEMS_MAX) throw invalidInput(`A gallery holds at most ${GALLERY_ITEMS_MAX} pictures`)
  if (text.featured === true) await clearFeatured(tx, projectId)
  await tx
    .insertInto('gallery_item')
    .values({
      id: newId(),
      project_id: projectId,
      url: picture.url,
      raw_url: picture.rawUrl,
      content_sha1: picture.contentSha1,
      created: new Date(now()),
      ...text,
    })
    .execute()
    .catch(onUnique({ gallery_item_content_key: () => invalidInput('The gallery has this picture already', 'image') }))
}

async function clearFeatured(tx: Tx, projectId: string): Promise<void> {
  await tx
    .updateTable('gallery_item')
    .set({ featured: false })
    .where('project_id', '=', projectId)
    .where('featured', '=', true)
    .execute()
}

/** By the address that answers show as `url`; of this project only. */
async function getPicture(tx: Tx, projectId: string, url: string) {
  const item = await tx
    .selectFrom('gallery_item')
    .select(['id', 'url', 'raw_url'])
    .where('project_id', '=', projectId)
    .where('url', '=', url)
    .executeTakeFirst()
  if (item === undefined) throw notFound('picture')
  return item
}
