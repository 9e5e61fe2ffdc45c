// Checks captchas with any service that has a siteverify API: a form request, and a response with `success`.

import { ApiError } from '#lib/errors.ts'
import type { Config } from '#platform/config/config.ts'

const TIMEOUT_MS = 5_000
export const CHALLENGE_LENGTH_MAX = 8192

/**
 * Checks the response of a captcha, if one is configured.
 * @throws ApiError `captcha_error` if it is missing or wrong, 424 if the service does not respond: otherwise, an attack
 * on the service would disable the captcha.
 */
export async function checkCaptcha(
  captcha: Config['accounts']['captcha'],
  { challenge, address }: { challenge: string | null | undefined; address: string },
): Promise<void> {
  if (captcha === undefined) return
  if (!challenge) throw captchaError()
  const form = new URLSearchParams({ secret: captcha.secret.reveal(), response: challenge, remoteip: address })
  const success = await verify(captcha.verifyUrl, form).catch((cause) => {
    throw new ApiError('external_service_error', 'The captcha service does not respond. Try again later.', { cause })
  })
  if (!success) throw captchaError()
}

async function verify(url: string, form: URLSearchParams): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { method: 'POST', body: form, redirect: 'error', signal })
  if (!response.ok) throw new Error(`The captcha service returned ${response.status}`)
  const body: unknown = await response.json()
  if (typeof body !== 'object' || body === null || !('success' in body))
    throw new Error('The response of the captcha service has no field `success`')
  return body.success === true
}

function captchaError(): ApiError {
  return new ApiError('captcha_error', 'The captcha was not solved', {
    details: { field: 'challenge', message: 'was not solved' },
  })
}
