// Actions on the reported item and its owner, on the page of the report: takedown, message, suspension. Each returns there.
import { isAdmin } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { postMessage } from '#features/catalogue/threads/post-message.ts'
import { parseTakedown, TakedownInput } from '#features/community/moderation/takedown/requests.ts'
import { takeDown } from '#features/community/moderation/takedown/take-down.ts'
import { askOperators } from '#features/community/moderation/users/ask-operators.ts'
import { Suspension, toSuspension } from '#features/people/accounts/administration/requests.ts'
import { suspendAccount } from '#features/people/accounts/administration/suspend-account.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { characterCount, isBlank } from '#lib/text/text-rules.ts'
import { DAY_MS } from '#lib/time.ts'
import { proofOf, proofPart } from '#web/account/settings/settings-views.ts'
import { type FormState, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, textArea, textField } from '#web/ui/parts/fields.ts'
import { moderatedReport, takedownPath } from '../frame.ts'
import { spamButton } from '../people/spam-button.ts'
import { section } from '../review/section.ts'
import { takedownFields } from '../texts/takedown-fields.ts'
import type { ReportData } from './load-report.ts'

const MESSAGE_MAX = { notice: 2000, text: 65_536, request: 4096 } as const
const SUSPENSION_DAYS_MAX = 3650

/** Returns a text of the form. @throws ApiError `validation_error` naming the field */
function textOf(state: FormState, name: keyof typeof MESSAGE_MAX, isOptional = false): string {
  const text = state.text(name)
  if (isBlank(text) && !isOptional) throw validationError(name, 'must not be blank')
  if (characterCount(text) > MESSAGE_MAX[name])
    throw validationError(name, `must be at most ${MESSAGE_MAX[name]} characters`)
  return isBlank(text) ? '' : text
}

export async function hideItem(request: OwnRequest, { report }: ReportData, state: FormState): Promise<Outcome> {
  const { deps, accounts, viewer, t } = request
  const message = textOf(state, 'notice', true)
  const input = checkValues(TakedownInput, {
    kind: report.item_type,
    id: report.item_id,
    reason: report.report_type,
    reference: t('reports.takedown.of-report', { id: report.id }),
    visibility: state.text('visibility'),
    block_files: state.text('block_files') === 'true',
    ...(message === '' ? {} : { message }),
  })
  const confirmOwner = createConfirmOwner(accounts)
  const { id } = await takeDown({ ...deps, endLostAccess, confirmOwner }, viewer, parseTakedown(input, deps.taxonomy))
  return { done: 'taken-down', with: { takedown: id } }
}

export async function tellOwner(
  { deps, viewer }: OwnRequest,
  { project }: ReportData,
  state: FormState,
): Promise<Outcome> {
  const text = textOf(state, 'text')
  const threadId = project?.thread_id ?? null
  if (threadId === null) throw new ApiError('conflict', 'This project has no thread')
  await postMessage(deps, viewer, { threadId, message: { text, isPrivate: false, replyingTo: null, imageIds: [] } })
  return { done: 'owner-told' }
}

export async function suspendOwner(request: OwnRequest, { owner }: ReportData, state: FormState): Promise<Outcome> {
  const { deps, viewer, accounts } = request
  if (!isAdmin(viewer) || owner?.kind !== 'user') throw new ApiError('not_found', 'There is no account to suspend')
  const days = state.text('days').trim()
  if (days !== '' && !(/^\d{1,4}$/.test(days) && Number(days) >= 1 && Number(days) <= SUSPENSION_DAYS_MAX))
    throw validationError('days', `must be a number of days from 1 to ${SUSPENSION_DAYS_MAX}`)
  const until = days === '' ? null : new Date(deps.now() + Number(days) * DAY_MS).toISOString()
  const input = toSuspension(checkValues(Suspension, { reason: state.text('reason'), until }), deps.now())
  await createConfirmOwner(accounts)(
    viewer,
    proofOf((name) => state.text(name)),
  )
  await suspendAccount(deps, actorOf(viewer), { name: owner.id, ...input })
  return { done: 'account-suspended' }
}

