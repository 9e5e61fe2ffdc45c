// The settings of an account: tabs, and the sheet under them. And the slip that stands alone, such as the one for signing in.
import { buttonForm, errorSummary, type FormError } from '#platform/html/forms.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import type { IconName } from '#platform/html/icons.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import { note, tabs } from '#platform/html/lists.ts'
import { type PageContext, pathTo } from '#platform/html/page-context.ts'
import { PATHS } from '#web/kit/paths.ts'

const TABS: readonly [path: string, label: MessageKey, icon: IconName][] = [
  [PATHS.profile, 'settings.profile', 'user'],
  [PATHS.security, 'settings.security', 'shield'],
  [PATHS.sessions, 'settings.sessions', 'monitor'],
  [PATHS.tokens, 'settings.tokens', 'key'],
  [PATHS.authorizations, 'settings.authorizations', 'plug'],
  [PATHS.applications, 'settings.applications', 'code'],
  [PATHS.data, 'settings.data', 'archive'],
]

type Settings = {
  title: string
  body: Markup
  refusal?: FormError | undefined
  notice: string | undefined
  isUnverified: boolean
}

/** Whether an address is below a tab's. That of the profile is above all others. */
function isBelow(path: string, tab: string): boolean {
  return (
    path === tab || path.startsWith(`${tab === PATHS.profile ? `${tab}/picture` : tab}/`) || path === `${tab}/picture`
  )
}

export function accountLayout(page: PageContext, { title, body, refusal, notice, isUnverified }: Settings): Markup {
  const { language } = page
  const path = page.address.split('?')[0] ?? ''
  const links = TABS.map(([tab, label, icon]) => ({
    href: pathTo(page, tab),
    label: language.t(label),
    icon,
    isCurrent: isBelow(path, tab),
  }))
  return html`<div class="account-head"><h1>${title}</h1></div>
${isUnverified && unverifiedNote(page)}
${messages(page, { notice, refusal })}
${tabs(page, language.t('settings'), links)}
<div class="sheet">
${body}
</div>`
}

function unverifiedNote(page: PageContext): Markup {
  const { t } = page.language
  const again = buttonForm(page, {
    action: pathTo(page, `${PATHS.security}/email/link`),
    text: t('unverified.again'),
    isTight: true,
  })
  return note(page, 'warn', html`<div class="row"><p class="grow">${t('unverified.text')}</p>${again}</div>`)
}

/** What became of the form before, and what is wrong with this one. */
export function messages(
  page: PageContext,
  { notice, refusal }: { notice?: string | undefined; refusal?: FormError | undefined },
): Part {
  return [
    notice !== undefined && note(page, 'good', html`<p>${notice}</p>`, { role: 'status' }),
    refusal !== undefined && errorSummary(page, [refusal]),
  ]
}

/** A sheet as narrow as a form, for pages that have nothing else. */
export function slip(content: Part): Markup {
  return html`<div class="sheet slip">
${content}
</div>`
}
