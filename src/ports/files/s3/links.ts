// Signed URLs of the store, so that downloads do not pass through Depot.
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { LRUCache } from 'lru-cache'
import type { LinkOptions } from '../files.ts'

const VALID_SECONDS = 900
/** Signing takes a millisecond, so a URL is reused while most of its validity is left. */
const REUSED_MS = 300_000
const CACHED_MAX = 10_000

type ObjectName = { Bucket: string; Key: string }

/** Returns a function that signs URLs, which are valid for 10 to 15 minutes. */
export function createLinks(client: S3Client): (object: ObjectName, options: LinkOptions) => Promise<string> {
  const cache = new LRUCache<string, Promise<string>>({ max: CACHED_MAX, ttl: REUSED_MS })
  return (object, { contentType, contentDisposition }) => {
    const id = `${object.Key}\n${contentType}\n${contentDisposition}`
    const cached = cache.get(id)
    if (cached !== undefined) return cached
    const command = new GetObjectCommand({
      ...object,
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
    })
    const url = getSignedUrl(client, command, { expiresIn: VALID_SECONDS })
    cache.set(id, url)
    url.catch(() => cache.delete(id))
    return url
  }
}
