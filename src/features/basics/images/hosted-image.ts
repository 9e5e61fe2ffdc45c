// Icons, logos, gallery images and images in texts. Rows contain storage keys; responses contain URLs, which depend on the
// settings.
import { createHash } from 'node:crypto'
import type { ProcessedImage, StoredImage } from '#platform/images/images.ts'
import type { Deps } from '#ports/deps.ts'
import { type ClaimDeps, publishFiles, type Stored, withClaims } from '#ports/files/claims.ts'

/** A file of an image and its storage key. */
export type ImageFile = { key: string; image: StoredImage }

export type HostedImage = {
  /** Key of the narrowest copy if it is smaller than the raw image, otherwise the key of the raw image. */
  key: string
  rawKey: string
  /** Hash of the raw image, to detect uploads of the same image. */
  contentSha1: string
  color: number | null
  /** Perceptual hash of the image; null for plain images. */
  likeness: string | null
  /** Width of the raw image in pixels; null if unknown. */
  width: number | null
  height: number | null
  /** Widths of the scaled copies. */
  copyWidths: number[]
  stored: ImageFile[]
}

/** The settings on which the URLs of files depend. */
export type FilesConfig = { files: { baseUrl: string } }

/** Prefix of the keys of images, which their URLs do not contain. */
export const IMAGE_KEYS = 'pictures/'

/** Returns the URL of an image at the current base URL. A value that is not a key is the URL of another service. */
export function imageUrl<Key extends string | null>(config: FilesConfig, key: Key): Key | string {
  return key?.startsWith(IMAGE_KEYS) === true ? `${config.files.baseUrl}/data/${key.slice(IMAGE_KEYS.length)}` : key
}

/** Returns the key for the URL of an image at any base URL, so that clients can use previous ones. */
export function imageKey(url: string): string {
  return url.replace(/^https?:\/\/.*\/data\//, IMAGE_KEYS)
}

/** Returns the row with URLs instead of the keys of its icon. */
export function withIconUrls<Row extends { icon_url: string | null; raw_icon_url: string | null }>(
  config: FilesConfig,
  row: Row,
): Row {
  return { ...row, icon_url: imageUrl(config, row.icon_url), raw_icon_url: imageUrl(config, row.raw_icon_url) }
}

/** Returns the columns of a row that has this icon, or none. */
export function iconColumns(icon: Pick<HostedImage, 'key' | 'rawKey' | 'color'> | null | undefined) {
  return { icon_url: icon?.key ?? null, raw_icon_url: icon?.rawKey ?? null, color: icon?.color ?? null }
}

/** Returns the key of a scaled copy of an image. */
export function copyKey(rawKey: string, width: number): string {
  return `${rawKey.replace(/\.[a-z]+$/, '')}_${width}.webp`
}

/** Returns all keys of an image. */
export function imageKeys(item: { url: string; raw_url: string; copy_widths: readonly number[] }): string[] {
  return [item.url, item.raw_url, ...item.copy_widths.map((width) => copyKey(item.raw_url, width))]
}

/**
 * Returns the keys and files of a processed upload. The file names contain the hash of the content, so that responses
 * can be cached permanently.
 */
export function toHostedImage(
  { raw, copies, optimized, size, color, likeness }: ProcessedImage,
  folder: string,
): HostedImage {
  const hash = createHash('sha1').update(raw.bytes).digest('hex')
  const rawKey = `${IMAGE_KEYS}${folder}/${hash}.${raw.ext}`
  const [first] = copies
  return {
    key: optimized === undefined || first === undefined ? rawKey : copyKey(rawKey, first.madeFor),
    rawKey,
    contentSha1: hash,
    color,
    likeness,
    width: size?.width ?? null,
    height: size?.height ?? null,
    copyWidths: copies.map(({ madeFor }) => madeFor),
    stored: [
      { key: rawKey, image: raw },
      ...copies.map(({ image, madeFor }) => ({ key: copyKey(rawKey, madeFor), image })),
    ],
  }
}

/** Stores the files of an image. Storing the same files again is harmless, because each name is a hash. */
export async function storeImageFiles(files: Deps['files'], images: readonly ImageFile[]): Promise<void> {
  for (const { key, image } of images) await files.put(key, image.bytes, { contentType: image.contentType })
}

/**
 * Stores images and the files of versions, then runs `commit` with the keys of the images, which it must pass to
 * `dropClaims` in its transaction. Removes all of these files on failure.
 */
export function withStoredImages<T>(
  deps: ClaimDeps,
  { images, files = [] }: { images: readonly ImageFile[]; files?: readonly Stored[] },
  commit: (imageKeys: string[]) => Promise<T>,
): Promise<T> {
  const imageKeys = images.map(({ key }) => key)
  const store = async (): Promise<void> => {
    await storeImageFiles(deps.files, images)
    await publishFiles(deps.files, files)
  }
  const keys = [...imageKeys, ...files.map(({ storageKey }) => storageKey)]
  return withClaims(deps, { keys, store, commit: () => commit(imageKeys) })
}
