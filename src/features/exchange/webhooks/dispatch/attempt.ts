// One attempt of a delivery: builds the request, sends it, and reads what the response means.

import { signWithInstanceKey } from '#features/basics/instance-key/instance-keys.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { callAddress } from '#platform/outgoing/call-address.ts'
import { OutgoingError } from '#platform/outgoing/outgoing-error.ts'
import type { Deps } from '#ports/deps.ts'
import { isDiscord, waitingUrl } from '../address.ts'
import { discordBody } from '../messages/discord.ts'
import { githubDelivery, githubMessage, githubSignature } from '../messages/github.ts'
import type { EventFacts, Payload } from '../messages/payload.ts'
import { formatV1a, messageId, signedContent, signV1, standardBody } from '../messages/standard.ts'
import type { WebhookRow } from '../queries.ts'
import { openSecrets } from '../secrets.ts'
import { readRetryAfter } from './schedule.ts'

/** Part of the response that is read, and part that is stored. */
const READ_BYTES = 16 * 1024
const STORED_BYTES = 4 * 1024
const LOCATION_MAX = 200
const LIMITS = { connectMs: 5_000, firstByteMs: 10_000, totalMs: 15_000, bytes: READ_BYTES }

export type Request = { url: string; headers: Record<string, string>; body: string }

export type Attempt = {
  at: Date
  ms: number
  request: Pick<Request, 'headers' | 'body'>
  /** Code of the failure; null if it succeeded. */
  error: string | null
  response: { status: number; headers: Record<string, string>; body: string } | null
  /** The receiver does not exist any more. */
  isGone: boolean
  /** Pause that the receiver asks for: before this delivery, and before any other delivery of the webhook. */
  retryAfterMs: number | undefined
  pauseMs: number | undefined
}

/** `version`: of Depot. */
export type SendingDeps = Deps & { version: string }

/** Returns the request of an attempt. @throws SecretLostError if the secret of the webhook cannot be read. */
export async function buildRequest(
  deps: SendingDeps,
  { webhook, event, payload }: { webhook: WebhookRow; event: EventFacts; payload: Payload },
): Promise<Request> {
  const id = messageId(event.key, webhook.id)
  const { baseUrl } = deps.config.http
  const common = {
    'user-agent': `Depot/${deps.version} (+${baseUrl})`,
    'content-type': 'application/json',
    'idempotency-key': id,
  }
  if (webhook.format === 'discord') {
    const { name, accent_hue: accentHue } = await getSettings(deps)
    const body = discordBody(event, payload, { name, baseUrl, accentHue })
    return { url: waitingUrl(webhook.url), headers: common, body }
  }
  const secrets = await openSecrets(deps, webhook)
  if (webhook.format === 'github') {
    const message = githubMessage(event, payload, { baseUrl })
    const headers = {
      ...common,
      'x-github-event': message.event,
      'x-github-delivery': githubDelivery(id),
      'x-hub-signature-256': githubSignature(secretText(secrets[0]), message.body),
    }
    return { url: webhook.url, headers, body: message.body }
  }
  const body = standardBody(event, payload)
  const timestamp = Math.floor(deps.now() / 1_000)
  const content = signedContent({ id, timestamp, body })
  const signatures = secrets.map((secret) => signV1(secret, content))
  const own = formatV1a(await signWithInstanceKey(deps, content))
  const headers = {
    ...common,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': [...signatures, own].join(' '),
  }
  return { url: webhook.url, headers, body }
}

/** Programs for GitHub's format use the secret as text. */
function secretText(secret: Buffer | undefined): string {
  return `whsec_${secret?.toString('base64') ?? ''}`
}

/** Sends a request. Never rejects, except with the reason of the signal. */
export async function sendRequest(
  { config, now }: Pick<Deps, 'config' | 'now'>,
  request: Request,
  { format, signal }: { format: string; signal: AbortSignal },
): Promise<Attempt> {
  const at = new Date(now())
  const startedAt = performance.now()
  const { url, ...sent } = request
  const common = () => ({ at, ms: Math.round(performance.now() - startedAt), request: sent })
  try {
    const answer = await callAddress(config.outgoing, {
      url,
      method: 'POST',
      headers: request.headers,
      body: request.body,
      limits: LIMITS,
      signal,
    })
    const { status } = answer
    const isSuccess = status >= 200 && status < 300
    return {
      ...common(),
      error: isSuccess ? null : 'status',
      response: { status, headers: storedHeaders(answer.headers), body: storedText(answer.body) },
      isGone: status === 410 || (format === 'discord' && (isDiscord(url) ? [401, 403, 404] : [404]).includes(status)),
      retryAfterMs: [429, 503].includes(status) ? retryAfterOf(answer, format, now()) : undefined,
      pauseMs: format === 'discord' ? discordPause(answer.headers) : undefined,
    }
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return {
      ...common(),
      error: error.code,
      response: null,
      isGone: false,
      retryAfterMs: undefined,
      pauseMs: undefined,
    }
  }
}

type Headers = Awaited<ReturnType<typeof callAddress>>['headers']

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/** Other headers, such as cookies, are not the owner's business. */
function storedHeaders(headers: Headers): Record<string, string> {
  const stored: Record<string, string> = {}
  for (const name of ['content-type', 'retry-after', 'location']) {
    const value = textOf(headers[name])
    if (value !== undefined) stored[name] = storable(value).slice(0, LOCATION_MAX)
  }
  return stored
}

function storedText(body: Buffer): string {
  return storable(body.subarray(0, STORED_BYTES).toString())
}

/** The database cannot store the character 0. */
const storable = (text: string): string => text.replaceAll('\u0000', '\ufffd').toWellFormed()

function retryAfterOf({ headers, body }: { headers: Headers; body: Buffer }, format: string, now: number) {
  const fromHeader = readRetryAfter(textOf(headers['retry-after']), now)
  if (format !== 'discord') return fromHeader
  return Math.max(fromHeader ?? 0, discordRetryAfter(body) ?? 0)
}

/** Discord repeats the pause in the body, in seconds with a fraction. */
function discordRetryAfter(body: Buffer): number | undefined {
  try {
    const { retry_after } = JSON.parse(body.toString()) as { retry_after?: unknown }
    return typeof retry_after === 'number' && retry_after >= 0 ? retry_after * 1_000 : undefined
  } catch {
    return undefined
  }
}

/** The next message would be refused before this time. */
function discordPause(headers: Headers): number | undefined {
  if (textOf(headers['x-ratelimit-remaining']) !== '0') return undefined
  const seconds = Number(textOf(headers['x-ratelimit-reset-after']))
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
}
