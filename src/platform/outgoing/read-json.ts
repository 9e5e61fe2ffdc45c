import { callAddress } from './call-address.ts'
import { OutgoingError } from './outgoing-error.ts'
import { OPERATOR_RULES } from './rules.ts'

const TIMEOUT_MS = 5_000

/**
 * Returns the JSON document at a URL that the operator has configured. The time limit includes the body, so a slow service
 * cannot hold a request.
 * @throws Error if the service does not respond in 5 seconds with status 200 and at most 256 KiB of JSON.
 */
export async function readJsonWithin(url: string): Promise<unknown> {
  const { status, body, truncated } = await callAddress(OPERATOR_RULES, {
    url,
    headers: { accept: 'application/json' },
    limits: { totalMs: TIMEOUT_MS },
  })
  if (status !== 200) throw new Error(`The response has the status ${status}`)
  if (truncated) throw new OutgoingError('too_large')
  return JSON.parse(body.toString('utf8'))
}
