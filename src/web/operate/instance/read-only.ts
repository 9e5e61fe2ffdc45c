// Read-only mode: its state, what still works, and a page that confirms the beginning.

import type { FastifyReply } from 'fastify'
import { actorOf } from '#features/basics/audit/actor.ts'
import { SettingsPatch } from '#features/basics/settings/requests.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { listSignedIn } from '#features/people/accounts/administration/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { showConfirmation } from '#web/kit/forms/confirm.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { errorSummary, form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { accountPath, roleName } from '../people/accounts.ts'
import { showOperator } from '../sections.ts'
import { type InstanceSettings, loadSettings } from './settings-values.ts'

const BEGIN = `${PATHS.readOnly}/begin`

const FIELDS = fields(SettingsPatch, {
  read_only_message: {
    label: 'ops.read-only.message',
    said: 'The message',
    hint: 'ops.read-only.message.hint',
    rows: 3,
    isOptional: true,
  },
})

export function readOnlyPages(pages: Pages): void {
  const options = { role: 'admin' } as const
  pages.own(
    'GET',
    PATHS.readOnly,
    'operateReadOnly',
    async (request) => showState(request, await loadSettings(request)),
    options,
  )
  // Ending the mode must work in it.
  pages.own('POST', PATHS.readOnly, 'operateReadOnlyForm', endMode, { ...options, whenReadOnly: 'answers' })
  formPage<InstanceSettings>(pages, {
    path: BEGIN,
    name: 'operateReadOnlyBegin',
    options,
    load: loadSettings,
    show: showBegin,
    commands: { confirm: beginMode },
    labels: FIELDS.said,
  })
}

async function beginMode({ deps, viewer }: OwnRequest, _data: InstanceSettings, state: FormState): Promise<Outcome> {
  await updateSettings(deps, actorOf(viewer), FIELDS.read(state, { read_only: true }))
  return { done: 'read-only-on', path: PATHS.readOnly }
}

async function endMode({ deps, viewer, redirect }: OwnRequest): Promise<FastifyReply> {
  if (deps.config.readOnly)
    throw new ApiError('invalid_input', 'READ_ONLY is set in the environment. Only a restart without it ends the mode')
  await updateSettings(deps, actorOf(viewer), { read_only: null })
  return redirect(PATHS.readOnly, 'read-only-off')
}

/** Number of accounts on the page. */
const SHOWN_MAX = 20

/** Renders who is signed in, so that the operator can see whom the mode interrupts. */
async function signedInPart({ page, deps, t }: OwnRequest): Promise<Part> {
  const { accounts, total } = await listSignedIn(deps.db, { now: new Date(deps.now()), limit: SHOWN_MAX })
  const table = listTable(page, {
    caption: t('ops.read-only.people'),
    isInner: true,
    columns: [
      { label: t('ops.accounts.name') },
      { label: t('ops.accounts.role'), room: 'mid' },
      { label: t('ops.account.sessions'), isNumber: true, room: 'mid' },
      { label: t('ops.accounts.seen') },
    ],
    rows: accounts.map(({ id, username, role, sessions, seen }) => ({
      cells: [
        nameCell({ href: pathTo(page, accountPath(id)), name: username, least: [roleName(page, role)] }),
        roleName(page, role),
        wholeNumber(page.language, sessions),
        timeAgo(page.language, seen, page.now),
      ],
    })),
  })
  const text = t('ops.read-only.people.text', { total, shown: accounts.length })
  return sheetPart({ id: 'people', title: t('ops.read-only.people'), text, content: table })
}

async function showState(request: OwnRequest, { settings }: InstanceSettings): Promise<FastifyReply> {
  const { page, deps, t } = request
  const isOn = settings.read_only
  const message = isOn && html`<p dir="auto">${settings.read_only_message}</p>`
  const state = note(
    page,
    isOn ? 'warn' : 'good',
    html`<p>${isOn ? t('ops.read-only.on') : t('ops.read-only.off')}</p>${message}`,
  )
  const end = deps.config.readOnly
    ? html`<p>${t('ops.read-only.environment')}</p>`
    : form(page, {
        action: pathTo(page, PATHS.readOnly),
        content: html`<button class="main" name="do" value="end">${t('ops.read-only.end')}</button>`,
      })
  const begin = html`<a class="button" href="${pathTo(page, BEGIN)}">${t('ops.read-only.begin')}</a>`
  return showOperator(request, {
    section: PATHS.readOnly,
    heading: t('ops.read-only'),
    text: t('ops.read-only.text'),
    body: [
      sheetPart({ id: 'state', content: html`${state}<div class="line">${isOn ? end : begin}</div>` }),
      sheetPart({
        id: 'effects',
        title: t('ops.read-only.effects'),
        content: html`<ul><li>${t('ops.read-only.works')}</li><li>${t('ops.read-only.fails')}</li><li>${t('ops.read-only.signed-in')}</li><li>${t('ops.read-only.jobs')}</li></ul>`,
      }),
      await signedInPart(request),
    ],
  })
}
function showBegin(request: OwnRequest, { settings }: InstanceSettings, state: FormState): FastifyReply {
  const { page, t } = request
  const of = {
    title: t('ops.read-only.begin.title'),
    consequences: [t('ops.read-only.fails'), t('ops.read-only.works'), t('ops.read-only.signed-in')],
    button: t('ops.read-only.begin'),
    cancel: PATHS.readOnly,
    fields: [errorSummary(page, state.errors), FIELDS.controls(page, state, settings)],
  }
  return showConfirmation(request, of, state)
}
