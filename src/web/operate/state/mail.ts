// Outgoing email: queued, sent and rejected emails, and a test email to oneself.

import { actorOf } from '#features/basics/audit/actor.ts'
import { loadMail } from '#features/operation/overview/mail/queries.ts'
import { readMail } from '#features/operation/overview/mail/read-mail.ts'
import { sendTestMail } from '#features/operation/overview/mail/send-test-mail.ts'
import type { DeliveryView, MailView } from '#features/operation/overview/mail/views.ts'
import { notFound } from '#lib/errors.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { userPath, withQuery } from '#web/kit/paths.ts'
import { exactTime, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type Language, messageOr } from '#web/ui/languages.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note, segments } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { mailVariables } from '../variables.ts'
import { taskName } from './jobs-table.ts'

const PATH = '/operator/mail'
const ROWS = 50
const ID = /^[1-9]\d{0,14}$/
const SHOWN = ['all', 'sent', 'written', 'rejected'] as const

type Shown = { mail: MailView; shown: (typeof SHOWN)[number] }

export function mailPages(pages: Pages): void {
  formPage<Shown>(pages, {
    path: PATH,
    name: 'operateMail',
    shows: 'Queued, sent and rejected emails, with a test',
    api: 'getOutgoingMail sendTestMail',
    options: { role: 'admin' },
    load: loadShown,
    show: showMail,
    commands: { test: sendTest },
  })
  pages.own('GET', `${PATH}/:id`, 'operateWrittenMail', showWritten, {
    role: 'admin',
    shows: 'An email that was written to a file',
    api: 'getWrittenMail',
  })
}

async function showWritten(request: OwnRequest) {
  const { page, deps, viewer, param, t } = request
  if (!ID.test(param('id'))) throw notFound('email')
  const { at, to, subject, text, file } = await readMail(deps, actorOf(viewer), Number(param('id')))
  return showOperator(request, {
    section: PATH,
    heading: subject,
    text: t('operate.mail.read.text'),
    body: html`${sheetPart({
      id: 'email',
      content: html`<dl class="pairs wide">
<dt>${t('operate.mail.to')}</dt><dd><bdi>${to}</bdi></dd>
<dt>${t('operate.mail.time')}</dt><dd>${exactTime(page.language, new Date(at))}</dd>
<dt>${t('operate.mail.file')}</dt><dd><code>outbox/${file}</code></dd></dl>
<p class="prose plain" lang="en" dir="auto">${text}</p>`,
    })}
<p class="part"><a href="${pathTo(page, PATH)}">${t('operate.mail.back')}</a></p>`,
  })
}

async function loadShown({ deps, query }: OwnRequest): Promise<Shown> {
  const shown = SHOWN.find((name) => name === query('show')) ?? 'all'
  const before = ID.test(query('before')) ? Number(query('before')) : undefined
  const of = {
    all: {},
    sent: { isSent: true, isWritten: false },
    written: { isWritten: true },
    rejected: { isSent: false },
  }
  return { shown, mail: await loadMail(deps, { ...of[shown], before, limit: ROWS }) }
}

/** The list of deliveries has the response, so that a rejected email is not an error of the form. */
async function sendTest({ deps, viewer }: OwnRequest): Promise<Outcome> {
  const { sent } = await sendTestMail(deps, viewer)
  return { with: { test: sent ? 'accepted' : 'rejected' } }
}

function showMail(request: OwnRequest, { mail, shown }: Shown, form: FormState) {
  const { page, deps, query, account, t, rich } = request
  const test = buttonForm(page, {
    action: pathTo(page, PATH),
    text: t(mailKey(page, 'operate.mail.test')),
    fields: { do: 'test' },
  })
  const from = html`<code>${mail.transport.from}</code>`
  const notes = [
    form.isSubmitted ? false : testNote(request, query('test'), mail),
    mail.transport.kind === 'outbox' &&
      note(page, 'warn', html`<p>${rich('operate.mail.folder', { setting: html`<code>SMTP_URL</code>` })}</p>`),
  ].filter((part) => part !== false)
  return showOperator(request, {
    section: PATH,
    heading: t('operate.mail'),
    text: rich(`operate.mail.${mail.transport.kind}`, { from }),
    action: account.email === null ? undefined : test,
    form,
    ...(notes.length === 0 ? {} : { notes }),
    body: html`${tiles(page, mail)}
${sheetPart({ id: 'settings', title: t('operate.mail.settings'), content: mailVariables(page, deps.config) })}
${waiting(page, mail)}
${sheetHead({ title: t(mailKey(page, 'operate.mail.deliveries')), isRuled: true, text: t('operate.mail.deliveries.text'), action: filters(page, shown, mail) })}
${deliveries(page, mail)}
${mail.next !== null && html`<p class="part"><a href="${pathTo(page, withQuery(PATH, { show: shown, before: String(mail.next) }))}">${t('operate.older')}</a></p>`}`,
  })
}

/** Says where the test email went, with the response of the server. */
function testNote({ page, account, rich }: OwnRequest, result: string, { deliveries }: MailView): Part {
  const test = deliveries.find(({ kind, username }) => kind === 'test' && username === account.username)
  if (test === undefined || (result !== 'accepted' && result !== 'rejected')) return false
  const values = { email: html`<bdi>${account.email}</bdi>`, response: html`<code dir="auto">${test.response}</code>` }
  const text = result === 'rejected' ? 'operate.mail.test-rejected' : mailKey(page, 'operate.mail.test-accepted')
  return note(page, result === 'rejected' ? 'bad' : 'good', html`<p>${rich(text, values)}</p>`, { role: 'status' })
}

