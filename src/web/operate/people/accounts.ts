// Accounts: search, and a table with status and figures.
import type { FastifyReply } from 'fastify'
import { isSuspended } from '#features/basics/access/accounts.ts'
import { listAccountFigures } from '#features/people/accounts/administration/queries.ts'
import { type AccountRow, listAccounts } from '#features/people/users/queries.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'

const ROWS = 50
const ROLES = ['admin', 'moderator', 'developer'] as const
const FILTERS = ['', ...ROLES, 'suspended'] as const

export const accountPath = (id: string): string => `${PATHS.operatorUser}/${id}`

export function accountPages(pages: Pages): void {
  pages.own('GET', PATHS.operatorUsers, 'operateAccounts', showAccounts, {
    role: 'admin',
    shows: 'Accounts by name, ID or email address',
    api: 'listSuspendedUsers listDeletedUsers',
  })
}

async function showAccounts(request: OwnRequest): Promise<FastifyReply> {
  const { page, deps, query, t } = request
  const [text, filter, current] = [query('q').trim(), query('show'), pageNumber(request)]
  const now = new Date(deps.now())
  const { accounts, total } = await listAccounts(deps.db, {
    role: ROLES.find((role) => role === filter),
    text: text === '' ? undefined : text,
    suspendedAt: filter === 'suspended' ? now : undefined,
    limit: ROWS,
    offset: (current - 1) * ROWS,
  })
  const figures = await listAccountFigures(
    deps.db,
    accounts.map(({ id }) => id),
    now,
  )
  const rows = accounts.map((account) => {
    const own = figures.get(account.id)
    const seen = own?.seen ? timeAgo(page.language, own.seen, page.now) : t('ops.accounts.never')
    const projects = wholeNumber(page.language, own?.projects ?? 0)
    return {
      cells: [
        nameCell({
          href: pathTo(page, accountPath(account.id)),
          name: account.username,
          details: account.email,
          least: [roleName(page, account.role)],
          near: seen,
        }),
        roleName(page, account.role),
        accountStatus(page, account),
        seen,
        projects,
      ],
    }
  })
  const columns = [
    { label: t('ops.accounts.name') },
    { label: t('ops.accounts.role'), room: 'mid' },
    { label: t('ops.accounts.status') },
    { label: t('ops.accounts.seen'), room: 'far' },
    { label: t('ops.accounts.projects'), isNumber: true },
  ] as const
  const href = (number: number) =>
    pathTo(page, withQuery(PATHS.operatorUsers, { q: text, show: filter, page: String(number) }))
  const found = [
    listTable(page, { caption: t('ops.accounts'), columns, rows }),
    pager(page, { current, last: Math.ceil(total / ROWS), href }),
  ]
  const none = emptyState(page, { icon: 'users', title: t('ops.accounts.none'), text: t('ops.accounts.none.text') })
  return showOperator(request, {
    section: PATHS.operatorUsers,
    heading: t('ops.accounts'),
    text: t('ops.accounts.text', { count: total }),
    body: [searchForm(page, { text, filter }), rows.length > 0 ? found : none],
  })
}

function searchForm(page: PageContext, { text, filter }: { text: string; filter: string }): Markup {
  const { t } = page.language
  const field = textField(page, {
    name: 'q',
    id: 'find-account',
    label: t('ops.accounts.search'),
    type: 'search',
    value: text,
    maxLength: 256,
    isOptional: true,
  })
  const choice = selectField(page, {
    name: 'show',
    label: t('ops.accounts.show'),
    isOptional: true,
    choices: FILTERS.map((value) => ({ value, label: filterName(page, value), isChosen: value === filter })),
  })
  const content = html`<form method="get" action="${pathTo(page, PATHS.operatorUsers)}" role="search" class="stack">${field}${choice}<div class="line"><button>${t('ops.accounts.find')}</button></div></form>`
  return sheetPart({ id: 'search', content })
}

function filterName(page: PageContext, value: (typeof FILTERS)[number]): string {
  const { t } = page.language
  if (value === '') return t('ops.accounts.all')
  return value === 'suspended' ? t('ops.accounts.suspended') : roleName(page, value)
}

export function roleName(page: PageContext, role: string): string {
  const { t } = page.language
  if (role === 'admin') return t('ops.role.admin')
  return role === 'moderator' ? t('ops.role.moderator') : t('ops.role.developer')
}

/** Renders whether an account is active, suspended or about to be deleted. */
export function accountStatus(page: PageContext, account: AccountRow): Part {
  const { t } = page.language
  if (account.deletion_due !== null)
    return status(page, { kind: 'bad', icon: 'trash', label: t('ops.account.leaving') })
  if (isSuspended(account, page.now))
    return status(page, { kind: 'bad', icon: 'ban', label: t('ops.account.suspended') })
  return status(page, { kind: 'good', icon: 'ok', label: t('ops.account.active') })
}
