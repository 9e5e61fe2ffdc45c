// Protection of the sign-up: limits, approval, and blocked email domains and address ranges.
import { actorOf } from '#features/basics/audit/actor.ts'
import { SettingsPatch } from '#features/basics/settings/requests.ts'
import { createBlocks } from '#features/people/accounts/sign-up-blocks/create-blocks.ts'
import { deleteBlock } from '#features/people/accounts/sign-up-blocks/delete-block.ts'
import { type BlockRow, listBlocks } from '#features/people/accounts/sign-up-blocks/queries.ts'
import { SignUpBlocksInput, toNewBlocks } from '#features/people/accounts/sign-up-blocks/requests.ts'
import { isAddressRange } from '#lib/address-range.ts'
import { ApiError } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { fields, numberOf } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import { checkValues, refusedField } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { datedDayText, dayText } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { buttonForm, checkbox, textArea, textField } from '#web/ui/parts/fields.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { type InstanceSettings, loadSettings, saveSettings } from '../instance/settings-values.ts'
import { showOperator } from '../sections.ts'
import { timeAfter } from './typed-numbers.ts'

const ROWS = 50
const LIMITS = fields(SettingsPatch, {
  sign_ups_per_range: {
    label: 'ops.sign-ups.per-range',
    said: 'The number of sign-ups',
    hint: 'ops.sign-ups.per-range.hint',
    inputMode: 'numeric',
    isOptional: true,
  },
  first_projects_per_day: {
    label: 'ops.sign-ups.first-projects',
    said: 'The number of projects',
    hint: 'ops.sign-ups.first-projects.hint',
    inputMode: 'numeric',
    isOptional: true,
  },
})
type Data = InstanceSettings & { blocks: BlockRow[]; total: number; current: number }

export function signUpPages(pages: Pages): void {
  formPage<Data>(pages, {
    path: PATHS.operatorSignUps,
    name: 'operateSignUps',
    shows: 'Limits of the sign-up, blocked email domains and address ranges',
    api: 'getSettings updateSettings listSignUpBlocks createSignUpBlocks deleteSignUpBlock',
    options: { role: 'admin' },
    load: loadSignUps,
    show: showSignUps,
    commands: { save: saveLimits, staff: saveStaffRule, block: addBlocks, unblock: removeBlock },
    labels: {
      ...LIMITS.said,
      targets: 'The list',
      require_staff_two_factor: 'Before you require it,',
      note: 'The note',
      ends: 'The number of days',
      days: 'The number of days',
    },
  })
}

async function loadSignUps(request: OwnRequest): Promise<Data> {
  const { deps } = request
  const current = pageNumber(request)
  const page = { limit: ROWS, offset: (current - 1) * ROWS }
  return { ...(await loadSettings(request)), ...(await listBlocks(deps.db, new Date(deps.now()), page)), current }
}

async function saveLimits(request: OwnRequest, data: Data, state: FormState): Promise<Outcome> {
  const number = (name: string) => (state.text(name).trim() === '' ? null : numberOf(state.text(name)))
  await saveSettings(request, data, {
    sign_ups_per_range: number('sign_ups_per_range'),
    first_projects_per_day: number('first_projects_per_day'),
    approve_accounts: state.list('approve_accounts').includes('true'),
  })
  return { done: 'saved' }
}

async function saveStaffRule(request: OwnRequest, data: Data, state: FormState): Promise<Outcome> {
  const require_staff_two_factor = state.list('require_staff_two_factor').includes('true')
  await saveSettings(request, data, { require_staff_two_factor })
  return { done: 'saved' }
}

/** Reads a pasted list, with one domain or range per line. Lines that begin with # are comments of published lists. */
async function addBlocks({ deps, viewer, language }: OwnRequest, _data: Data, state: FormState): Promise<Outcome> {
  const lines = state
    .text('targets')
    .split(/[\n,;]/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const days = state.text('days').trim()
  const input = {
    email_domains: lines.filter((line) => !isAddressRange(line)),
    address_ranges: lines.filter(isAddressRange),
    note: state.text('note'),
    ends: days === '' ? null : timeAfter(days, deps.now()),
  }
  const count = await createBlocks(
    deps,
    actorOf(viewer),
    namingLine(input, language, () => toNewBlocks(checkValues(SignUpBlocksInput, input), deps.now())),
  )
  return { done: 'blocked', with: { count: String(count) } }
}

type Lists = { email_domains: string[]; address_ranges: string[] }

/** The API names a place in one of its lists; the error of the page names the line. */
function namingLine<Result>(lists: Lists, { t }: Language, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    const field = error instanceof ApiError ? String(error.details?.['field']) : ''
    const [, list = '', index = ''] = /^(email_domains|address_ranges)\.(\d+)$/.exec(field) ?? []
    const line = lists[list as keyof Lists]?.[Number(index)]
    throw line === undefined
      ? error
      : refusedField('targets', t('ops.sign-ups.wrong-line', { line: line.slice(0, 80) }))
  }
}

