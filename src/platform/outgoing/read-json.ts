import { callAddress } from './call-address.ts'
import type { CallLimits } from './call-limits.ts'
import { OutgoingError } from './outgoing-error.ts'
import { OPERATOR_RULES } from './rules.ts'

const TIMEOUT_MS = 5_000

/**
 * Returns the JSON document at a URL that the operator has configured. The time limit includes the body, so a slow service
 * cannot hold a request.
 * @throws Error if the service does not respond with status 200 within the limits: 5 seconds and 256 KiB, unless `limits`
 * has others.
 */
export async function readJsonWithin(
  url: string,
  { limits, signal }: { limits?: Partial<CallLimits>; signal?: AbortSignal } = {},
): Promise<unknown> {
  const { status, body, truncated } = await callAddress(OPERATOR_RULES, {
    url,
    headers: { accept: 'application/json' },
    limits: { totalMs: TIMEOUT_MS, ...limits },
    ...(signal === undefined ? {} : { signal }),
  })
  if (status !== 200) throw new Error(`The response has the status ${status}`)
  if (truncated) throw new OutgoingError('too_large')
  return JSON.parse(body.toString('utf8'))
}
