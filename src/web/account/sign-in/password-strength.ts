// Rates a new password while the user types it, for the script of the password fields. The form checks it again.
import type { FastifyReply } from 'fastify'
import { findPasswordOwner } from '#features/people/accounts/credentials/change-password.ts'
import { PASSWORD_LENGTH_MAX, type PasswordRating } from '#features/people/accounts/passwords/passwords.ts'
import { addressKey } from '#lib/address-key.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'

/** Rating a password costs as much as several pages. */
const COST = 3
const STRONG = 4

export function passwordStrengthPages(pages: Pages): void {
  pages.open('POST', PATHS.passwordStrength, 'ratePassword', ratePassword, { cost: COST, whenReadOnly: 'answers' })
}

async function ratePassword({ accounts, viewer, req, field, page, show }: PageRequest): Promise<FastifyReply> {
  const password = field('password').slice(0, PASSWORD_LENGTH_MAX)
  const known = await findPasswordOwner(accounts, { accountId: viewer?.id, flow: field('flow') })
  const owner = known ?? { username: field('username'), email: field('email') }
  const rating = await accounts.passwords.rate(password, owner, addressKey(req.clientAddress))
  const part = ratingView(page, rating)
  return show({ title: page.language.t('field.new-password'), body: part, part, isSecret: true })
}

/** Renders the words, which are announced, and a bar. */
function ratingView({ language: { t } }: PageContext, { score, weakness, missing }: PasswordRating): Markup {
  // The least score has a small bar; a refused password never has a green one.
  const value = 1 + (weakness === undefined ? score : Math.min(score, STRONG - 2))
  const meter = attributes({ min: 0, max: 5, low: 3, high: 4, optimum: 5, value, 'aria-hidden': 'true' })
  const words =
    weakness === undefined
      ? t(score >= STRONG ? 'strength.strong' : 'strength.good')
      : weakness === 'short'
        ? t('strength.short', { count: missing })
        : `${t('strength.weak')} ${t(`strength.${weakness}`)}`
  return html`<p><meter${meter}></meter> <span class="small">${words}</span></p>`
}