async function removeBlock({ deps, viewer, field }: OwnRequest): Promise<Outcome> {
  await deleteBlock(deps, actorOf(viewer), parseId(field('id'), 'id'))
  return { done: 'unblocked' }
}

function showSignUps(request: OwnRequest, data: Data, state: FormState) {
  const { page, t, query } = request
  return showOperator(request, {
    section: PATHS.operatorSignUps,
    heading: t('ops.sign-ups'),
    text: t('ops.sign-ups.text'),
    form: state,
    notice: { count: Number(query('count')) || 0 },
    body: [
      limitsPart(page, data, stateOf(state, ['save'])),
      staffPart(page, data, stateOf(state, ['staff'])),
      newBlocks(page, stateOf(state, ['block'])),
      blockTable(page, data),
    ],
  })
}

function limitsPart(page: PageContext, { settings }: Data, state: FormState): Part {
  const { t } = page.language
  const isChecked = state.list('approve_accounts', settings.approve_accounts ? ['true'] : []).includes('true')
  const approval = checkbox({
    name: 'approve_accounts',
    value: 'true',
    isChecked,
    label: t('ops.sign-ups.approve'),
    hint: t('ops.sign-ups.approve.hint'),
  })
  const content = html`${LIMITS.controls(page, state, settings)}${approval}
<div class="line"><button class="main" name="do" value="save">${t('work.save')}</button></div>`
  return formPart(page, { id: 'limits', title: t('ops.sign-ups.limits'), path: PATHS.operatorSignUps, content })
}

function staffPart(page: PageContext, { settings }: Data, state: FormState): Part {
  const { t } = page.language
  const current = settings.require_staff_two_factor ? ['true'] : []
  const content = html`${checkbox({
    name: 'require_staff_two_factor',
    value: 'true',
    isChecked: state.list('require_staff_two_factor', current).includes('true'),
    label: t('ops.sign-ups.staff.require'),
    hint: t('ops.sign-ups.staff.hint'),
  })}
<div class="line"><button class="main" name="do" value="staff">${t('work.save')}</button></div>`
  return formPart(page, { id: 'staff', title: t('ops.sign-ups.staff'), path: PATHS.operatorSignUps, content })
}

function newBlocks(page: PageContext, state: FormState): Part {
  const { t } = page.language
  const errors = state.errors.map((error) => {
    if (error.field?.startsWith('email_domains') || error.field?.startsWith('address_ranges'))
      return { ...error, field: 'targets' }
    return error.field === 'ends' ? { ...error, field: 'days' } : error
  })
  const content = html`${textArea(page, { name: 'targets', label: t('ops.sign-ups.targets'), hint: t('ops.sign-ups.targets.hint'), value: state.text('targets'), maxLength: 100_000, rows: 4, errors })}
${textField(page, { name: 'note', label: t('ops.note'), value: state.text('note'), maxLength: 500, isOptional: true, errors })}
${textField(page, { name: 'days', label: t('ops.sign-ups.days'), hint: t('ops.sign-ups.days.hint'), value: state.text('days'), isOptional: true, inputMode: 'numeric', errors })}
<div class="line"><button class="main" name="do" value="block">${t('ops.sign-ups.block')}</button></div>`
  return formPart(page, { id: 'block', title: t('ops.sign-ups.new'), path: PATHS.operatorSignUps, content })
}

function blockTable(page: PageContext, { blocks, total, current }: Data): Part {
  const { t } = page.language
  if (blocks.length === 0) return emptyState(page, { icon: 'ban', title: t('ops.sign-ups.none') })
  const columns = [
    { label: t('ops.sign-ups.target') },
    { label: t('ops.limits.since'), room: 'far' },
    { label: t('ops.sign-ups.ends'), room: 'mid' },
    { label: t('ops.actions'), isAction: true },
  ] as const
  const rows = blocks.map(({ id, email_domain, address_range, note, created, ends }) => {
    const name = email_domain ?? address_range ?? ''
    const since = datedDayText(page.language, created)
    const end = ends === null ? t('ops.sign-ups.open') : dayText(page.language, ends)
    const button = buttonForm(page, {
      action: pathTo(page, PATHS.operatorSignUps),
      text: t('ops.sign-ups.unblock'),
      isTight: true,
      label: t('ops.sign-ups.unblock.name', { name }),
      fields: { do: 'unblock', id },
    })
    return {
      cells: [
        nameCell({
          name,
          details: note,
          near: `${t('ops.limits.since')}: ${since}`,
          least: [`${t('ops.sign-ups.ends')}: ${end}`],
        }),
        since,
        end,
        button,
      ],
    }
  })
  const href = (number: number) => pathTo(page, withQuery(PATHS.operatorSignUps, { page: String(number) }))
  return [
    listTable(page, { caption: t('ops.sign-ups.blocks'), columns, rows }),
    pager(page, { current, last: Math.max(1, Math.ceil(total / ROWS)), href }),
  ]
}
