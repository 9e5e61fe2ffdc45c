// Suspension of an account, with its consequences in numbers and the message that the user receives.

import { actorOf } from '#features/basics/audit/actor.ts'
import { Suspension, toSuspension } from '#features/people/accounts/administration/requests.ts'
import { suspendAccount, unsuspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { html, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { textArea, textField } from '#web/ui/parts/fields.ts'
import { accountPath } from './accounts.ts'
import { confirmOperator, decisionPage, type ManagedAccount } from './confirmed.ts'
import { timeAfter } from './typed-numbers.ts'

export function suspensionPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'suspend',
    name: 'operateSuspend',
    api: 'suspendUser',
    title: ({ page }, { account }) => page.language.t('ops.suspend.title', { name: account.username }),
    button: ({ page }, { account }) => page.language.t('ops.suspend.button', { name: account.username }),
    consequences: ({ page }, { figures }) => [
      page.language.t('ops.suspend.sessions', { sessions: figures.sessions, tokens: figures.tokens }),
      page.language.t('ops.suspend.projects', { count: figures.publicProjects }),
      page.language.t(mailKey(page, 'ops.suspend.mail')),
    ],
    fields: suspensionFields,
    decide: async (request, { account }, form) => {
      const { deps, viewer } = request
      const days = form.text('days').trim()
      const until = days === '' ? null : timeAfter(days, deps.now())
      const input = toSuspension(checkValues(Suspension, { reason: form.text('reason'), until }), deps.now())
      await confirmOperator(request, form)
      await suspendAccount(deps, actorOf(viewer), { name: account.id, ...input })
      return { done: 'account-suspended', path: accountPath(account.id) }
    },
    labels: { reason: 'The reason', until: 'The number of days' },
  })
  decisionPage(pages, {
    path: 'unsuspend',
    name: 'operateUnsuspend',
    api: 'unsuspendUser',
    title: ({ page }, { account }) => page.language.t('ops.unsuspend.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.account.unsuspend'),
    consequences: ({ page }) => [
      page.language.t('ops.unsuspend.effect'),
      page.language.t(mailKey(page, 'ops.unsuspend.mail')),
    ],
    decide: async (request, { account }, form) => {
      await confirmOperator(request, form)
      await unsuspendAccount(request.deps, actorOf(request.viewer), account.id)
      return { done: 'account-unsuspended', path: accountPath(account.id) }
    },
    isDanger: false,
  })
}

function suspensionFields({ page, t }: OwnRequest, _data: ManagedAccount, form: FormState): Part {
  const { errors } = form
  const wrong = errors.map((error) => (error.field === 'until' ? { ...error, field: 'days' } : error))
  return html`${textArea(page, { name: 'reason', label: t('ops.suspend.reason'), hint: t('ops.suspend.reason.hint'), value: form.text('reason'), maxLength: 1000, rows: 4, errors })}
${textField(page, { name: 'days', label: t('ops.suspend.days'), hint: t('ops.suspend.days.hint'), value: form.text('days'), isOptional: true, inputMode: 'numeric', errors: wrong })}`
}
