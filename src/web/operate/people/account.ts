// One account: its state, and the decisions about it.

import type { FastifyReply } from 'fastify'
import { hasSecondFactor, isSuspended } from '#features/basics/access/accounts.ts'
import { badgesOf } from '#features/basics/access/permissions.ts'
import { listOrganizationsOf } from '#features/people/accounts/administration/queries.ts'
import { type Consent, listConsents } from '#features/people/accounts/terms/queries.ts'
import { type FormState, formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { organizationPath, PATHS, userPath, withQuery } from '#web/kit/paths.ts'
import { relatedPart } from '#web/moderate/people/related-part.ts'
import { historyParts, recordFacts, timelinePart } from '#web/moderate/people/user-history.ts'
import { loadRecord, NOTE_LABELS, notePart, type RecordedUser, saveNote } from '#web/moderate/people/user-note.ts'
import { dayText, exactTime, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { showOperator } from '../sections.ts'
import { accountLimitPages, limitsPart } from './account-limits.ts'
import { accountPath, accountStatus, OPERATOR_AREA, roleName } from './accounts.ts'
import { loadAccount, type ManagedAccount, rankPages, suspensionPages } from './confirmed.ts'
import { credentialPages, identityPages } from './credentials.ts'
import { removalPages } from './removal.ts'
import { sessionPages, sessionsPart } from './sessions.ts'

type Data = ManagedAccount & RecordedUser & { organizations: Awaited<ReturnType<typeof listOrganizationsOf>> }

export function userPages(pages: Pages): void {
  formPage<Data>(pages, {
    path: `${PATHS.operatorUser}/:id`,
    name: 'operateAccount',
    shows: 'An account: facts, sessions, decisions about it, its record, the shared note',
    api: 'getUserByEmail listUserSessions getUserRecord listRelatedAccounts getUserNote writeUserNote',
    options: { role: 'admin' },
    load: async (request) => {
      const managed = await loadAccount(request)
      const organizations = await listOrganizationsOf(request.deps.db, managed.account.id)
      return { ...managed, ...(await loadRecord(request.deps, managed.account)), organizations }
    },
    show: showAccount,
    commands: { note: saveNote },
    labels: NOTE_LABELS,
  })
  rankPages(pages)
  suspensionPages(pages)
  credentialPages(pages)
  identityPages(pages)
  sessionPages(pages)
  removalPages(pages)
  accountLimitPages(pages)
}

async function showAccount(request: OwnRequest, data: Data, form: FormState): Promise<FastifyReply> {
  const { page, t } = request
  const { account, record } = data
  return showOperator(request, {
    section: PATHS.operatorUsers,
    heading: account.username,
    form,
    facts: [accountStatus(page, account), roleName(page, account.role)],
    action: html`<a class="button" href="${pathTo(page, userPath(account.username))}">${t('ops.account.profile')}</a>`,
    body: [
      stateNote(page, data),
      factsPart(page, data, (await listConsents(request.deps.db, account.id))[0]),
      decisionsPart(page, data, account.id === request.viewer.id),
      await sessionsPart(request, data),
      await limitsPart(request, data),
      notePart(page, { note: data.note, path: accountPath(account.id) }, form),
      timelinePart(page, record),
      historyParts(page, record),
      await relatedPart(request, OPERATOR_AREA, account),
    ],
  })
}

function stateNote(page: PageContext, { account }: ManagedAccount): Part {
  const { t } = page.language
  if (account.deletion_due !== null)
    return html`<div class="part">${note(page, 'bad', t('ops.account.leaving.text', { date: dayText(page.language, account.deletion_due) }))}</div>`
  if (!isSuspended(account, page.now)) return null
  const until = account.suspended_until
  const text =
    until === null
      ? t('ops.account.suspended.open')
      : t('ops.account.suspended.until', { date: dayText(page.language, until) })
  return html`<div class="part">${note(page, 'bad', html`<p>${text}</p><p dir="auto">${account.suspension_reason}</p>`)}</div>`
}

function factsPart(
  page: PageContext,
  { account, figures, record, organizations }: Data,
  consent: Consent | undefined,
): Part {
  const { t } = page.language
  const number = (value: number) => wholeNumber(page.language, value)
  const rows: [label: string, value: Part][] = [
    [t('ops.account.id'), html`<code>${account.id}</code>`],
    [
      t('ops.account.email'),
      account.email === null
        ? t('ops.account.no-email')
        : html`<bdi>${account.email}</bdi>${account.email_verified ? '' : ` (${t('ops.account.unverified')})`}`,
    ],
    [t('ops.account.since'), exactTime(page.language, account.created)],
    [
      t('ops.account.seen'),
      figures.seen === null ? t('ops.accounts.never') : timeAgo(page.language, figures.seen, page.now),
    ],
    [t('ops.account.two-factor'), hasSecondFactor(account) ? t('ops.on') : t('ops.off')],
    [t('ops.account.sessions'), number(figures.sessions)],
    [t('ops.account.tokens'), number(figures.tokens)],
    [
      t('ops.account.projects'),
      t('ops.account.projects.count', { count: figures.projects, visible: figures.publicProjects }),
    ],
    [t('ops.account.organizations'), organizationLinks(page, organizations)],
    ...recordFacts(page, record),
    [t('ops.account.terms'), consentText(page, consent)],
    [t('ops.account.badges'), badgesOf(account.badges).join(', ') || t('ops.none')],
    [t('operate.audit-log'), logLinks(page, account.id)],
  ]
  const content = html`<dl class="pairs wide">${rows.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`
  return sheetPart({ id: 'account', title: t('ops.account.facts'), content })
}

function organizationLinks(page: PageContext, organizations: Data['organizations']): Part {
  if (organizations.length === 0) return page.language.t('ops.none')
  return organizations.map(
    ({ name, slug }, index) =>
      html`${index > 0 && ', '}<a href="${pathTo(page, organizationPath(slug))}"><bdi>${name}</bdi></a>`,
  )
}

function consentText({ language }: PageContext, consent: Consent | undefined): string {
  if (consent === undefined) return language.t('ops.account.terms.none')
  const { version, agreed } = consent
  return language.t('ops.account.terms.agreed', { version: String(version), time: dayText(language, agreed) })
}

/** Renders links to the entries of the audit log by the account and about it. */
function logLinks(page: PageContext, id: string): Part {
  const { t } = page.language
  const link = (query: Readonly<Record<string, string>>, text: string) =>
    html`<a href="${pathTo(page, withQuery('/operator/audit-log', query))}">${text}</a>`
  return html`${link({ actor: id }, t('ops.account.log.by'))}, ${link({ subject_kind: 'user', subject_id: id }, t('ops.account.log.about'))}`
}

function decisionsPart(page: PageContext, { account }: ManagedAccount, isOwn: boolean): Part {
  const { t } = page.language
  const suspended = isSuspended(account, page.now)
  const leaving = account.deletion_due !== null
  const exporting = ['export', t('ops.account.export'), false] as const
  // Operators delete their own account in its settings, and cannot suspend it.
  const suspensions: (readonly [path: string, label: string, isDanger: boolean])[] = [
    suspended ? ['unsuspend', t('ops.account.unsuspend'), false] : ['suspend', t('ops.account.suspend'), true],
    ['delete', t('ops.account.delete'), true],
  ]
  const links: (readonly [path: string, label: string, isDanger: boolean])[] = leaving
    ? [['restore', t('ops.account.restore'), false], exporting]
    : [
        ['role', t('ops.account.role'), false],
        ['badges', t('ops.account.badges.change'), false],
        ['username', t('ops.account.username'), false],
        ['email', t('ops.account.email.change'), false],
        ['password-link', t('ops.account.link'), false],
        ...(!hasSecondFactor(account) ? [] : [['two-factor', t('ops.account.two-factor.reset'), true] as const]),
        exporting,
        ['sign-out', t('ops.account.sign-out'), true],
        ...(isOwn ? [] : suspensions),
      ]
  const content = html`<div class="line">${links.map(
    ([path, label, isDanger]) =>
      html`<a class="${isDanger ? 'button danger' : 'button'}" href="${pathTo(page, `${accountPath(account.id)}/${path}`)}">${label}</a>`,
  )}</div>`
  return sheetPart({
    id: 'decisions',
    title: t('ops.account.decisions'),
    text: isOwn ? t('ops.account.own') : t('ops.account.decisions.text'),
    content,
  })
}
