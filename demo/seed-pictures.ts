import { type HostedImage, toHostedImage } from '#features/basics/images/hosted-image.ts'
import type { Deps } from '#ports/deps.ts'
import type { StoredBytes } from '#ports/files/files.ts'

/**
 * Where a drawn picture goes: below a folder that is only its own. It is small enough to be shown as it is, and a PNG says
 * in its first chunk how large it is.
 */
export function placeDrawn(config: Deps['config'], png: Buffer, folder: string): HostedImage {
  const size = { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
  const raw = { bytes: png, ext: 'png', contentType: 'image/png' }
  return toHostedImage(config, { raw, copies: [], size, color: null }, folder)
}

export function bytesOf({ stored }: HostedImage): StoredBytes[] {
  return stored.map(({ key, image }) => ({ key, bytes: image.bytes, contentType: image.contentType }))
}
