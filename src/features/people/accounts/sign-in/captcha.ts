// The captcha of the operator's choice: any service that answers a siteverify-style form post with `{success}`.

import { ApiError } from '#lib/errors.ts'
import type { Config } from '#platform/config/config.ts'

const ANSWER_MS = 5_000
export const CHALLENGE_LENGTH_MAX = 8192

/**
 * Does nothing where no captcha is configured.
 * @throws ApiError `captcha_error` when the answer is absent or wrong, 424 when the service does not answer. Were
 * everybody let through then, an attack on the captcha's service would switch the captcha off.
 */
export async function checkCaptcha(
  captcha: Config['accounts']['captcha'],
  { challenge, address }: { challenge: string | null | undefined; address: string },
): Promise<void> {
  if (captcha === undefined) return
  if (challenge === undefined || challenge === null || challenge === '') throw captchaError()
  const form = new URLSearchParams({ secret: captcha.secret.reveal(), response: challenge, remoteip: address })
  const success = await ask(captcha.verifyUrl, form).catch((cause) => {
    throw new ApiError('external_service_error', 'The captcha service does not answer. Please try again later.', {
      cause,
    })
  })
  if (!success) throw captchaError()
}

async function ask(url: string, form: URLSearchParams): Promise<boolean> {
  const answer = await fetch(url, {
    method: 'POST',
    body: form,
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  })
  if (!answer.ok) throw new Error(`The captcha service answered ${answer.status}`)
  const body: unknown = await answer.json()
  if (typeof body !== 'object' || body === null || !('success' in body))
    throw new Error('The captcha service answered without `success`')
  return body.success === true
}

function captchaError(): ApiError {
  return new ApiError('captcha_error', 'The captcha was not solved', {
    details: { field: 'challenge', message: 'was not solved' },
  })
}
