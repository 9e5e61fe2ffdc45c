// The pages on which an operator exports the data of an account, and deletes it after a preview.
import { actorOf } from '#features/basics/audit/actor.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { listOwnedNames, loadDeletionConsequences } from '#features/community/personal-data/count-belongings.ts'
import { deleteAccount } from '#features/community/personal-data/delete-account.ts'
import { exportUser } from '#features/community/personal-data/export-user.ts'
import { checkReason, UserExport } from '#features/people/accounts/administration/requests.ts'
import { DAY_MS } from '#lib/time.ts'
import { proofOf } from '#web/account/settings/settings-views.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { dayText, moneyText } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { accountPath } from './accounts.ts'
import { confirmOperator, confirmOwnerOf, decisionPage, type ManagedAccount, reasonField } from './confirmed.ts'

export function removalPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'export',
    name: 'operateExport',
    shows: 'Export of all data of an account',
    api: 'exportUserData',
    title: ({ t }, { account }) => t('ops.export.title', { name: account.username }),
    button: ({ t }) => t('ops.export.button'),
    consequences: ({ t }) => [t('ops.export.content'), t('ops.export.give')],
    fields: (request, _data, form) => reasonField(request, form, request.t('ops.export.reason')),
    decide: async (request, { account }, form) => {
      const { deps, viewer, reply } = request
      const reason = readReason(form)
      await confirmOperator(request, form)
      const data = await exportUser(deps, actorOf(viewer), { name: account.id, reason })
      return reply
        .type('application/json; charset=utf-8')
        .header('content-disposition', `attachment; filename="depot-account-${account.id}.json"`)
        .send(data)
    },
    labels: { reason: 'The reason' },
    isDanger: false,
  })
  decisionPage(pages, {
    path: 'delete',
    name: 'operateDelete',
    shows: 'Deletion of an account with a preview',
    api: 'deleteUser',
    title: ({ t }, { account }) => t('ops.delete.title', { name: account.username }),
    button: ({ t }, { account }) => t('ops.delete.button', { name: account.username }),
    consequences: deletionConsequences,
    fields: (request, _data, form) => reasonField(request, form, request.t('ops.delete.reason')),
    decide: async (request, { account }, form) => {
      const { deps, viewer } = request
      await deleteAccount({ ...deps, confirmOwner: confirmOwnerOf(request) }, viewer, {
        name: account.id,
        proof: proofOf((name) => form.text(name)),
        reason: readReason(form),
      })
      if (deps.config.accounts.deletionDays === 0) return { done: 'user-deleted', path: PATHS.operatorUsers }
      return { done: 'user-leaving', path: accountPath(account.id) }
    },
    labels: { reason: 'The reason' },
  })
}

/** @throws ApiError `validation_error` naming `reason`. */
const readReason = (form: FormState): string =>
  checkReason(checkValues(UserExport, { reason: form.text('reason') }).reason)

/** Renders a text with names, and the number of names that are left out. */
function listing({ language }: PageContext, text: string, names: readonly string[], total: number): Part {
  const more = total > names.length && language.t('ops.delete.more', { count: total - names.length })
  return html`${text} ${names.map((name, index) => html`${index > 0 && ', '}<bdi>${name}</bdi>`)} ${more}`
}

async function deletionConsequences(
  { page, deps, language, t }: OwnRequest,
  { account }: ManagedAccount,
): Promise<Part[]> {
  const { deletionDays } = deps.config.accounts
  const { balance, ...counts } = await loadDeletionConsequences(deps, account.id)
  const names = await listOwnedNames(deps.db, account.id)
  const due = dayText(language, new Date(deps.now() + deletionDays * DAY_MS))
  const { currency } = await getSettings(deps)
  return [
    deletionDays === 0 ? t('ops.delete.final') : t('ops.delete.undo', { date: due }),
    t('ops.delete.access', counts),
    counts.projects > 0 &&
      listing(page, t('ops.delete.projects', { count: counts.projects }), names.projects, counts.projects),
    counts.reviewing > 0 && t('data.stay.reviewing', { count: counts.reviewing }),
    counts.organizations > 0 &&
      listing(
        page,
        t('ops.delete.organizations', { count: counts.organizations }),
        names.organizations,
        counts.organizations,
      ),
    t('ops.delete.lost', counts),
    balance !== undefined &&
      t('ops.delete.balance', {
        available: moneyText(language, balance.available, currency),
        pending: moneyText(language, balance.pending, currency),
      }),
    deletionDays > 0 && t(mailKey(page, 'ops.delete.mail')),
  ].filter((part) => part !== false)
}