export async function askToSuspend(
  { deps, viewer }: OwnRequest,
  { owner }: ReportData,
  state: FormState,
): Promise<Outcome> {
  const message = textOf(state, 'request')
  if (owner?.kind !== 'user') throw new ApiError('not_found', 'There is no account to suspend')
  await askOperators(deps, viewer, { accountId: owner.id, message })
  return { done: 'operators-asked' }
}

/** Renders the actions, each as a form that can be opened. The form with an error is open. */
export async function actionsPart(request: OwnRequest, data: ReportData, state: FormState): Promise<Part> {
  const { page, t } = request
  const { report, group, project, owner, record } = data
  if (group.item === null) return null
  const action = pathTo(page, moderatedReport(report.id))
  const part = (command: string, title: Part, content: (own: FormState) => Part): Markup => {
    const own = stateOf(state, [command])
    return html`<details class="more"${own.isSubmitted && html` open`}><summary>${title}</summary>
${form(page, { action, className: 'stack', content: content(own) })}</details>
`
  }
  const proof = isAdmin(request.viewer) && (await proofPart(request, state))
  const hasAccount = owner?.kind === 'user' && record?.suspended !== true
  const content = html`${part('hide', t('reports.hide'), (own) => hideFields(page, data, own))}${
    project?.thread_id != null && part('tell', t('reports.tell'), (own) => tellFields(page, own))
  }${
    hasAccount &&
    (isAdmin(request.viewer)
      ? part('suspend', t('reports.suspend', { name: owner.name }), (own) => suspendFields(request, own, proof))
      : part('ask', t('reports.suspend.ask', { name: owner.name }), (own) => askFields(page, own)))
  }${await spamButton(request, owner)}`
  return section({ id: 'actions', title: t('reports.actions'), content })
}

function hideFields(page: PageContext, { report, group }: ReportData, state: FormState): Part {
  const { t } = page.language
  const kind = group.item_type
  const known = { report: report.id, reason: report.report_type }
  return [
    takedownFields(page, kind, state),
    textArea(page, {
      name: 'notice',
      label: t('reports.takedown.message'),
      value: state.text('notice'),
      maxLength: MESSAGE_MAX.notice,
      rows: 3,
      isOptional: true,
      errors: state.errors,
    }),
    html`<div class="line"><button class="danger" name="do" value="hide">${icon(page, 'eye-off')}${t('reports.takedown.do')}</button><a href="${pathTo(page, takedownPath(kind, group.item_id, known))}">${t('reports.hide.preview')}</a></div>
<p class="soft small">${t('reports.hide.undo')}</p>`,
  ]
}

function tellFields(page: PageContext, state: FormState): Part {
  const { t } = page.language
  const maxLength = MESSAGE_MAX.text
  const area = textArea(page, {
    name: 'text',
    label: t('moderate.message'),
    hint: t('reports.tell.hint'),
    value: state.text('text'),
    maxLength,
    rows: 4,
    errors: state.errors,
  })
  return html`${area}<div class="line"><button name="do" value="tell">${icon(page, 'send')}${t('reports.reply.send')}</button></div>`
}

function suspendFields({ page, t }: OwnRequest, state: FormState, proof: Part): Part {
  const { errors } = state
  return html`${textArea(page, { name: 'reason', label: t('ops.suspend.reason'), hint: t('ops.suspend.reason.hint'), value: state.text('reason'), maxLength: 1000, rows: 3, errors })}
${textField(page, { name: 'days', label: t('ops.suspend.days'), hint: t('ops.suspend.days.hint'), value: state.text('days'), isOptional: true, inputMode: 'numeric', errors })}
${proof}
<div class="line"><button class="danger" name="do" value="suspend">${t('ops.account.suspend')}</button></div>`
}

function askFields(page: PageContext, state: FormState): Part {
  const { t } = page.language
  const hint = t(mailKey(page, 'reports.ask.hint'))
  const maxLength = MESSAGE_MAX.request
  return html`${textArea(page, { name: 'request', label: t('reports.ask.label'), hint, value: state.text('request'), maxLength, rows: 4, errors: state.errors })}
<div class="line"><button name="do" value="ask">${icon(page, 'send')}${t('reports.ask.send')}</button></div>`
}
