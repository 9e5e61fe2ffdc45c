// Exports the data of a user, and deletes the account.

import type { FastifyReply } from 'fastify'
import { deleteAccount } from '#features/operations/personal-data/delete-account.ts'
import { exportData } from '#features/operations/personal-data/export-data.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { validationError } from '#lib/errors.ts'
import { attempt, type FormRefusal } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { accountDataView } from './settings-views.ts'

export function accountDataPages(pages: Pages): void {
  pages.own('GET', PATHS.data, 'showData', async (request) => showData(request))
  pages.own(
    'POST',
    `${PATHS.data}/export`,
    'takeData',
    async ({ deps, viewer, reply }) =>
      reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', 'attachment; filename="depot-account.json"')
        .send(await exportData(deps, viewer)),
    { whenReadOnly: 'answers' },
  )
  pages.own('POST', `${PATHS.data}/delete`, 'removeAccount', async (request) => {
    const { deps, accounts, cookie, viewer, account, reply, field, redirect } = request
    const { refusal } = await attempt(
      async () => {
        if (field('username') !== account.username) throw validationError('username', 'does not match your username')
        const confirmOwner = createConfirmOwner(accounts)
        await deleteAccount({ ...deps, confirmOwner }, viewer, { name: account.id, proof: {} })
      },
      { username: 'The username', password: 'The password' },
    )
    if (refusal !== undefined) return showData(request, refusal)
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'account-deleted')
  })
}

/** Shows the page, which asks for the password before it offers the deletion. */
export async function showData(request: OwnRequest, refusal?: FormRefusal): Promise<FastifyReply> {
  const { deps, page, viewer, account } = request
  const hasConfirmed = await isConfirmed(deps.db, viewer, deps.now())
  const { deletionDays } = deps.config.accounts
  const body = accountDataView(page, { account, isConfirmed: hasConfirmed, deletionDays, refusal })
  return showSettings(request, { title: page.language.t('settings.data'), body, refusal })
}
