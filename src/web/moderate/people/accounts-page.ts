// The list of accounts, for moderators and, with more columns and actions, for operators: filters, bulk actions and their undo.
import { isSuspended } from '#features/basics/access/accounts.ts'
import { seesEmails } from '#features/community/moderation/accounts/policy.ts'
import { type ListedAccount, listFilteredAccounts } from '#features/community/moderation/accounts/queries.ts'
import { ACCOUNT_ORDERS, ACCOUNTS_MAX, ROLES } from '#features/community/moderation/accounts/requests.ts'
import { emailDomain } from '#features/community/moderation/accounts/views.ts'
import { listCleanups } from '#features/community/moderation/cleanup/queries.ts'
import { CLEANUP_UNDO_MS } from '#features/community/moderation/cleanup/requests.ts'
import { type FormState, formPage } from '#web/kit/forms/form-page.ts'
import { lostTexts } from '#web/kit/forms/lost-input.ts'
import { attempt } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { datedDayText, timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, errorSummary } from '#web/ui/parts/fields.ts'
import { sheetHead } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { bulkForm, listTable, nameCell } from '#web/ui/parts/tables.ts'
import { moderatedUser, showSection } from '../frame.ts'
import { filterForm } from '../parts.ts'
import {
  type AccountArea,
  type AccountsData,
  accountsPath,
  FLAGS,
  filterOf,
  readAccountChoice,
} from './accounts-request.ts'
import { cleanupCommands, cleanupsPart, showCleanupForm } from './cleanup-form.ts'

/** Names of the filters in error messages. */
const LABELS = {
  registered_from: 'The first day',
  registered_to: 'The last day',
  address_range: 'The address range',
  email_domain: 'The email domain',
  message: 'The message',
  password: 'The password',
  code: 'The code',
}

/** Registers the list of accounts for a role. */
export function accountsPage(pages: Pages, area: AccountArea): void {
  formPage<AccountsData>(pages, {
    path: area.path,
    name: area.name,
    shows: 'Accounts, the cleanups that can be undone',
    api: `listAccounts cleanUpAccounts listCleanups undoCleanup approveAccounts ${area.api ?? ''}`.trim(),
    options: { role: area.role },
    load: (request) => loadAccounts(request),
    show: (request, data, form) =>
      // A conflict means that no account is left: the list shows why.
      request.field('do') === 'confirm' && form.refusal !== undefined && form.refusal.status !== 409
        ? showCleanupForm(request, area, data, form)
        : showAccounts(request, area, data, form),
    commands: cleanupCommands(area),
    labels: LABELS,
  })
}

/** The page of moderators. */
export const MODERATOR_AREA: AccountArea = {
  path: PATHS.moderationUsers,
  name: 'moderateAccounts',
  role: 'moderator',
  actions: ['spam'],
  accountPath: moderatedUser,
  frame: (request, { total, body, ...of }) => {
    const title = request.t('moderate.accounts')
    const head = sheetHead({ title, text: request.t('moderate.accounts.text', { count: total }) })
    return showSection(request, { ...of, section: PATHS.moderationUsers, title, body: [head, body] })
  },
}

export const moderatedAccountsPage = (pages: Pages): void => accountsPage(pages, MODERATOR_AREA)

async function loadAccounts(request: OwnRequest): Promise<AccountsData> {
  const { deps, viewer } = request
  const choice = readAccountChoice(request)
  const now = new Date(deps.now())
  const { value, refusal } = await attempt(async () => {
    const page = { filter: filterOf(choice), sort: choice.sort, limit: ACCOUNTS_MAX }
    const reading = { searchesEmail: seesEmails(viewer), now }
    return listFilteredAccounts(deps.db, { ...page, offset: (choice.page - 1) * ACCOUNTS_MAX }, reading)
  }, LABELS)
  const cleanups = await listCleanups(deps.db, new Date(deps.now() - CLEANUP_UNDO_MS))
  return { choice, cleanups, ...(value ?? { accounts: [], total: 0 }), wrong: refusal }
}

function showAccounts(request: OwnRequest, area: AccountArea, data: AccountsData, form: FormState) {
  const { page, t, query } = request
  const { choice, accounts, total, wrong } = data
  const href = (number: number) => pathTo(page, accountsPath(area.path, { ...choice, page: number }))
  const none = emptyState(page, {
    icon: 'users',
    title: t('moderate.accounts.none'),
    action: html`<p><a class="button" href="${pathTo(page, area.path)}">${t('moderate.accounts.all')}</a></p>`,
  })
  return area.frame(request, {
    total,
    form,
    notice: { count: Number(query('count')) || 0, kept: Number(query('kept')) || 0 },
    notes: wrong === undefined ? unsentMessage(request, form) : errorSummary(page, [wrong]),
    ...(wrong === undefined ? {} : { status: wrong.status }),
    body: [
      cleanupsPart(request, area, data),
      filters(request, data),
      accounts.length > 0 ? list(request, area, data, form) : wrong === undefined && none,
      pager(page, { current: choice.page, last: Math.max(1, Math.ceil(total / ACCOUNTS_MAX)), href }),
    ],
  })
}

/** Returns the message of a cleanup that did nothing, because others have cleaned up all its accounts. */
function unsentMessage(request: OwnRequest, form: FormState): Part {
  const message = form.text('message').trim()
  const isUnsent = form.refusal?.status === 409 && message !== ''
  return isUnsent && html`<div class="part">${lostTexts(request, [[request.t('moderate.message'), message]])}</div>`
}

