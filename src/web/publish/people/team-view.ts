// The parts of a team's page: matrix, roles and shares, order, invitations, and the form that invites a member.

import { isBitSubset } from '#features/basics/access/permissions.ts'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { type FormState, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { userPath } from '#web/kit/paths.ts'
import { roleName } from '#web/site/names.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart, saveBar } from '#web/ui/parts/actions.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { form, hiddenField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { face } from '#web/ui/parts/lists.ts'
import { permissionMatrix } from '#web/ui/parts/tables.ts'
import { editableValues, FIELDS, PRESETS, type Preset } from './team-commands.ts'
import {
  BITS,
  type BitField,
  changeable,
  columnsOf,
  hasMoreColumns,
  namesOf,
  type ShownRow,
  type TeamData,
} from './team-data.ts'

/** Permissions in the order of the matrix, by group. */
const GROUPS: Readonly<Record<BitField, Readonly<Record<string, readonly string[]>>>> = {
  permissions: {
    versions: ['UPLOAD_VERSION', 'DELETE_VERSION'],
    page: ['EDIT_DETAILS', 'EDIT_BODY'],
    people: ['MANAGE_INVITES', 'REMOVE_MEMBER', 'EDIT_MEMBER'],
    project: ['VIEW_ANALYTICS', 'VIEW_PAYOUTS', 'DELETE_PROJECT'],
  },
  organization_permissions: {
    organization: ['EDIT_DETAILS', 'ADD_PROJECT', 'REMOVE_PROJECT', 'DELETE_ORGANIZATION'],
    people: ['MANAGE_INVITES', 'REMOVE_MEMBER', 'EDIT_MEMBER', 'EDIT_MEMBER_DEFAULT_PERMISSIONS'],
  },
}

/** Renders all parts of the page. */
export function teamParts(request: OwnRequest, data: TeamData, state: FormState): Part {
  const { page } = request
  const chosen = state.isSubmitted ? [state.text('shown')] : request.queries('show')
  const columns = columnsOf(data, chosen)
  return [
    hasMoreColumns(data) && data.asMember && columnChoice(page, data, columns),
    data.asMember ? matrixForm(request, data, { state: stateOf(state), columns }) : namesPart(request, data),
    (data.may.edit || data.may.remove || data.rows.some((row) => isOwn(request, row))) && orderPart(request, data),
    data.may.invite && invitePart(request, data, state),
  ]
}

const isOwn = ({ viewer }: OwnRequest, row: ShownRow): boolean => row.account_id === viewer.id

const portrait = ({ deps }: OwnRequest, { user }: ShownRow): Markup =>
  face({ name: user.username, url: imageUrl(deps.config, user.avatar_url) })

/** Lets the viewer choose the columns of a matrix with many members. */
function columnChoice(page: PageContext, data: TeamData, columns: readonly ShownRow[]): Markup {
  const { t } = page.language
  const shown = new Set(columns)
  const boxes = data.rows.map((row) => {
    const box = attributes({ type: 'checkbox', name: 'show', value: row.account_id, checked: shown.has(row) })
    return html`<label class="chip"><input${box}>${icon(page, 'check')}<bdi>${row.user.username}</bdi></label>`
  })
  const content = html`<form method="get" action="${pathTo(page, data.path)}" class="stack"><fieldset class="stack close"><legend>${t('people.columns')}</legend><p class="hint">${t('people.columns.hint', { count: data.rows.length })}</p><div class="chips">${boxes}</div></fieldset><div class="line"><button class="tight">${t('people.columns.show')}</button></div></form>`
  return sheetPart({ id: 'columns', content })
}

type Shown = { state: FormState; columns: readonly ShownRow[] }

function matrixForm(request: OwnRequest, data: TeamData, { state, columns }: Shown): Markup {
  const { page, t } = request
  const values = editableValues(data, columns)
  const matrices = FIELDS[data.kind].map((field) =>
    sheetPart({
      id: field,
      title: titleOf(page, data, field),
      ...(data.kind === 'organization' ? { text: t(`people.${field}.text`) } : {}),
      content: matrix(request, data, { field, columns, state, values }),
    }),
  )
  if (!data.may.edit && !state.isSubmitted)
    return html`${matrices}${rolesPart(request, data, { state, isOpen: false })}`
  const labels = Object.fromEntries(Object.keys(values).map((name) => [name, labelOf(page, data, name)]))
  return form(page, {
    action: pathTo(page, data.path),
    content: [
      editBase(state, values),
      hiddenField('shown', columns.map(({ account_id }) => account_id).join('.')),
      conflictNote(page, state, labels),
      matrices,
      rolesPart(request, data, { state, isOpen: true }),
      saveBar(page),
    ],
  })
}

const titleOf = ({ language: { t } }: PageContext, { kind }: TeamData, field: BitField): string =>
  t(kind === 'project' ? 'people.permissions-of-project' : `people.${field}`)

/** Returns the name of a field of one member in the note about conflicts. */
function labelOf(page: PageContext, data: TeamData, name: string): string {
  const [field = '', id] = name.split('.')
  const username = data.rows.find(({ account_id }) => account_id === id)?.user.username ?? ''
  return page.language.t('people.field', { field: page.language.t(`people.${field}` as MessageKey), name: username })
}

type MatrixOf = Shown & { field: BitField; values: Readonly<Record<string, string | readonly string[]>> }

function matrix(request: OwnRequest, data: TeamData, { field, columns, state, values }: MatrixOf): Markup {
  const { page, t } = request
  const prefix = field === 'permissions' ? 'work.permission' : 'people.organization-permission'
  return permissionMatrix(page, {
    caption: t('people.matrix', { title: titleOf(page, data, field) }),
    field,
    members: columns.map((row) => ({
      id: row.account_id,
      name: row.user.username,
      detail: row.accepted ? roleName(page.language, row.role) : t('people.invited'),
      face: portrait(request, row),
    })),
    groups: Object.entries(GROUPS[field]).map(([group, names]) => ({
      title: t(`people.group.${group}` as MessageKey),
      rows: names.map((name) => ({
        value: name,
        label: t(`${prefix}.${name}` as MessageKey),
        cells: columns.map((row) => {
          const stored = namesOf(field, row[field] ?? 0).includes(name)
          const isEditable = (changeable(data, row, field) & (BITS[field][name] ?? 0)) !== 0
          const key = `${field}.${row.account_id}`
          const isGranted = isEditable ? state.list(key, [values[key] ?? []].flat()).includes(name) : stored
          return { isGranted, isEditable, isChanged: isEditable && isGranted !== stored }
        }),
      })),
    })),
  })
}

type Roles = { state: FormState; isOpen: boolean }

function rolesPart(request: OwnRequest, data: TeamData, { state, isOpen }: Roles): Markup {
  const { page, t } = request
  const total = data.rows.reduce((sum, row) => sum + (row.accepted ? row.payouts_split : 0), 0)
  const rows = data.rows.map((row) => {
    const { account_id: id, user } = row
    const who = html`<span class="who">${portrait(request, row)}<span><a href="${pathTo(page, userPath(user.username))}"><bdi>${user.username}</bdi></a><small>${standing(page, row)}</small></span></span>`
    if (!isOpen) return html`<li>${who}<span class="set"><bdi>${roleName(page.language, row.role)}</bdi></span></li>\n`
    const role = state.text(`role.${id}`, row.role)
    const share = state.text(`payouts_split.${id}`, String(row.payouts_split))
    return html`<li>${who}${small(page, { name: `role.${id}`, label: t('people.role'), of: user.username, value: role, type: 'text', state })}${small(page, { name: `payouts_split.${id}`, label: t('people.payouts_split'), of: user.username, value: share, type: 'number', state })}</li>
`
  })
  return sheetPart({
    id: 'roles',
    title: t('people.roles'),
    text: t('people.roles.text', { total }),
    content: html`<div class="entries-box"><ul class="entries short"><li class="heads" aria-hidden="true"><span>${t('people.member')}</span><span>${t('people.role')}</span>${isOpen && html`<span>${t('people.payouts_split')}</span>`}</li>
${rows}</ul></div>`,
  })
}

type SmallField = { name: string; label: string; of: string; value: string; type: 'text' | 'number'; state: FormState }

function small(_page: PageContext, { name, label, of, value, type, state }: SmallField): Markup {
  const error = state.errors.find(({ field }) => field === name)
  const input = attributes({
    type,
    id: name,
    name,
    value,
    maxlength: type === 'text' ? 255 : undefined,
    min: type === 'number' ? 0 : undefined,
    max: type === 'number' ? 5000 : undefined,
    step: type === 'number' ? 'any' : undefined,
    'aria-invalid': error !== undefined && 'true',
    'aria-describedby': error !== undefined && `${name}-e`,
  })
  return html`<span class="set"><label for="${name}">${label}<span class="vh"> ${of}</span></label><input${input}>${error !== undefined && html`<small class="error" id="${name}-e"${attributes({ lang: error.lang })}>${error.message}</small>`}</span>`
}

function standing(page: PageContext, row: ShownRow): string {
  const { t } = page.language
  if (!row.accepted) return t('people.invited')
  return row.is_owner ? t('people.owner') : t('people.member')
}

/** The names of the members, for viewers who see nothing else of the team. */
function namesPart(request: OwnRequest, data: TeamData): Markup {
  const { page } = request
  const rows = data.rows.map(
    (row) =>
      html`<li><span class="who">${portrait(request, row)}<span><a href="${pathTo(page, userPath(row.user.username))}"><bdi>${row.user.username}</bdi></a><small dir="auto">${roleName(request.page.language, row.role)}</small></span></span></li>\n`,
  )
  return sheetPart({
    id: 'roles',
    content: html`<div class="entries-box"><ul class="entries short">${rows}</ul></div>`,
  })
}

/** The order of the members, and buttons that remove them. The forms above keep what was entered there. */
function orderPart(request: OwnRequest, data: TeamData): Markup {
  const { page, t } = request
  const button = (value: string, text: string, username: string): Markup =>
    html`<button class="tight" name="do" value="${value}">${text}<span class="vh"> ${username}</span></button>`
  const last = data.rows.length - 1
  const rows = data.rows.map((row, index) => {
    const { account_id: id, user } = row
    const mayRemove = !row.is_owner && (isOwn(request, row) || (row.accepted ? data.may.remove : data.may.invite))
    const drop = isOwn(request, row) ? 'people.leave' : row.accepted ? 'people.remove' : 'people.cancel-invitation'
    return html`<li class="apart"><span class="row">${portrait(request, row)}<b><bdi>${user.username}</bdi></b></span><span class="line">${data.may.edit && index > 0 && button(`up.${id}`, t('people.up'), user.username)}${data.may.edit && index < last && button(`down.${id}`, t('people.down'), user.username)}${mayRemove && button(`remove.${id}`, t(drop), user.username)}</span></li>
`
  })
  const list = html`<ul class="stack">${rows}</ul>`
  return sheetPart({
    id: 'order',
    title: t('people.order'),
    text: t('people.order.text'),
    content: form(page, { action: pathTo(page, data.path), content: list }),
  })
}

function invitePart({ page, t }: OwnRequest, data: TeamData, state: FormState): Markup {
  const { errors } = state
  const presets = (Object.keys(PRESETS) as Preset[]).filter((value) =>
    isBitSubset(PRESETS[value], data.grantable.permissions ?? 0),
  )
  const submitted = state.text('preset')
  const chosen = submitted === '' ? (presets.includes('publisher') ? 'publisher' : presets[0]) : submitted
  const content = html`<div class="pair">${textField(page, { name: 'username', label: t('people.username'), value: state.text('username'), maxLength: 39, autocomplete: 'off', isName: true, usersFrom: pathTo(page, '/v3/users/search'), errors })}
${textField(page, { name: 'invited_role', label: t('people.role'), value: state.text('invited_role'), maxLength: 255, isOptional: true, errors })}</div>
${
  presets.length > 1 &&
  optionCards({
    legend: t(data.kind === 'organization' ? 'people.permissions' : 'people.invite.permissions'),
    name: 'preset',
    options: presets.map((value) => ({
      value,
      label: t(`people.preset.${value}`),
      text: t(`people.preset.${value}.text`),
      isChosen: chosen === value,
    })),
  })
}
<div class="line"><button class="main" name="do" value="invite">${icon(page, 'send')}${t('people.invite.send')}</button></div>`
  const text = t(data.kind === 'organization' ? 'people.invite.organization' : 'people.invite.text')
  return formPart(page, { id: 'invite', title: t('people.invite'), text, path: data.path, content })
}
