// One's data: taking a copy, and deleting the account.

import type { FastifyReply } from 'fastify'
import { deleteAccount } from '#features/operations/personal-data/delete-account.ts'
import { exportData } from '#features/operations/personal-data/export-data.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { validationError } from '#lib/errors.ts'
import type { AccountPageRequest, FormRefusal } from '#web/kit/page-request.ts'
import { attempt, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { accountDataView } from './settings-views.ts'

export function accountDataPages(pages: Pages, given: PageDeps): void {
  const { deps, accounts, cookie } = given
  pages.own('GET', PATHS.data, 'showData', async (request) => showData(request, given))
  pages.own(
    'POST',
    `${PATHS.data}/export`,
    'takeData',
    async ({ viewer, reply }) =>
      reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', 'attachment; filename="depot-account.json"')
        .send(await exportData(deps, viewer)),
    { whenReadOnly: 'answers' },
  )
  pages.own('POST', `${PATHS.data}/delete`, 'removeAccount', async (request) => {
    const { viewer, account, reply, field, redirect } = request
    const { refusal } = await attempt(
      async () => {
        if (field('username') !== account.username)
          throw validationError('username', 'is not yours as it is written here')
        const confirmOwner = createConfirmOwner(accounts)
        await deleteAccount({ ...deps, confirmOwner }, viewer, { name: account.id, proof: {} })
      },
      { username: 'The username', password: 'The password' },
    )
    if (refusal !== undefined) return showData(request, given, refusal)
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'account-deleted')
  })
}

/** The page; before it offers the deletion it asks for the password again. */
export async function showData(
  { page, viewer, account, showSettings }: AccountPageRequest,
  { deps }: PageDeps,
  refusal?: FormRefusal,
): Promise<FastifyReply> {
  const isKnown = await isConfirmed(deps.db, viewer, deps.now())
  const { deletionDays } = deps.config.accounts
  const body = accountDataView(page, { account, isConfirmed: isKnown, deletionDays, refusal })
  return showSettings({ title: page.language.t('settings.data'), body, refusal })
}
