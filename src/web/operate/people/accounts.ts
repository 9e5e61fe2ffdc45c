// Accounts for operators: the list of moderators with email addresses and more actions.
import { isSuspended } from '#features/basics/access/accounts.ts'
import { CLEANUP_ACTIONS } from '#features/community/moderation/cleanup/requests.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { accountsPage } from '#web/moderate/people/accounts-page.ts'
import type { AccountArea } from '#web/moderate/people/accounts-request.ts'
import type { Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { status } from '#web/ui/parts/status.ts'
import { showOperator } from '../sections.ts'

export const accountPath = (id: string): string => `${PATHS.operatorUser}/${id}`

/** The page of operators. */
export const OPERATOR_AREA: AccountArea = {
  path: PATHS.operatorUsers,
  name: 'operateAccounts',
  role: 'admin',
  actions: CLEANUP_ACTIONS,
  api: 'listSuspendedUsers listDeletedUsers',
  accountPath,
  frame: (request, { total, ...of }) =>
    showOperator(request, {
      ...of,
      section: PATHS.operatorUsers,
      heading: request.t('ops.accounts'),
      text: request.t('moderate.accounts.text', { count: total }),
    }),
}

export const accountPages = (pages: Pages): void => accountsPage(pages, OPERATOR_AREA)

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
