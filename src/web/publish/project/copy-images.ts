// Copies the images of other hosts in a description into the project, so that they stay when their host removes them.
import { buffer } from 'node:stream/consumers'
import { IMAGE_BYTES_MAX, uploadImage } from '#features/basics/content-images/upload-image.ts'
import { forEachConcurrently } from '#lib/concurrency/for-each-concurrently.ts'
import { ApiError } from '#lib/errors.ts'
import { replaceUrls, type SourceFiles } from '#lib/text/urls-in-text.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { fileSize } from '#web/ui/format.ts'

/** Maximum number of images that one press of the button copies. */
const COPIES_MAX = 40
const CONCURRENCY = 4
/** SVGs are badges in most cases, which their host changes. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

/** `source`: place of the relative images of the text. */
type Copied = { projectId: string; text: string; urls: readonly string[]; source: SourceFiles | undefined }
export type CopiedImages = { text: string; copied: number; failed: { url: string; reason: string }[] }

/**
 * Stores images as those of a project, and returns the text with their new URLs.
 * @throws ApiError 503 if the file store is unavailable
 */
export async function copyImages(
  request: OwnRequest,
  { projectId, text, urls, source }: Copied,
): Promise<CopiedImages> {
  const { t } = request
  const copies = new Map<string, string>()
  const failed: CopiedImages['failed'] = []
  await request.deps.files.assertAvailable()
  const copy = async (url: string): Promise<void> => {
    const result = await copyImage(request, projectId, url)
    if ('url' in result) copies.set(url, result.url)
    else failed.push({ url, reason: result.reason })
  }
  await forEachConcurrently(urls.slice(0, COPIES_MAX), copy, CONCURRENCY)
  for (const url of urls.slice(COPIES_MAX)) failed.push({ url, reason: t('manage.copy.more', { count: COPIES_MAX }) })
  return { text: replaceUrls(text, copies, source), copied: copies.size, failed }
}

async function copyImage(
  { deps, externalImages, viewer, page, t }: OwnRequest,
  projectId: string,
  url: string,
): Promise<{ url: string } | { reason: string }> {
  const image = await externalImages.read(url)
  if (image.state === 'waiting') return { reason: t('manage.copy.waiting') }
  if (image.state === 'absent') return { reason: t('manage.copy.absent') }
  const { storage_key, content_type, size_bytes } = image.row
  const ext = EXTENSIONS[content_type]
  if (ext === undefined) return { reason: t('manage.copy.svg') }
  if (size_bytes > IMAGE_BYTES_MAX)
    return { reason: t('manage.copy.large', { size: fileSize(page.language, IMAGE_BYTES_MAX) }) }
  const opened = await deps.files.open(storage_key)
  if (opened === undefined) return { reason: t('manage.copy.waiting') }
  const target = { context: 'project', id: projectId } as const
  try {
    return await uploadImage(deps, viewer, { context: 'project', target, bytes: await buffer(opened.stream), ext })
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return { reason: error.message }
    throw error
  }
}
