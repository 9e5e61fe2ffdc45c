// Commands of the forms of a team: save the matrix, roles and shares, move, invite and remove members.

import { removeMember } from '#features/community/teams/edit-member.ts'
import { editMembers } from '#features/community/teams/edit-members.ts'
import { inviteMember } from '#features/community/teams/invite-member.ts'
import { Invitation, MembersPatch, toMemberChange, toMembersChange } from '#features/community/teams/requests.ts'
import { listUsersByPrefix } from '#features/people/users/queries.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { ApiError, invalidInput, validationError } from '#lib/errors.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { type BitField, bitsOf, changeable, columnsOf, namesOf, type ShownRow, type TeamData } from './team-data.ts'

/** Permissions that an invitation offers together. */
export const PRESETS = { editor: 8, publisher: 13, maintainer: 271, none: 0 } as const
export type Preset = keyof typeof PRESETS

export const FIELDS: Readonly<Record<TeamData['kind'], readonly BitField[]>> = {
  project: ['permissions'],
  organization: ['organization_permissions', 'permissions'],
}

/** Returns the labels of the fields in error messages. */
export function teamLabels({ rows }: TeamData): Record<string, string> {
  const of = rows.flatMap(({ account_id: id, user: { username } }) => [
    [`role.${id}`, `The role of ${username}`],
    [`payouts_split.${id}`, `The share of ${username}`],
    [`permissions.${id}`, `The permissions of ${username}`],
    [`organization_permissions.${id}`, `The organization permissions of ${username}`],
  ])
  return { ...Object.fromEntries(of), username: 'The username', invited_role: 'The role', preset: 'The permissions' }
}

/** Returns the values that the form can change, by field. `shown` are the columns of the matrix. */
export function editableValues(data: TeamData, shown: readonly ShownRow[]): Record<string, string | readonly string[]> {
  const columns = new Set(shown.map(({ account_id }) => account_id))
  const values: Record<string, string | readonly string[]> = {}
  for (const row of data.rows) {
    const id = row.account_id
    values[`role.${id}`] = row.role
    values[`payouts_split.${id}`] = String(row.payouts_split)
    for (const field of FIELDS[data.kind]) {
      const bits = changeable(data, row, field)
      if (columns.has(id) && bits !== 0) values[`${field}.${id}`] = namesOf(field, (row[field] ?? 0) & bits)
    }
  }
  return values
}

/** Returns the commands of the buttons. `teamOf` returns the team of the page. */
export function teamCommands<Data>(teamOf: (data: Data) => TeamData) {
  type Of<Result> = (request: OwnRequest, team: TeamData, state: FormState) => Result
  const on =
    <Result>(run: Of<Result>) =>
    (request: OwnRequest, data: Data, state: FormState): Result =>
      run(request, teamOf(data), state)
  return {
    save: on(saveTeam),
    up: on(moveMember(-1)),
    down: on(moveMember(1)),
    invite: on(inviteByName),
    remove: confirmFirst(on(askRemoval), on(dropMember)),
  }
}

async function saveTeam(request: OwnRequest, data: TeamData, state: FormState): Promise<Outcome> {
  const shown = columnsOf(data, [state.text('shown')])
  const edited = state.edited(editableValues(data, shown))
  const changes = new Map<string, Record<string, unknown>>()
  for (const [name, value] of Object.entries(edited)) {
    const [field = '', id = ''] = name.split('.')
    const row = data.rows.find(({ account_id }) => account_id === id)
    if (row === undefined || value === undefined) continue
    changes.set(id, { ...changes.get(id), user_id: id, [field]: submittedValue(data, row, name, value) })
  }
  await saveChanges(request, data, [...changes.values()])
  return { done: 'saved', with: { show: state.text('shown') } }
}

function submittedValue(data: TeamData, row: ShownRow, name: string, value: string | readonly string[]): unknown {
  const field = name.split('.')[0]
  if (field === 'role') return value
  if (field === 'payouts_split') {
    const share = Number(value)
    if (value === '' || !Number.isFinite(share)) throw validationError(name, 'must be a number')
    return share
  }
  const column = field as BitField
  const bits = changeable(data, row, column)
  return ((row[column] ?? 0) & ~bits) | (bitsOf(column, [value].flat()) & bits)
}

async function saveChanges(
  { deps, viewer }: OwnRequest,
  { teamId, revision }: TeamData,
  changes: readonly object[],
): Promise<void> {
  if (changes.length === 0) return
  const ids = changes.map((change) => (change as { user_id: string }).user_id)
  await byName(ids, async () => {
    const members = toMembersChange(checkValues(MembersPatch, { members: changes }))
    await editMembers(deps, viewer, { teamId, members, revision })
  })
}

