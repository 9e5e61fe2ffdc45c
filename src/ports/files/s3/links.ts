// Signed URLs of the store, so that downloads do not pass through Depot.
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { LinkOptions } from '../files.ts'

const VALID_SECONDS = 900
/** Signing takes a millisecond, so a URL is reused while most of its validity is left. */
const REUSED_MS = 300_000
const CACHED_MAX = 10_000

type ObjectName = { Bucket: string; Key: string }

/** Returns a function that signs URLs, which are valid for 10 to 15 minutes. */
export function createLinks(client: S3Client): (object: ObjectName, options: LinkOptions) => Promise<string> {
  const cache = new Map<string, { url: Promise<string>; signedMs: number }>()
  return (object, { contentType, contentDisposition }) => {
    const id = `${object.Key}\n${contentType}\n${contentDisposition}`
    const nowMs = Date.now()
    const cached = cache.get(id)
    const ageMs = nowMs - (cached?.signedMs ?? Number.NEGATIVE_INFINITY)
    if (cached !== undefined && ageMs >= 0 && ageMs < REUSED_MS) return cached.url
    const command = new GetObjectCommand({
      ...object,
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
    })
    const url = getSignedUrl(client, command, { expiresIn: VALID_SECONDS })
    // Keeps the order of signing, so that the first entry is the oldest.
    cache.delete(id)
    cache.set(id, { url, signedMs: nowMs })
    url.catch(() => cache.delete(id))
    const [oldest] = cache.keys()
    if (cache.size > CACHED_MAX && oldest !== undefined) cache.delete(oldest)
    return url
  }
}
