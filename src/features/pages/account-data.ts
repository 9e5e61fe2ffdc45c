// One's data: taking a copy, and deleting the account.

import { deleteAccount } from '#features/personal-data/delete-account.ts'
import { exportData } from '#features/personal-data/export-data.ts'
import { validationError } from '#lib/errors.ts'
import type { AccountPageRequest, FormRefusal } from './page-request.ts'
import { attempt, type PageDeps, type Pages } from './page-request.ts'
import { PATHS } from './paths.ts'
import { accountDataView } from './settings-views.ts'

export function accountDataPages(pages: Pages, { deps, cookie }: PageDeps): void {
  pages.own('GET', PATHS.data, 'showData', async (request) => showData(request))
  pages.own('POST', `${PATHS.data}/export`, 'takeData', async ({ viewer, reply }) =>
    reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="depot-account.json"')
      .send(await exportData(deps, viewer)),
  )
  pages.own('POST', `${PATHS.data}/delete`, 'removeAccount', async (request) => {
    const { viewer, account, reply, field, redirect } = request
    const { refusal } = await attempt(
      async () => {
        if (field('username') !== account.username)
          throw validationError('username', 'is not yours as it is written here')
        await deleteAccount(deps, viewer, account.id)
      },
      { username: 'The username' },
    )
    if (refusal !== undefined) return showData(request, refusal)
    cookie.clear(reply)
    return redirect(PATHS.signIn, 'account-deleted')
  })
}

function showData({ page, account, showSettings }: AccountPageRequest, refusal?: FormRefusal) {
  const body = accountDataView(page, { account, refusal })
  return showSettings({ title: page.language.t('settings.data'), body, refusal })
}
