// Exports the data of a user, and deletes the account.

import type { FastifyReply } from 'fastify'
import { deleteAccount } from '#features/operations/personal-data/delete-account.ts'
import { exportData } from '#features/operations/personal-data/export-data.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { isConfirmed } from '#features/people/accounts/sessions/queries.ts'
import { validationError } from '#lib/errors.ts'
import { buttonForm, form, textField } from '#platform/html/forms.ts'
import { html } from '#platform/html/html.ts'
import { icon, pathTo } from '#platform/html/page-context.ts'
import { attempt, errorsOf, type FormRefusal } from '#web/kit/forms.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { showSettings } from '../account-layout.ts'
import { confirmForm } from './settings-views.ts'

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
  const { t } = page.language
  const path = pathTo(page, PATHS.data)
  const label = t('data.confirm', { username: account.username })
  const content = html`${textField(page, { name: 'username', label, maxLength: 39, autocomplete: 'off', isName: true, errors: errorsOf({ refusal }) })}
<div><button class="danger">${t('data.delete-button')}</button></div>`
  const body = html`<section class="section"><h2>${t('data.copy')}</h2>
<p class="soft">${t('data.copy.text')}</p>
${buttonForm(page, { action: `${path}/export`, text: html`${icon(page, 'download')}${t('data.download')}` })}
</section>
<section class="section"><h2>${t('data.delete')}</h2>
<p>${t('data.delete.text')} ${deletionDays === 0 ? t('data.delete.final') : t('data.delete.undo', { days: deletionDays })}</p>
${hasConfirmed ? form(page, { action: `${path}/delete`, content }) : confirmForm(page, { account, refusal, next: 'data' })}
</section>`
  return showSettings(request, { title: t('settings.data'), body, refusal })
}
