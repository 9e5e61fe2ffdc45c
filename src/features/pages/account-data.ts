// One's data: taking a copy, and deleting the account.

import { deleteAccount } from '#features/personal-data/delete-account.ts'
import { exportData } from '#features/personal-data/export-data.ts'
import { validationError } from '#lib/errors.ts'
import { attempt, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'

export function accountDataPages(pages: Pages, { deps, cookie }: PageDeps): void {
  const title = 'Your data'
  pages.own('GET', PATHS.data, 'showData', async ({ show }) => show('data', { title }))
  pages.own('POST', `${PATHS.data}/export`, 'takeData', async ({ viewer, reply }) =>
    reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="depot-account.json"')
      .send(await exportData(deps, viewer)),
  )
  pages.own('POST', `${PATHS.data}/delete`, 'removeAccount', async ({ viewer, account, reply, field, show, lead }) => {
    const { fault } = await attempt(
      async () => {
        if (field('username') !== account.username)
          throw validationError('username', 'is not yours as it is written here')
        await deleteAccount(deps, viewer, account.id)
      },
      { username: 'The username' },
    )
    if (fault !== undefined) return show('data', { title, status: fault.status, fault })
    cookie.clear(reply)
    return lead(PATHS.signIn, 'account-deleted')
  })
}
