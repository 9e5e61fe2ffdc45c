import { type Picture, placePicture } from '#features/pictures/pictures.ts'
import type { StoredBytes } from '#files/files.ts'
import type { Deps } from '#main/deps.ts'

/** Where a drawn picture goes: below a folder that is only its own. It is small enough to be shown as it is. */
export function placeDrawn(config: Deps['config'], png: Buffer, folder: string): Picture {
  const raw = { bytes: png, ext: 'png', contentType: 'image/png' }
  return placePicture(config, { raw, copies: [], color: null }, folder)
}

export function bytesOf({ stored }: Picture): StoredBytes[] {
  return stored.map(({ key, image }) => ({ key, bytes: image.bytes, contentType: image.contentType }))
}
