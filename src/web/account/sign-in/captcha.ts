// The captcha of the forms that the API wants one for; the page given shows it.
import Type from 'typebox'
import { OptionalChallenge } from '#features/people/accounts/requests.ts'
import type { Config } from '#platform/config/config.ts'
import { html, type Part } from '#platform/html/html.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import { checkValues } from '#web/kit/forms.ts'
import type { PageRequest } from '#web/kit/page-request.ts'

const Answer = Type.Object({ challenge: OptionalChallenge })

export type CaptchaWidget = NonNullable<NonNullable<Config['accounts']['captcha']>['widget']>

export type CaptchaState = {
  /** What a form that asks for a captcha shows. */
  widget: CaptchaWidget | undefined
  /** A captcha is asked for that pages cannot show: whatever such a form said would be refused. */
  isBarred: boolean
}

export function captchaState({ accounts: { captcha } }: Config): CaptchaState {
  return { widget: captcha?.widget, isBarred: captcha !== undefined && captcha.widget === undefined }
}

/** The captcha of a form, where one is set. */
export function captchaField({ language }: PageContext, { widget }: CaptchaState): Part {
  if (widget === undefined) return null
  return html`<div class="captcha ${widget.className}" data-sitekey="${widget.siteKey}"></div>
<noscript><p class="note warn">${language.t('captcha.needs-scripts')}</p></noscript>`
}

/**
 * What the person answered; undefined where the page showed no captcha.
 * @throws ApiError `validation_error` naming `challenge`
 */
export function challengeOf({ field }: PageRequest, { accounts }: Config): string | null | undefined {
  const name = accounts.captcha?.widget?.className
  // Services of the siteverify kind name the field after the class.
  return name === undefined ? undefined : checkValues(Answer, { challenge: field(`${name}-response`) }).challenge
}
