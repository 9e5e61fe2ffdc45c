import { type Picture, placePicture } from '#features/pictures/pictures.ts'
import type { StoredBytes } from '#files/files.ts'
import type { Deps } from '#main/deps.ts'

/** Where a drawn picture goes: below a folder that is only its own. It is small enough to be shown as it is. */
export function placeDrawn(config: Deps['config'], png: Buffer, folder: string): Picture {
  const raw = { bytes: png, ext: 'png', contentType: 'image/png' }
  // Without a scaled picture there is no width that names one.
  return placePicture(config, { raw, color: null }, folder, 0)
}

export function bytesOf({ stored }: Picture): StoredBytes[] {
  return stored.map(({ key, image }) => ({ key, bytes: image.bytes, contentType: image.contentType }))
}
