// Invitations: the open ones, and a form that creates one. The link is shown once.

import { actorOf } from '#features/basics/audit/actor.ts'
import { createInvitation, revokeInvitation } from '#features/people/accounts/invitations/create-invitation.ts'
import { listInvitations } from '#features/people/accounts/invitations/queries.ts'
import { NewInvitation, toInvitation } from '#features/people/accounts/invitations/requests.ts'
import { type NewInvitationView, toInvitationView } from '#features/people/accounts/invitations/views.ts'
import { parseId } from '#lib/ids.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { EMPTY, type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { exactTime, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { buttonForm, textField } from '#web/ui/parts/fields.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { timeAfter } from './typed-numbers.ts'

const ROWS = 50
const FIELDS = fields(NewInvitation, {
  email: {
    label: 'ops.invitations.email',
    said: 'The email address',
    hint: 'ops.invitations.email.hint',
    type: 'email',
    isOptional: true,
  },
  uses: { label: 'ops.invitations.number', said: 'The number of accounts', inputMode: 'numeric' },
  note: { label: 'ops.note', isOptional: true },
})
type Invitations = Awaited<ReturnType<typeof listInvitations>>

export function invitationPages(pages: Pages): void {
  formPage<Invitations>(pages, {
    path: PATHS.operatorInvitations,
    name: 'operateInvitations',
    api: 'listInvitations createInvitation revokeInvitation',
    options: { role: 'admin' },
    load: ({ deps }) => listInvitations(deps.db, { limit: ROWS, offset: 0 }),
    show: showInvitations,
    commands: { create: inviteUser, revoke: confirmFirst(askRevocation, revoke) },
    labels: { ...FIELDS.said, expires: 'The number of days', days: 'The number of days' },
  })
}

async function inviteUser(request: OwnRequest, _rows: Invitations, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const input = FIELDS.read(state, { expires: timeAfter(state.text('days').trim(), deps.now()) })
  const made = await createInvitation(deps, actorOf(viewer), toInvitation(input, deps.now()))
  return showInvitations(request, await listInvitations(deps.db, { limit: ROWS, offset: 0 }), EMPTY, made)
}

function askRevocation({ field, t }: OwnRequest, rows: Invitations) {
  const name = rows.find(({ id }) => id === field('id'))?.email ?? t('ops.invitations.anyone')
  return {
    title: t('ops.invitations.revoke.title', { name }),
    consequences: [t('ops.invitations.revoke.effect'), t('operate.recorded')],
    button: t('ops.revoke'),
  }
}

async function revoke({ deps, viewer, field }: OwnRequest): Promise<Outcome> {
  await revokeInvitation(deps, actorOf(viewer), parseId(field('id'), 'id'))
  return { done: 'invitation-revoked' }
}

function showInvitations(request: OwnRequest, rows: Invitations, state: FormState, made?: NewInvitationView) {
  const { page, t } = request
  return showOperator(request, {
    section: PATHS.operatorInvitations,
    heading: t('ops.invitations'),
    text: t('ops.invitations.text'),
    form: state,
    isSecret: made !== undefined,
    body: [made !== undefined && linkPart(page, made), listPart(page, rows), newForm(page, state)],
  })
}

function linkPart(page: PageContext, { url, mailed, email }: NewInvitationView): Part {
  const { t } = page.language
  const sent = mailed && email !== null && html`<p>${t('ops.invitations.mailed', { email })}</p>`
  return html`<div class="part">${note(page, 'good', html`<p>${t('ops.invitations.made')}</p><p><code class="secret">${url}</code></p>${sent}`, { role: 'status' })}</div>`
}

function listPart(page: PageContext, rows: Invitations): Part {
  const { t } = page.language
  if (rows.length === 0)
    return emptyState(page, { icon: 'mail', title: t('ops.invitations.none'), text: t('ops.invitations.none.text') })
  const columns = [
    { label: t('ops.invitations.for') },
    { label: t('ops.invitations.uses'), isNumber: true },
    { label: t('ops.invitations.expires'), room: 'far' },
    { label: t('ops.actions'), isAction: true },
  ] as const
  const shown = rows.map(toInvitationView).map(({ id, email, note: text, uses, used, expires }) => {
    const until = exactTime(page.language, new Date(expires))
    const name = email ?? t('ops.invitations.anyone')
    const button = buttonForm(page, {
      action: pathTo(page, PATHS.operatorInvitations),
      text: t('ops.revoke'),
      isTight: true,
      label: t('ops.invitations.revoke', { name }),
      fields: { do: 'revoke', id },
    })
    const count = `${wholeNumber(page.language, used)} / ${wholeNumber(page.language, uses)}`
    return { cells: [nameCell({ name, details: text, near: until }), count, until, button] }
  })
  return listTable(page, { caption: t('ops.invitations'), columns, rows: shown })
}
function newForm(page: PageContext, state: FormState): Part {
  const { t } = page.language
  const errors = state.errors.map((error) => (error.field === 'expires' ? { ...error, field: 'days' } : error))
  const content = html`${FIELDS.controls(
    page,
    state,
    { uses: 1 },
    {
      uses: {
        after: textField(page, {
          name: 'days',
          label: t('ops.invitations.days'),
          value: state.text('days', '14'),
          inputMode: 'numeric',
          errors,
        }),
      },
    },
  )}
<div class="line"><button class="main" name="do" value="create">${t('ops.invitations.create')}</button></div>`
  return formPart(page, { id: 'new', title: t('ops.invitations.new'), path: PATHS.operatorInvitations, content })
}
