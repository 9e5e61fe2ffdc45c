// Icons and gallery pictures: stored under the hash of their content, and shown by URL.
import { createHash } from 'node:crypto'
import type { ProcessedImage, StoredImage } from '#images/images.ts'
import type { Deps } from '#main/deps.ts'

/** A picture under the key it is or will be stored under. */
export type StoredPicture = { key: string; image: StoredImage }

export type Picture = {
  /** The scaled picture where it is smaller, else the raw one. */
  url: string
  rawUrl: string
  /** The same for two uploads of one picture, in any folder. */
  contentSha1: string
  color: number | null
  stored: StoredPicture[]
}

/**
 * Where the pictures of one upload go: below the folder, named by their content, so that a changed picture has a new
 * address and each may be cached for ever.
 */
export function placePicture(
  config: Deps['config'],
  { raw, optimized, color }: ProcessedImage,
  folder: string,
  width: number,
): Picture {
  const hash = createHash('sha1').update(raw.bytes).digest('hex')
  const rawPath = `${folder}/${hash}.${raw.ext}`
  const smallPath = `${folder}/${hash}_${width}.webp`
  const address = (path: string): string => `${config.files.baseUrl}/data/${path}`
  return {
    url: address(optimized === undefined ? rawPath : smallPath),
    rawUrl: address(rawPath),
    contentSha1: hash,
    color,
    stored: [
      { key: `pictures/${rawPath}`, image: raw },
      ...(optimized === undefined ? [] : [{ key: `pictures/${smallPath}`, image: optimized }]),
    ],
  }
}

/** Stores the pictures; storing the same again is harmless because the name is the content. */
export async function storePictures(files: Deps['files'], pictures: readonly StoredPicture[]): Promise<void> {
  for (const { key, image } of pictures) await files.put(key, image.bytes, { contentType: image.contentType })
}

/** The store's key of a picture's URL; undefined for an address of another service. */
export function pictureKey(config: Deps['config'], url: string | null): string | undefined {
  const prefix = `${config.files.baseUrl}/data/`
  return url?.startsWith(prefix) === true ? `pictures/${url.slice(prefix.length)}` : undefined
}
