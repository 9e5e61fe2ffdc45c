// The captcha of the forms that the API wants one for; the page kit shows it.
import Type from 'typebox'
import type { Config } from '#config/config.ts'
import { OptionalChallenge } from '#features/accounts/fields.ts'
import { checkValues } from './forms.ts'
import type { Visit } from './page-kit.ts'

const Answer = Type.Object({ challenge: OptionalChallenge })

/**
 * What the person answered; undefined where the page showed no captcha.
 * @throws ApiError `validation_error` naming `challenge`
 */
export function challengeOf({ field }: Visit, { accounts }: Config): string | null | undefined {
  const name = accounts.captcha?.widget?.className
  // Services of the siteverify kind name the field after the class.
  return name === undefined ? undefined : checkValues(Answer, { challenge: field(`${name}-response`) }).challenge
}
