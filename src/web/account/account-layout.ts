// The frame of the account settings: heading, notes and tabs.

import type { FastifyReply } from 'fastify'
import { errorsOf } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS, userPath } from '#web/kit/paths.ts'
import { noticeOf } from '#web/kit/request.ts'
import type { ShownPage } from '#web/kit/send-page.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, errorSummary } from '#web/ui/parts/fields.ts'
import { note, tabs } from '#web/ui/parts/lists.ts'

const TABS: readonly [path: string, label: MessageKey, icon: IconName][] = [
  [PATHS.profile, 'settings.profile', 'user'],
  [PATHS.security, 'settings.security', 'shield'],
  [PATHS.notificationEmails, 'settings.notifications', 'bell'],
  [PATHS.tokens, 'settings.tokens', 'key'],
  [PATHS.authorizations, 'settings.authorizations', 'plug'],
  [PATHS.applications, 'settings.applications', 'code'],
  [PATHS.webhooks, 'webhooks.title', 'send'],
  [PATHS.data, 'settings.data', 'monitor'],
]

/** Whether a path belongs to a tab. The path of the profile is the prefix of all others. */
const isBelow = (path: string, tab: string): boolean =>
  path === tab || (tab !== PATHS.profile && path.startsWith(`${tab}/`))

/** Shows a page of the account settings, with their tabs and the confirmation that the URL names. */
export function showSettings(
  request: OwnRequest,
  { title, body, refusal }: Pick<ShownPage, 'title' | 'body' | 'refusal'>,
): FastifyReply {
  const { page, account, deps, show, language } = request
  const isUnverified = deps.config.accounts.requireVerifiedEmail && !account.email_verified
  const path = page.address.split('?')[0] ?? ''
  const links = TABS.map(([tab, label, icon]) => ({
    href: pathTo(page, tab),
    label: language.t(label),
    icon,
    isCurrent: isBelow(path, tab),
  }))
  const framed = html`<div class="account-head"><h1>${title}</h1>${deps.config.site.isServed && html`<a class="button tight" href="${pathTo(page, userPath(account.username))}">${icon(page, 'user')}${language.t('profile.view')}</a>`}</div>
${isUnverified && unverifiedNote(page, account.email ?? '')}
${account.awaits_approval && note(page, 'warn', language.t('settings.awaits-approval'))}
${messages(page, { notice: noticeOf(request), refusal })}
${tabs(page, language.t('settings'), links)}
<div class="sheet">
${body}
</div>`
  return show({ title, body: framed, refusal })
}

function unverifiedNote(page: PageContext, email: string): Markup {
  const { t, rich } = page.language
  const again = buttonForm(page, {
    action: pathTo(page, PATHS.security),
    text: t(mailKey(page, 'unverified.again')),
    isTight: true,
    fields: { do: 'link' },
  })
  return note(
    page,
    'warn',
    html`<div class="row"><p class="grow">${rich(mailKey(page, 'unverified.text'), { email: html`<strong>${email}</strong>` })}</p>${again}</div>`,
  )
}

/** The result of the previous form, and the errors of this one. */
export function messages(
  page: PageContext,
  { notice, refusal }: { notice?: string | undefined; refusal?: Parameters<typeof errorsOf>[0]['refusal'] },
): Part {
  return [
    notice !== undefined && note(page, 'good', html`<p>${notice}</p>`, { role: 'status' }),
    refusal !== undefined && errorSummary(page, errorsOf({ refusal })),
  ]
}