/** An instance that has changed its transport can have sent and written emails. Both are named only if they can exist. */
function filters(page: PageContext, current: Shown['shown'], mail: MailView): Markup {
  const { t } = page.language
  return segments(
    t(mailKey(page, 'operate.mail.deliveries')),
    SHOWN.filter((shown) => shown === current || hasResult(page, mail, shown)).map((shown) => ({
      href: pathTo(page, withQuery(PATH, { show: shown })),
      label: t(`operate.mail.show.${shown}`),
      isCurrent: shown === current,
    })),
  )
}

function hasResult({ site }: PageContext, mail: MailView, shown: Shown['shown']): boolean {
  if (shown === 'sent')
    return site.sendsMail || sentOf(mail) > 0 || mail.deliveries.some((of) => of.sent && !of.written)
  if (shown === 'written')
    return !site.sendsMail || mail.last_24_hours.written > 0 || mail.deliveries.some(({ written }) => written)
  return true
}

/** The figures are stored once per minute, so that deliveries can be ahead of them. */
const sentOf = ({ last_24_hours: { sent, written } }: MailView): number => Math.max(0, sent - written)

function tiles(page: PageContext, mail: MailView): Markup {
  const { language } = page
  const { t } = language
  const values: readonly (readonly [string, number])[] = [
    [t('operate.mail.queued'), mail.queued],
    [t('operate.mail.retrying'), mail.retrying],
    [t('operate.mail.failed'), mail.failed],
    ...(hasResult(page, mail, 'sent') ? [[t('operate.mail.sent-today'), sentOf(mail)] as const] : []),
    ...(hasResult(page, mail, 'written')
      ? [[t('operate.mail.written-today'), mail.last_24_hours.written] as const]
      : []),
    [t('operate.mail.rejected-today'), mail.last_24_hours.rejected],
  ]
  return html`<dl class="tiles">
${values.map(
  ([label, count]) => html`<div><dt>${label}</dt><dd class="big">${wholeNumber(language, count)}</dd></div>
`,
)}</dl>`
}

/** Emails that wait for a retry are jobs. */
function waiting(page: PageContext, { jobs }: MailView): Part {
  const { language } = page
  const { t } = language
  const failing = jobs.filter(({ state }) => state === 'failed' || state === 'retrying')
  if (failing.length === 0) return null
  return html`${sheetHead({ title: t('operate.mail.unsent'), isRuled: true, text: t('operate.mail.unsent.text') })}
${listTable(page, {
  caption: t('operate.mail.unsent'),
  columns: [
    { label: t('operate.jobs.type') },
    { label: t('operate.mail.response'), room: 'mid' },
    { label: t('operate.jobs.attempts'), isNumber: true },
    { label: t('operate.actions'), isAction: true },
  ],
  rows: failing.map(({ id, task, error, attempts, max_attempts: max }) => {
    const response = html`<span lang="en" dir="auto">${error ?? ''}</span>`
    const retry = withQuery('/operator/jobs/confirm', { action: 'retry', id })
    return {
      cells: [
        nameCell({ name: taskName(language, task), least: [response] }),
        response,
        t('operate.jobs.attempts-of', { count: attempts, max }),
        html`<a class="button tight" href="${pathTo(page, retry)}">${t('operate.retry')}<span class="vh"> ${id}</span></a>`,
      ],
    }
  }),
})}`
}

function deliveries(page: PageContext, mail: MailView): Markup {
  const { language } = page
  const { t } = language
  if (mail.deliveries.length === 0) return emptyState(page, { icon: 'mail', title: t('operate.mail.none') })
  return listTable(page, {
    caption: t(mailKey(page, 'operate.mail.deliveries')),
    columns: [
      { label: t('operate.mail.kind') },
      { label: t('operate.mail.to'), room: 'mid' },
      { label: t('operate.mail.result'), isNumber: true },
      { label: t('operate.mail.response'), room: 'far' },
      { label: t('operate.mail.time'), room: 'mid' },
    ],
    rows: mail.deliveries.map((delivery) => deliveryRow(page, delivery)),
  })
}

function deliveryRow(
  page: PageContext,
  { id, kind, username, sent, written, response, at }: DeliveryView,
): { cells: readonly Part[] } {
  const { language } = page
  const { t } = language
  const to =
    username === null
      ? t('operate.mail.no-account')
      : html`<a href="${pathTo(page, userPath(username))}"><bdi>${username}</bdi></a>`
  const time = exactTime(language, new Date(at))
  const shown = html`<span lang="en" dir="auto">${response}</span>`
  const name = kindName(language, kind)
  return {
    cells: [
      nameCell({
        name: written ? html`<a href="${pathTo(page, `${PATH}/${id}`)}">${name}</a>` : name,
        near: shown,
        least: [html`${to}, ${time}`],
      }),
      to,
      sent
        ? status(page, {
            kind: 'good',
            icon: 'check',
            label: t(written ? 'operate.mail.written' : 'operate.mail.accepted'),
          })
        : status(page, { kind: 'bad', icon: 'alert', label: t('operate.mail.refused') }),
      shown,
      time,
    ],
  }
}

/** Returns the name of a kind of email, otherwise the kind. */
const kindName = (language: Language, kind: string): string => messageOr(language, `operate.mail.kind.${kind}`, kind)
