// Adds a picture to a project's gallery.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { type HostedImage, storeImageFiles, toHostedImage } from '#features/basics/images/hosted-image.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { dropClaims, withClaims } from '#ports/files/claims.ts'
import { editGallery, type GalleryDeps } from './edit-gallery.ts'
import { clearFeatured } from './queries.ts'
import type { PictureText } from './requests.ts'

const GALLERY_ITEMS_MAX = 64

export type NewPicture = {
  projectId: string
  membership: Membership
  /** Reads the picture, once the viewer is known to be allowed to add it. */
  readBytes: () => Promise<Buffer>
  ext: string
  text: PictureText
}

/**
 * Adds a picture. A featured one replaces the one that was featured before.
 * @throws ApiError 403, `invalid_input` for an invalid picture, one that the gallery has already, and a full gallery.
 */
export async function addGalleryImage(
  deps: GalleryDeps & Pick<Deps, 'images' | 'files' | 'log'>,
  viewer: Viewer,
  { projectId, membership, readBytes, ext, text }: NewPicture,
): Promise<void> {
  requirePermission(viewer, membership, 'EDIT_DETAILS')
  const processed = await deps.images.processGalleryImage(await readBytes(), ext, { caller: viewer.caller })
  // A folder for each upload: removing one picture never takes away the bytes of another.
  const picture = toHostedImage(deps.config, processed, `${projectId}-${newId()}/images`)
  const keys = picture.stored.map(({ key }) => key)
  await withClaims(deps, {
    keys,
    store: () => storeImageFiles(deps.files, picture.stored),
    commit: () =>
      editGallery(deps, projectId, async (tx) => {
        await insertPicture(tx, deps, { projectId, picture, text })
        await dropClaims(tx, keys)
      }),
  })
}

async function insertPicture(
  tx: Tx,
  { now }: Pick<Deps, 'now'>,
  { projectId, picture, text }: { projectId: string; picture: HostedImage; text: PictureText },
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
      width: picture.width,
      height: picture.height,
      copy_widths: picture.copyWidths,
      created: new Date(now()),
      ...text,
    })
    .execute()
    .catch(onUnique({ gallery_item_content_key: () => invalidInput('The gallery has this picture already', 'image') }))
}
