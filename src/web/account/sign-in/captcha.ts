// The captcha of the forms for which the API requires one.
import Type from 'typebox'
import { OptionalChallenge } from '#features/people/accounts/requests.ts'
import type { Config } from '#platform/config/config.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'

const Response = Type.Object({ challenge: OptionalChallenge })

export type CaptchaWidget = NonNullable<NonNullable<Config['accounts']['captcha']>['widget']>

export type CaptchaState = {
  /** Captcha to show in the form. */
  widget: CaptchaWidget | undefined
  /** Whether the API requires a captcha that pages cannot show, so that it would reject the form. */
  isBarred: boolean
}

export function captchaState({ accounts: { captcha } }: Config): CaptchaState {
  return { widget: captcha?.widget, isBarred: captcha !== undefined && captcha.widget === undefined }
}

/** Returns the captcha of a form, if one is configured. */
export function captchaField({ language }: PageContext, { widget }: CaptchaState): Part {
  if (widget === undefined) return null
  return html`<div class="captcha ${widget.className}" data-sitekey="${widget.siteKey}"></div>
<noscript><p class="note warn">${language.t('captcha.needs-scripts')}</p></noscript>`
}

/**
 * Returns the response to the captcha; undefined if the page showed none.
 * @throws ApiError `validation_error` naming `challenge`
 */
export function challengeOf({ field, deps }: PageRequest): string | null | undefined {
  const name = deps.config.accounts.captcha?.widget?.className
  // Captcha services with a siteverify URL name the field after the class.
  return name === undefined ? undefined : checkValues(Response, { challenge: field(`${name}-response`) }).challenge
}
