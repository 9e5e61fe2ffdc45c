// Addresses at the store itself, signed for a while: downloads then do not pass through Depot.
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { LinkOptions } from '../files.ts'

const VALID_SECONDS = 900
/** Signing takes a millisecond, so an address is given again while most of its time is left. */
const REUSED_MS = 300_000
const KEPT_MAX = 10_000

type ObjectName = { Bucket: string; Key: string }

/** Signs addresses that hold for 10 to 15 minutes. */
export function createLinks(client: S3Client): (object: ObjectName, options: LinkOptions) => Promise<string> {
  const kept = new Map<string, { url: Promise<string>; madeMs: number }>()
  return (object, { contentType, contentDisposition }) => {
    const id = `${object.Key}\n${contentType}\n${contentDisposition}`
    const nowMs = Date.now()
    const known = kept.get(id)
    if (known !== undefined && nowMs - known.madeMs < REUSED_MS && nowMs >= known.madeMs) return known.url
    const command = new GetObjectCommand({
      ...object,
      ResponseContentType: contentType,
      ResponseContentDisposition: contentDisposition,
    })
    const url = getSignedUrl(client, command, { expiresIn: VALID_SECONDS })
    // In the order in which they were made: the first is the oldest.
    kept.delete(id)
    kept.set(id, { url, madeMs: nowMs })
    url.catch(() => kept.delete(id))
    const [oldest] = kept.keys()
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    return url
  }
}
