// Icons and gallery pictures: stored under the hash of their content, and shown by URL.
import { createHash } from 'node:crypto'
import type { ProcessedImage, StoredImage } from '#platform/images/images.ts'
import type { Deps } from '#ports/deps.ts'

/** A picture under the key it is or will be stored under. */
export type ImageFile = { key: string; image: StoredImage }

export type HostedImage = {
  /** The narrowest scaled copy where it is smaller, else the raw one. */
  url: string
  rawUrl: string
  /** The same for two uploads of one picture, in any folder. */
  contentSha1: string
  color: number | null
  /** Of the raw one, in pixels; null where they are not known. */
  width: number | null
  height: number | null
  /** The widths for which there are scaled copies. */
  copyWidths: number[]
  stored: ImageFile[]
}

/** The address of a scaled copy, which stands beside the raw picture. */
export function copyUrl(rawUrl: string, width: number): string {
  return `${rawUrl.replace(/\.[a-z]+$/, '')}_${width}.webp`
}

/** Every address of a picture in a gallery. */
export function imageUrls(item: { url: string; raw_url: string; copy_widths: readonly number[] }): string[] {
  return [item.url, item.raw_url, ...item.copy_widths.map((width) => copyUrl(item.raw_url, width))]
}

/**
 * Where the pictures of one upload go: below the folder, named by their content, so that a changed picture has a new
 * address and each may be cached for ever.
 */
export function toHostedImage(
  config: Deps['config'],
  { raw, copies, optimized, size, color }: ProcessedImage,
  folder: string,
): HostedImage {
  const hash = createHash('sha1').update(raw.bytes).digest('hex')
  const rawPath = `${folder}/${hash}.${raw.ext}`
  const rawUrl = `${config.files.baseUrl}/data/${rawPath}`
  const [first] = copies
  return {
    url: optimized === undefined || first === undefined ? rawUrl : copyUrl(rawUrl, first.madeFor),
    rawUrl,
    contentSha1: hash,
    color,
    width: size?.width ?? null,
    height: size?.height ?? null,
    copyWidths: copies.map(({ madeFor }) => madeFor),
    stored: [
      { key: `pictures/${rawPath}`, image: raw },
      ...copies.map(({ image, madeFor }) => ({ key: `pictures/${copyUrl(rawPath, madeFor)}`, image })),
    ],
  }
}

/** Stores the pictures; storing the same again is harmless because the name is the content. */
export async function storeImageFiles(files: Deps['files'], pictures: readonly ImageFile[]): Promise<void> {
  for (const { key, image } of pictures) await files.put(key, image.bytes, { contentType: image.contentType })
}

/** The store's key of a picture's URL; undefined for an address of another service. */
export function imageKey(config: Deps['config'], url: string | null): string | undefined {
  const prefix = `${config.files.baseUrl}/data/`
  return url?.startsWith(prefix) === true ? `pictures/${url.slice(prefix.length)}` : undefined
}
