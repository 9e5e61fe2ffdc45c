// The settings which notifications are emailed, and the page behind the links that turn off one kind.

import type { FastifyReply } from 'fastify'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { EMAIL_KINDS, type EmailKind } from '#features/people/notifications/emails/email-kinds.ts'
import { readEmailSettings } from '#features/people/notifications/emails/queries.ts'
import {
  checkUnsubscription,
  type Unsubscription,
  unsubscribe,
} from '#features/people/notifications/emails/unsubscribe.ts'
import { updateEmailSettings } from '#features/people/notifications/emails/update-email-settings.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, fieldset, form } from '#web/ui/parts/fields.ts'
import { note, slip } from '#web/ui/parts/lists.ts'
import { showSettings } from '../account-layout.ts'

const GROUPS: readonly { legend: MessageKey; kinds: readonly EmailKind[]; isForAdmins?: boolean }[] = [
  {
    legend: 'notifications.email.projects',
    kinds: [
      'invitation',
      'project_transferred',
      'project_status',
      'project_message',
      'version_quarantined',
      'withdrawal',
      'trusted_publisher',
      'webhook_disabled',
    ],
  },
  { legend: 'notifications.email.followed', kinds: ['project_update'] },
  {
    legend: 'notifications.email.reports',
    kinds: ['report_submitted', 'report_message', 'report_status_updated', 'content_taken_down'],
  },
  { legend: 'notifications.email.operators', kinds: ['operator_question'], isForAdmins: true },
]

export function notificationEmailPages(pages: Pages): void {
  pages.own('GET', PATHS.notificationEmails, 'showEmailSettings', showEmailSettings, {
    shows: 'Choice of the notifications that are emailed',
    api: 'getNotificationSettings updateNotificationSettings',
  })
  pages.own('POST', PATHS.notificationEmails, 'sendEmailSettings', async ({ deps, viewer, fields, redirect }) => {
    const chosen = new Set(fields('email'))
    const current = await readEmailSettings(deps.db, viewer.id)
    const changed = shownKinds(viewer).filter((kind) => chosen.has(kind) !== current[kind])
    const patch = Object.fromEntries(changed.map((kind) => [kind, chosen.has(kind)]))
    await updateEmailSettings(deps.db, viewer.id, patch)
    return redirect(PATHS.notificationEmails, 'email-settings')
  })
  // Opening the link changes nothing, because programs that scan emails open links too.
  pages.open('GET', PATHS.unsubscribe, 'showUnsubscription', async (request) => {
    const of = unsubscriptionOf(request)
    return showUnsubscription(request, of, await checkUnsubscription(request.deps.db, of))
  })
  // Mail programs send this form without a page before it. The key in the URL takes the place of a token.
  pages.open(
    'POST',
    PATHS.unsubscribe,
    'sendUnsubscription',
    async (request) => {
      const of = unsubscriptionOf(request)
      await unsubscribe(request.deps.db, of)
      return showUnsubscription(request, of)
    },
    { tokenless: true },
  )
}

const groupsOf = (viewer: Viewer) => GROUPS.filter(({ isForAdmins = false }) => !isForAdmins || isAdmin(viewer))

const shownKinds = (viewer: Viewer): readonly EmailKind[] =>
  EMAIL_KINDS.filter((kind) => groupsOf(viewer).some(({ kinds }) => kinds.includes(kind)))

async function showEmailSettings(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, viewer, account, t, rich } = request
  const settings = await readEmailSettings(deps.db, viewer.id)
  const groups = groupsOf(viewer).map(({ legend, kinds }, index) =>
    fieldset(page, {
      name: `group-${index}`,
      legend: t(legend),
      content: kinds.map((kind) =>
        checkbox({ name: 'email', value: kind, isChecked: settings[kind], label: t(`notifications.kind.${kind}`) }),
      ),
    }),
  )
  const list = (text: Part) => html`<a href="${pathTo(page, PATHS.notifications)}">${text}</a>`
  const body = html`<section class="section"><h2>${t('notifications.email')}</h2>
<p class="soft">${rich('notifications.email.text', { link: list })}</p>
${addressNote(page, account)}
${form(page, {
  action: pathTo(page, PATHS.notificationEmails),
  content: html`${groups}<div><button class="main">${t('save')}</button></div>`,
})}
<p class="hint">${t(mailKey(page, 'notifications.email.always'))}</p>
</section>`
  return showSettings(request, { title: t('settings.notifications'), body })
}

function addressNote(page: PageContext, { email, email_verified }: OwnRequest['account']): Part {
  if (!page.site.sendsMail) return note(page, 'warn', html`<p>${page.language.t('notifications.email.unsent')}</p>`)
  if (email !== null && email_verified) return null
  const security = (text: Part) => html`<a href="${pathTo(page, PATHS.security)}">${text}</a>`
  return note(page, 'warn', html`<p>${page.language.rich('notifications.email.no-address', { link: security })}</p>`)
}

const unsubscriptionOf = ({ query }: PageRequest): Unsubscription => ({
  user: query('user'),
  kind: query('kind'),
  key: query('key'),
})

/** `kind`: the kind that the button turns off. Without it, the emails were turned off. */
function showUnsubscription({ page, show, t }: PageRequest, of: Unsubscription, kind?: EmailKind): FastifyReply {
  const action = pathTo(page, withQuery(PATHS.unsubscribe, of))
  const body = slip(html`<h1>${t('notifications.unsubscribe')}</h1>
${
  kind === undefined
    ? note(page, 'good', html`<p>${t('notifications.unsubscribe.done')}</p>`, { role: 'status' })
    : html`<p>${t('notifications.unsubscribe.text', { kind: t(`notifications.kind.${kind}`) })}</p>
${form(page, { action, content: html`<button class="main">${t('notifications.unsubscribe.send')}</button>` })}`
}
<p class="soft"><a href="${pathTo(page, PATHS.notificationEmails)}">${t('notifications.unsubscribe.all')}</a></p>`)
  return show({ title: t('notifications.unsubscribe'), body })
}
