// Decisions about another account: suspension, sign-out, a password link, restoration, role and badges. A page states the
// consequences, and asks for the password of an operator who has not entered it in the last 10 minutes.
import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import { BADGES, type Badge, badgesOf } from '#features/basics/access/permissions.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { type AccountFigures, listAccountFigures } from '#features/people/accounts/administration/queries.ts'
import { Suspension, toSuspension } from '#features/people/accounts/administration/requests.ts'
import { suspendAccount, unsuspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { type AccountRow, getAccountByName } from '#features/people/users/queries.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { proofOf, proofPart } from '#web/account/settings/settings-views.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, PageOptions, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { chips, optionCards } from '#web/ui/parts/choices.ts'
import { errorSummary, textArea, textField } from '#web/ui/parts/fields.ts'
import { accountPath, roleName } from './accounts.ts'
import { timeAfter } from './typed-numbers.ts'

export type ManagedAccount = { account: AccountRow; figures: AccountFigures }

const NOTHING: AccountFigures = { sessions: 0, tokens: 0, projects: 0, publicProjects: 0, seen: null }

/** Loads the account that the path names. @throws ApiError 404 */
export async function loadAccount({ deps, param }: OwnRequest): Promise<ManagedAccount> {
  const account = await getAccountByName(deps.db, param('id'), { withLeaving: true })
  const figures = await listAccountFigures(deps.db, [account.id], new Date(deps.now()))
  return { account, figures: figures.get(account.id) ?? NOTHING }
}

export const confirmOwnerOf = ({ accounts }: OwnRequest): ConfirmOwner => createConfirmOwner(accounts)

/** Confirms the operator by the fields of the form, as the routes of the API do. */
export async function confirmOperator(request: OwnRequest, form: FormState): Promise<void> {
  await confirmOwnerOf(request)(
    request.viewer,
    proofOf((name) => form.text(name)),
  )
}

type Decision = Pick<PageOptions, 'shows' | 'api'> & {
  /** Last part of the path. */
  path: string
  name: string
  title(request: OwnRequest, data: ManagedAccount): string
  button(request: OwnRequest, data: ManagedAccount): string
  consequences(request: OwnRequest, data: ManagedAccount, form: FormState): readonly Part[] | Promise<readonly Part[]>
  fields?(request: OwnRequest, data: ManagedAccount, form: FormState): Part | Promise<Part>
  decide(request: OwnRequest, data: ManagedAccount, form: FormState): Promise<Outcome>
  labels?: Readonly<Record<string, string>>
  isDanger?: boolean
}

/** Registers the confirmation page of a decision about an account. */
export function decisionPage(pages: Pages, of: Decision): void {
  formPage(pages, {
    path: `${PATHS.operatorUser}/:id/${of.path}`,
    name: of.name,
    shows: of.shows,
    api: of.api,
    options: { role: 'admin' },
    load: loadAccount,
    show: (request, data, form) => showDecision(request, data, { form, of }),
    commands: { confirm: of.decide },
    labels: { password: 'The password', code: 'The code', ...of.labels },
  })
}

async function showDecision(
  request: OwnRequest,
  data: ManagedAccount,
  { form, of }: { form: FormState; of: Decision },
) {
  const back = accountPath(data.account.id)
  const question = {
    title: of.title(request, data),
    consequences: await of.consequences(request, data, form),
    button: of.button(request, data),
    cancel: back,
    isDanger: of.isDanger ?? true,
    proof: await proofPart(request, form),
    fields: [errorSummary(request.page, form.errors), await of.fields?.(request, data, form)],
  }
  return showConfirmation(request, question, form)
}

/** Renders the field for the reason of a decision, for the audit log. */
export const reasonField = ({ page, t }: OwnRequest, { text, errors }: FormState, hint: string): Part =>
  textArea(page, {
    name: 'reason',
    label: t('ops.suspend.reason'),
    hint,
    value: text('reason'),
    maxLength: 1000,
    rows: 3,
    errors,
  })

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
    labels: { reason: 'The reason', until: 'The number of days', days: 'The number of days' },
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

const ROLES = ['developer', 'moderator', 'admin'] as const

export function rankPages(pages: Pages): void {
  decisionPage(pages, {
    path: 'role',
    name: 'operateRole',
    title: ({ page }, { account }) => page.language.t('ops.role.title', { name: account.username }),
    button: ({ page }, { account }) => page.language.t('ops.role.save', { name: account.username }),
    consequences: ({ page }) => [page.language.t('ops.role.effect'), page.language.t('ops.role.last')],
    fields: roleField,
    decide: (request, data, form) => saveUser(request, data, { form, patch: { role: form.text('role') } }),
    labels: { role: 'The role' },
    isDanger: false,
  })
  decisionPage(pages, {
    path: 'badges',
    name: 'operateBadges',
    title: ({ page }, { account }) => page.language.t('ops.badges.title', { name: account.username }),
    button: ({ page }) => page.language.t('ops.badges.save'),
    consequences: ({ page }) => [page.language.t('ops.badges.effect')],
    fields: ({ page }, { account }, form) => {
      const chosen = form.list('badges', badgesOf(account.badges))
      return chips(page, {
        legend: page.language.t('ops.account.badges'),
        name: 'badges',
        options: (Object.keys(BADGES) as Badge[]).map((badge) => ({
          value: badge,
          label: badge.toLowerCase().replaceAll('_', ' '),
          isChosen: chosen.includes(badge),
        })),
      })
    },
    decide: (request, data, form) => {
      const bits = form.list('badges').reduce((sum, badge) => sum | (BADGES[badge as Badge] ?? 0), 0)
      return saveUser(request, data, { form, patch: { badges: bits } })
    },
    isDanger: false,
  })
}

function roleField({ page }: OwnRequest, { account }: ManagedAccount, form: FormState) {
  const { t } = page.language
  const current = form.text('role', account.role)
  const texts = {
    developer: t('ops.role.developer.text'),
    moderator: t('ops.role.moderator.text'),
    admin: t('ops.role.admin.text'),
  }
  return html`${optionCards({
    legend: t('ops.accounts.role'),
    name: 'role',
    options: ROLES.map((role) => ({
      value: role,
      label: roleName(page, role),
      text: texts[role],
      isChosen: role === current,
    })),
  })}`
}

/** Saves the role, the badges or the name, and confirms the operator. */
export async function saveUser(
  request: OwnRequest,
  { account }: ManagedAccount,
  { form, patch }: { form: FormState; patch: object },
) {
  const { deps, viewer } = request
  await updateUser({ ...deps, endLostAccess, confirmOwner: confirmOwnerOf(request) }, viewer, {
    name: account.id,
    patch: checkValues(UserPatch, patch),
    proof: proofOf((field) => form.text(field)),
  })
  // Without the role, the page of the account does not exist for them.
  const isLeaving = account.id === viewer.id && 'role' in patch && patch.role !== 'admin'
  return { done: 'account-changed', path: isLeaving ? PATHS.profile : accountPath(account.id) } as const
}