/** Runs a command whose errors name `members.N.role`, and names the field of the form: `role.ID`. */
async function byName(ids: readonly string[], act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const [, index, field = 'role'] = /^members\.(\d+)(?:\.(\w+))?$/.exec(String(fieldOf(error))) ?? []
    if (!(error instanceof ApiError) || index === undefined) throw error
    const place = `${field === 'user_id' ? 'role' : field}.${ids[Number(index)]}`
    throw new ApiError(error.kind, error.message, { details: { ...error.details, field: place } })
  }
}

const fieldOf = (error: unknown): unknown => (error instanceof ApiError ? error.details?.['field'] : undefined)

/** Moves a member one place up or down: the order of all members is saved. */
function moveMember(step: -1 | 1) {
  return async (request: OwnRequest, data: TeamData, state: FormState): Promise<Outcome> => {
    const order = data.rows.map(({ account_id }) => account_id)
    const from = order.indexOf(state.argument)
    const other = order[from + step]
    const moved = order[from]
    if (moved !== undefined && other !== undefined) {
      order[from] = other
      order[from + step] = moved
      const ordering = new Map(order.map((id, index) => [id, index]))
      const changes = data.rows
        .filter((row) => row.ordering !== ordering.get(row.account_id))
        .map(({ account_id: id }) => ({ user_id: id, ordering: ordering.get(id) }))
      await saveChanges(request, data, changes)
    }
    return { done: 'member-moved', with: { show: state.text('shown') } }
  }
}

async function inviteByName(request: OwnRequest, data: TeamData, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const username = state.text('username').trim()
  const [account] = username === '' ? [] : await listCachedUsers(deps, [username])
  if (account === undefined) throw await unknownUser(request, username)
  const preset = state.text('preset') || 'none'
  if (!Object.hasOwn(PRESETS, preset)) throw validationError('preset', 'must be one of the choices')
  const role = state.text('invited_role').trim()
  const fields = checkValues(Invitation, {
    user_id: account.id,
    permissions: PRESETS[preset as Preset],
    ...(role === '' ? {} : { role }),
  })
  await inviteMember(deps, viewer, {
    teamId: data.teamId,
    accountId: account.id,
    fields: toMemberChange(fields),
  }).catch((error: unknown) => {
    const places: Record<string, string> = { user_id: 'username', permissions: 'preset', role: 'invited_role' }
    const place = places[String(fieldOf(error))]
    if (!(error instanceof ApiError) || place === undefined) throw error
    throw new ApiError(error.kind, error.message, { details: { ...error.details, field: place } })
  })
  return { done: 'member-invited' }
}

async function unknownUser({ deps }: OwnRequest, username: string): Promise<ApiError> {
  if (username === '') return validationError('username', 'is required')
  const similar = await listUsersByPrefix(deps.db, username.slice(0, Math.max(3, Math.ceil(username.length / 2))))
  const [first] = similar
  const hint = first === undefined ? 'Check the spelling' : `Did you mean ${first.username}?`
  return validationError('username', `User not found. ${hint}`)
}

function askRemoval({ viewer, t }: OwnRequest, data: TeamData, state: FormState) {
  const row = memberOf(data, state)
  const names = { member: row.user.username, name: data.name }
  const kind = row.account_id === viewer.id ? 'leave' : row.accepted ? 'remove' : 'cancel-invitation'
  const consequences = [t(`people.${kind}.consequence`, names)]
  return { title: t(`people.${kind}.title`, names), consequences, button: t(`people.${kind}`) }
}

/** Removes a member or an invitation, or lets the viewer leave. */
async function dropMember({ deps, viewer }: OwnRequest, data: TeamData, state: FormState): Promise<Outcome> {
  const row = memberOf(data, state)
  await removeMember(deps, viewer, { teamId: data.teamId, accountId: row.account_id })
  if (row.account_id === viewer.id)
    return { done: 'member-left', path: data.kind === 'project' ? PATHS.dashboard : PATHS.dashboardOrganizations }
  return { done: row.accepted ? 'member-removed' : 'invitation-cancelled' }
}

/** Returns the member that a button names. @throws ApiError 400 */
function memberOf({ rows }: TeamData, state: FormState): ShownRow {
  const row = rows.find(({ account_id }) => account_id === state.argument)
  if (row === undefined) throw invalidInput('This member is not in the team any more')
  return row
}
