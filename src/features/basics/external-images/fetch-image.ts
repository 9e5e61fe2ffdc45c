// Fetches an image of another host. The source receives nothing of the viewer.
import { ApiError } from '#lib/errors.ts'
import type { Images, StoredImage } from '#platform/images/images.ts'
import { callAddress } from '#platform/outgoing/call-address.ts'
import { OutgoingError } from '#platform/outgoing/outgoing-error.ts'
import type { OutgoingRules } from '#platform/outgoing/rules.ts'
import { freshMs } from './freshness.ts'

const BYTES_MAX = 5 * 1024 * 1024
const REDIRECTS_MAX = 3
const REDIRECTS = [301, 302, 303, 307, 308]
/** The kinds that Depot can check, so that a source which can choose does not send another one. */
const ACCEPT = 'image/webp,image/png,image/svg+xml,image/jpeg,image/gif'

export type Fetched =
  | { outcome: 'image'; image: StoredImage; etag: string | null; freshMs: number }
  | { outcome: 'unchanged'; freshMs: number }
  /** The source has no image at this URL, or content that is not one. */
  | { outcome: 'absent' }
  /** The source did not respond, or with an error that can pass. */
  | { outcome: 'failed' }

type Source = { url: string; etag: string | null; signal: AbortSignal }

/**
 * Fetches an image of at most 5 MiB, follows at most 3 redirects that the rules permit, and checks it.
 * @throws ApiError 503 if too many images wait for the check.
 */
export async function fetchImage(
  { outgoing, images }: { outgoing: OutgoingRules; images: Images },
  source: Source,
): Promise<Fetched> {
  const answer = await callSource(outgoing, source)
  if (answer === 'failed') return { outcome: 'failed' }
  const { status, headers, body, truncated } = answer
  if (status === 304 && source.etag !== null) return { outcome: 'unchanged', freshMs: freshMs(headers) }
  if (status !== 200) return { outcome: status >= 500 || status === 429 || status < 400 ? 'failed' : 'absent' }
  if (truncated) return { outcome: 'absent' }
  const { hostname: caller } = new URL(source.url)
  try {
    const image = await images.processExternal(body, { caller })
    return { outcome: 'image', image, etag: etagOf(headers.etag), freshMs: freshMs(headers) }
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return { outcome: 'absent' }
    throw error
  }
}

async function callSource(rules: OutgoingRules, { url: first, etag, signal }: Source) {
  let url = first
  const headers = { accept: ACCEPT, ...(etag === null ? {} : { 'if-none-match': etag }) }
  for (let step = 0; step <= REDIRECTS_MAX; step += 1) {
    const answer = await callAddress(rules, { url, headers, signal, limits: { bytes: BYTES_MAX } }).catch(asFailure)
    if (answer === 'failed' || !REDIRECTS.includes(answer.status)) return answer
    const next = URL.parse(answer.headers.location ?? '', url)
    if (next === null) return 'failed'
    url = next.href
  }
  return 'failed'
}

function asFailure(error: unknown): 'failed' {
  if (error instanceof OutgoingError) return 'failed'
  throw error
}

const etagOf = (etag: string | undefined): string | null =>
  etag !== undefined && /^(?:W\/)?"[\x21\x23-\x7e]{1,200}"$/.test(etag) ? etag : null
