// Decisions about how another user signs in: sessions, the password, the second factor, the email address and the name.
import { actorOf } from '#features/basics/audit/actor.ts'
import { makePasswordLink } from '#features/people/accounts/administration/make-password-link.ts'
import { checkReason, EmailChange, TwoFactorReset } from '#features/people/accounts/administration/requests.ts'
import { resetTwoFactor } from '#features/people/accounts/administration/reset-two-factor.ts'
import { setEmail } from '#features/people/accounts/administration/set-email.ts'
import { signOutAccount } from '#features/people/accounts/administration/sign-out-account.ts'
import { restoreAccount } from '#features/people/accounts/deletion/restore-account.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { exactTime } from '#web/ui/format.ts'
import { html } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { checkbox, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { showOperator } from '../sections.ts'
import { accountPath } from './accounts.ts'
import { confirmOperator, decisionPage, type ManagedAccount, reasonField, saveUser } from './confirmed.ts'

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

export function identityPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'two-factor',
    name: 'operateTwoFactor',
    shows: 'Turning off two-factor sign-in of an account',
    api: 'resetTwoFactor',
    title: ({ page }, { account }) => page.language.t('ops.two-factor.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.two-factor.button'),
    consequences: ({ page }) => [
      page.language.t('ops.two-factor.effect'),
      page.language.t(mailKey(page, 'ops.two-factor.mail')),
    ],
    fields: (request, _data, form) => reasonField(request, form, request.t('ops.two-factor.reason')),
    decide: async (request, { account }, form) => {
      const reason = checkReason(checkValues(TwoFactorReset, { reason: form.text('reason') }).reason)
      await confirmOperator(request, form)
      await resetTwoFactor(request.deps, actorOf(request.viewer), { name: account.id, reason })
      return { done: 'account-changed', path: accountPath(account.id) }
    },
    labels: { reason: 'The reason' },
  })
  decisionPage(pages, {
    path: 'email',
    name: 'operateEmail',
    shows: 'The email address of an account',
    api: 'setUserEmail',
    title: ({ page }, { account }) => page.language.t('ops.email.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.email.save'),
    consequences: ({ page }) => [page.language.t('ops.email.links'), page.language.t('ops.email.sessions')],
    fields: ({ page, t }, { account }, form) =>
      html`${textField(page, { name: 'email', label: t('ops.account.email'), hint: t('ops.email.hint'), type: 'email', value: form.text('email', account.email ?? ''), maxLength: 254, errors: form.errors })}
${checkbox({ name: 'verified', value: 'true', isChecked: form.list('verified').includes('true'), label: t('ops.email.verified'), hint: t(mailKey(page, 'ops.email.verified.hint')) })}`,
    decide: async (request, { account }, form) => {
      const verified = form.list('verified').includes('true')
      const { email } = checkValues(EmailChange, { email: form.text('email').trim(), verified })
      await confirmOperator(request, form)
      const { isBlocked } = await setEmail(request.deps, actorOf(request.viewer), { name: account.id, email, verified })
      return { done: isBlocked ? 'blocked-email-set' : 'account-changed', path: accountPath(account.id) }
    },
    labels: { email: 'The email address' },
    isDanger: false,
  })
  decisionPage(pages, {
    path: 'username',
    name: 'operateUsername',
    shows: 'The name of an account',
    title: ({ page }, { account }) => page.language.t('ops.username.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.username.save'),
    consequences: ({ page }) => [page.language.t('ops.username.effect')],
    fields: ({ page, t }, { account }, form) =>
      textField(page, {
        name: 'username',
        label: t('ops.username.new'),
        value: form.text('username', account.username),
        maxLength: 39,
        errors: form.errors,
      }),
    decide: async (request, data, form) => {
      await confirmOperator(request, form)
      return saveUser(request, data, { form, patch: { username: form.text('username').trim() } })
    },
    labels: { username: 'The name' },
    isDanger: false,
  })
}