function filters({ page, viewer }: OwnRequest, { choice, wrong }: AccountsData): Markup {
  const searchesEmail = seesEmails(viewer)
  const { t } = page.language
  const yesNo = (['yes', 'no'] as const).map((value) => ({ value, label: t(`moderate.accounts.${value}`) }))
  const typed = (name: 'registered_from' | 'registered_to' | 'address_range' | 'email_domain') => {
    const of = { name, label: t(`moderate.accounts.${name}`), value: choice[name], isInvalid: wrong?.field === name }
    // A browser shows no value of a date field that is a time: links contain times.
    return name.startsWith('registered') && !choice[name].includes('T') ? { ...of, type: 'date' as const } : of
  }
  return filterForm(page, {
    search: {
      name: 'query',
      label: t(searchesEmail ? 'moderate.accounts.search.email' : 'moderate.accounts.search'),
      value: choice.query,
    },
    typed: [
      typed('registered_from'),
      typed('registered_to'),
      { ...typed('address_range'), placeholder: '192.0.2.0/24' },
      { ...typed('email_domain'), placeholder: 'example.org' },
    ],
    selects: [
      ...FLAGS.map((name) => ({ name, label: t(`moderate.accounts.${name}`), value: choice[name], choices: yesNo })),
      {
        name: 'role',
        label: t('moderate.accounts.role'),
        value: choice.role,
        choices: ROLES.map((value) => ({ value, label: t(`reports.role.${value}`) })),
      },
      {
        name: 'sort',
        label: t('moderate.sort'),
        value: choice.sort,
        choices: ACCOUNT_ORDERS.map((value) => ({ value, label: t(`moderate.accounts.sort.${value}`) })),
        hasAny: false,
      },
    ],
  })
}

function list(request: OwnRequest, area: AccountArea, data: AccountsData, form: FormState): Markup {
  const { page, t } = request
  const { choice, accounts } = data
  const all = checkbox({
    name: 'all',
    value: 'yes',
    isChecked: form.list('all').includes('yes'),
    label: t('moderate.accounts.all-here', { count: accounts.length }),
  })
  return bulkForm(page, {
    action: pathTo(page, accountsPath(area.path, choice)),
    table: accountTable(request, area, accounts, undefined, form.list('ids')),
    fields: all,
    actions: [
      ...(accounts.some((account) => account.awaits_approval) ? ['approve' as const] : []),
      ...area.actions,
    ].map((value) => ({ value, label: t(`moderate.cleanup.${value}`) })),
  })
}

/** Renders accounts with the facts by which those that belong together can be recognized. */
export function accountTable(
  request: OwnRequest,
  area: Pick<AccountArea, 'accountPath'>,
  accounts: readonly ListedAccount[],
  extra?: { label: string; valueOf(account: ListedAccount): string },
  picked: readonly string[] = [],
): Markup {
  const { page, t, viewer } = request
  const columns = [
    { label: t('moderate.accounts.name') },
    { label: t('moderate.accounts.registered'), room: 'far' },
    { label: t('moderate.accounts.origin'), room: 'mid' },
    { label: t('moderate.accounts.projects'), isNumber: true },
    { label: t('moderate.accounts.status'), room: 'mid' as const },
    ...(extra === undefined ? [] : [{ label: extra.label, room: 'mid' as const }]),
  ] as const
  const rows = accounts.map((account) => {
    const since = datedDayText(page.language, account.created)
    const state = accountState(page, account)
    const details = seesEmails(viewer) ? account.email : emailDomain(account)
    const name = nameCell({
      href: pathTo(page, area.accountPath(account.id)),
      name: account.username,
      details,
      near: since,
      least: [originText(account), state, extra?.valueOf(account)],
    })
    const isPickable = account.id !== viewer.id && account.role !== 'admin' && account.service_of === null
    const pick = { value: account.id, name: account.username, isPicked: picked.includes(account.id) }
    return {
      cells: [
        name,
        since,
        originText(account),
        wholeNumber(page.language, account.projects),
        state,
        ...(extra === undefined ? [] : [extra.valueOf(account)]),
      ],
      ...(isPickable ? { pick } : {}),
    }
  })
  return listTable(page, { caption: t('moderate.accounts'), columns, rows })
}

/** Renders the newest origin: the range of the address and the device. */
const originText = ({ origins: [origin] }: ListedAccount): Part =>
  origin === undefined
    ? null
    : html`<code>${origin.address_range}</code>${origin.device !== null && html`<br><small><bdi>${origin.device}</bdi></small>`}`

/** Renders whether an account is active, suspended or about to be deleted, and a role other than that of most users. */
function accountState(page: PageContext, account: ListedAccount): Part {
  const { t } = page.language
  if (account.deletion_due !== null)
    return status(page, { kind: 'bad', icon: 'trash', label: t('moderate.accounts.leaving') })
  if (account.awaits_approval)
    return status(page, { kind: 'wait', icon: 'wait', label: t('moderate.accounts.waiting-now') })
  if (isSuspended(account, page.now))
    return status(page, { kind: 'bad', icon: 'ban', label: t('moderate.accounts.suspended-now') })
  const role = account.role !== 'developer' && t(`reports.role.${account.role as (typeof ROLES)[number]}`)
  const seen =
    account.seen === null
      ? t('moderate.accounts.never')
      : page.language.rich('moderate.accounts.signed-in', { time: timeAgo(page.language, account.seen, page.now) })
  return html`${role !== false && html`<span class="strong">${role}</span> `}<small>${seen}</small>`
}
