// The limits of an account and what it has stored: the part of its page, and the page that changes the limits.
import { actorOf } from '#features/basics/audit/actor.ts'
import { QUOTA_KINDS } from '#features/basics/limits/quota.ts'
import { type AccountLimits, getAccountLimits } from '#features/people/accounts/administration/limits.ts'
import { LimitsInput, toLimits } from '#features/people/accounts/administration/requests.ts'
import { setLimits } from '#features/people/accounts/administration/set-limits.ts'
import { numberOf } from '#web/kit/forms/fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { pairs } from '#web/moderate/parts.ts'
import { fileSize } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { accountPath } from './accounts.ts'
import { confirmOperator, decisionPage, type ManagedAccount } from './confirmed.ts'

export function accountLimitPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'limits',
    name: 'operateAccountLimits',
    shows: 'The limits of an account',
    api: 'getUserLimits setUserLimits',
    title: ({ t }, { account }) => t('ops.account-limits.title', { name: account.username }),
    button: ({ t }) => t('ops.account-limits.save'),
    consequences: ({ t }) => [t('ops.account-limits.empty'), t('ops.account-limits.kept')],
    fields: limitFields,
    decide: async (request, { account }, form) => {
      const sent = QUOTA_KINDS.map((kind) => [kind, form.text(kind).trim()] as const)
      const values = sent.map(([kind, text]) => [kind, text === '' ? null : numberOf(text)])
      const limits = toLimits(checkValues(LimitsInput, Object.fromEntries(values)))
      await confirmOperator(request, form)
      await setLimits(request.deps, actorOf(request.viewer), { name: account.id, limits })
      return { done: 'account-changed', path: accountPath(account.id) }
    },
    labels: {
      projects: 'The limit of projects',
      organizations: 'The limit of organizations',
      collections: 'The limit of collections',
    },
    isDanger: false,
  })
}

async function limitFields(
  { page, deps, t }: OwnRequest,
  { account }: ManagedAccount,
  { text, errors }: FormState,
): Promise<Part> {
  const limits = await getAccountLimits(deps, account)
  return html`${QUOTA_KINDS.map((kind) =>
    textField(page, {
      name: kind,
      label: t(`ops.account-limits.${kind}`),
      hint: usage(t, limits[kind]),
      value: text(kind, String(limits[kind].override ?? '')),
      isOptional: true,
      inputMode: 'numeric',
      errors,
    }),
  )}`
}

const usage = (t: OwnRequest['t'], { current, max }: AccountLimits['projects']): string =>
  max === null ? t('ops.account-limits.unlimited', { current }) : t('ops.account-limits.usage', { current, max })

/** Renders what an account owns with its limits, and what it has stored. */
export async function limitsPart({ page, deps, t }: OwnRequest, { account }: ManagedAccount): Promise<Part> {
  const limits = await getAccountLimits(deps, account)
  const { versions: count, bytes } = limits
  const stored = t('ops.account-limits.stored.files', { count, size: fileSize(page.language, bytes) })
  const rows = QUOTA_KINDS.map((kind) => [t(`ops.account-limits.${kind}`), usage(t, limits[kind])] as const)
  const action = html`<a class="button tight" href="${pathTo(page, `${accountPath(account.id)}/limits`)}">${t('ops.account-limits.change')}</a>`
  const content = pairs([...rows, [t('ops.account-limits.stored'), stored]])
  return sheetPart({
    id: 'limits',
    title: t('ops.account-limits'),
    content,
    ...(account.deletion_due === null ? { action } : {}),
  })
}
