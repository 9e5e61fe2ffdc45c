// Icons, logos and gallery images: their storage keys and URLs.
import { createHash } from 'node:crypto'
import type { ProcessedImage, StoredImage } from '#platform/images/images.ts'
import type { Deps } from '#ports/deps.ts'

/** A file of an image and its storage key. */
export type ImageFile = { key: string; image: StoredImage }

export type HostedImage = {
  /** URL of the narrowest copy if it is smaller than the raw image, otherwise the raw URL. */
  url: string
  rawUrl: string
  /** Hash of the raw image, to detect uploads of the same image. */
  contentSha1: string
  color: number | null
  /** Width of the raw image in pixels; null if unknown. */
  width: number | null
  height: number | null
  /** Widths of the scaled copies. */
  copyWidths: number[]
  stored: ImageFile[]
}

/** Returns the URL of a scaled copy of an image. */
export function copyUrl(rawUrl: string, width: number): string {
  return `${rawUrl.replace(/\.[a-z]+$/, '')}_${width}.webp`
}

/** Returns all URLs of an image. */
export function imageUrls(item: { url: string; raw_url: string; copy_widths: readonly number[] }): string[] {
  return [item.url, item.raw_url, ...item.copy_widths.map((width) => copyUrl(item.raw_url, width))]
}

/**
 * Returns the URLs and files of a processed upload. The file names contain the hash of the content, so that responses
 * can be cached permanently.
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

/** Stores the files of an image. Storing the same files again is harmless, because each name is a hash. */
export async function storeImageFiles(files: Deps['files'], images: readonly ImageFile[]): Promise<void> {
  for (const { key, image } of images) await files.put(key, image.bytes, { contentType: image.contentType })
}

/** Returns the storage key for the URL of an image; undefined for the URL of another service. */
export function imageKey(config: Deps['config'], url: string | null): string | undefined {
  const prefix = `${config.files.baseUrl}/data/`
  return url?.startsWith(prefix) === true ? `pictures/${url.slice(prefix.length)}` : undefined
}
