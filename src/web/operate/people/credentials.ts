// Sessions, password links and pending deletions of an account.

import { actorOf } from '#features/basics/audit/actor.ts'
import { makePasswordLink } from '#features/people/accounts/administration/make-password-link.ts'
import { signOutAccount } from '#features/people/accounts/administration/sign-out-account.ts'
import { restoreAccount } from '#features/people/accounts/deletion/restore-account.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { exactTime } from '#web/ui/format.ts'
import { html } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { checkbox } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { showOperator } from '../sections.ts'
import { accountPath } from './accounts.ts'
import { confirmOperator, decisionPage, type ManagedAccount } from './confirmed.ts'

export function credentialPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'sign-out',
    name: 'operateSignOut',
    api: 'signOutUser',
    title: ({ page }, { account }) => page.language.t('ops.sign-out.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.sign-out.button'),
    consequences: ({ page }, { figures }) => [page.language.t('ops.sign-out.effect', { count: figures.sessions })],
    fields: ({ page }, { figures }, form) =>
      checkbox({
        name: 'tokens',
        value: 'true',
        isChecked: form.list('tokens').includes('true'),
        label: page.language.t('ops.sign-out.tokens', { count: figures.tokens }),
      }),
    decide: async (request, { account }, form) => {
      await confirmOperator(request, form)
      const tokens = form.list('tokens').includes('true')
      await signOutAccount(request.deps, actorOf(request.viewer), { name: account.id, tokens })
      return { done: 'account-signed-out', path: accountPath(account.id) }
    },
  })
  decisionPage(pages, {
    path: 'password-link',
    name: 'operatePasswordLink',
    api: 'makePasswordLink',
    title: ({ page }, { account }) => page.language.t('ops.link.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.link.button'),
    consequences: ({ page }) => [page.language.t('ops.link.effect'), page.language.t('ops.link.once')],
    decide: async (request, data, form) => {
      await confirmOperator(request, form)
      const link = await makePasswordLink(request.deps, actorOf(request.viewer), data.account.id)
      return showLink(request, data, link)
    },
    isDanger: false,
  })
  decisionPage(pages, {
    path: 'restore',
    name: 'operateRestore',
    api: 'restoreUser',
    title: ({ page }, { account }) => page.language.t('ops.restore.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.account.restore'),
    consequences: ({ page }) => [
      page.language.t('ops.restore.effect'),
      page.language.t(mailKey(page, 'ops.restore.sessions')),
    ],
    decide: async (request, { account }, form) => {
      await confirmOperator(request, form)
      await restoreAccount(request.deps, actorOf(request.viewer), account.id)
      return { done: 'account-restored', path: accountPath(account.id) }
    },
    isDanger: false,
  })
}

/** Shows the link, which is not stored and cannot be shown again. */
function showLink(request: OwnRequest, { account }: ManagedAccount, { url, expires }: { url: string; expires: Date }) {
  const { page, t, rich } = request
  return showOperator(request, {
    section: PATHS.operatorUsers,
    heading: t('ops.link.heading', { name: account.username }),
    isSecret: true,
    body: sheetPart({
      id: 'link',
      content: html`<p>${rich('ops.link.give', { time: exactTime(page.language, expires) })}</p>
<p><code class="secret">${url}</code></p>
<div class="line"><a class="button" href="${pathTo(page, accountPath(account.id))}">${t('ops.link.back')}</a></div>`,
    }),
  })
}
