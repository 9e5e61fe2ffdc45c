// Data and devices: where the user is signed in, the export of their data, and the deletion of the account.

import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import {
  type DeletionConsequences,
  loadDeletionConsequences,
} from '#features/community/personal-data/count-belongings.ts'
import { deleteAccount } from '#features/community/personal-data/delete-account.ts'
import { exportData } from '#features/community/personal-data/export-data.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { validationError } from '#lib/errors.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { moneyText } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm, form, textField } from '#web/ui/parts/fields.ts'
import { showSettings } from '../account-layout.ts'
import { providersOf } from '../sign-in/sign-in.ts'
import { devicesSection } from './sessions.ts'
import { confirm, confirmForm, hasConfirmed } from './settings-views.ts'

export function accountDataPages(pages: Pages): void {
  formPage<boolean>(pages, {
    path: PATHS.data,
    name: 'showData',
    shows: 'Devices that are signed in, export of all data, deletion of the account',
    api: 'listSessions deleteSession exportData deleteUser',
    load: hasConfirmed,
    show: showData,
    commands: { confirm, delete: remove },
    labels: { username: 'The username', password: 'The password', code: 'The code' },
  })
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
}

async function remove({ deps, accounts, cookie, viewer, account, reply, field }: OwnRequest): Promise<Outcome> {
  if (field('username') !== account.username) throw validationError('username', 'does not match your username')
  await deleteAccount({ ...deps, confirmOwner: createConfirmOwner(accounts) }, viewer, { name: account.id, proof: {} })
  cookie.clear(reply)
  return { path: PATHS.signIn, done: 'account-deleted' }
}

/** Shows the page, which asks for the password before it offers the deletion. */
async function showData(request: OwnRequest, isKnown: boolean, { refusal }: FormState): Promise<FastifyReply> {
  const { page, t } = request
  const body = html`${await devicesSection(request)}
<section class="section" id="export"><h2>${t('data.copy')}</h2>
<p class="soft">${t('data.copy.text')}</p>
<div>${buttonForm(page, { action: pathTo(page, `${PATHS.data}/export`), text: html`${icon(page, 'download')}${t('data.download')}` })}</div>
</section>
${await deletionSection(request, isKnown, refusal)}`
  return showSettings(request, { title: t('settings.data'), body, refusal })
}

async function deletionSection(
  { accounts, deps, page, viewer, account }: OwnRequest,
  isKnown: boolean,
  refusal?: FormRefusal,
): Promise<Markup> {
  const consequences = await loadDeletionConsequences(deps, viewer.id)
  const { currency } = await getSettings(deps)
  const { deletionDays } = deps.config.accounts
  const { t } = page.language
  const label = t('data.confirm', { username: account.username })
  const content = html`${textField(page, { name: 'username', label, maxLength: 39, autocomplete: 'off', isName: true, errors: errorsOf({ refusal }) })}
<div><button class="danger" name="do" value="delete">${t('data.delete-button')}</button></div>`
  return html`<section class="section" id="delete"><h2>${t('data.delete')}</h2>
<p>${deletionDays === 0 ? t('data.delete.final') : t('data.delete.undo', { days: deletionDays })}</p>
${consequencesList(page, consequences, currency)}
${isKnown ? form(page, { action: pathTo(page, PATHS.data), content }) : confirmForm(page, { account, refusal, path: PATHS.data, providers: providersOf(accounts) })}
</section>`
}

function consequencesList(page: PageContext, of: DeletionConsequences, currency: string | null): Part {
  const { language } = page
  const { t } = language
  const { projects, reviewing, organizations, balance, ...counts } = of
  const lost = [
    t('data.lose.profile'),
    t('data.lose.access', counts),
    counts.collections + counts.follows > 0 && t('data.lose.lists', counts),
    t('data.lose.reports', counts),
    balance !== undefined &&
      t('data.lose.balance', {
        available: moneyText(language, balance.available, currency),
        pending: moneyText(language, balance.pending, currency),
      }),
  ].filter((text) => text !== false)
  const transfer = (text: Part) => html`<a href="${pathTo(page, PATHS.dashboardProjects)}">${text}</a>`
  return html`<p>${t('data.lose')}</p>
<ul>${lost.map((text) => html`<li>${text}</li>`)}</ul>
${
  projects + organizations > 0 &&
  html`<p>${t('data.stay')}</p>
<ul><li>${t('data.stay.projects', { projects, organizations })}</li>${reviewing > 0 && html`<li>${t('data.stay.reviewing', { count: reviewing })}</li>`}</ul>
<p>${language.rich('data.instead', { link: transfer })}</p>`
}`
}
