// A user for moderators: facts, timeline, the shared note, changes of the profile, and the message to the operators.

import { badgesOf } from '#features/basics/access/permissions.ts'
import { replaceIcon } from '#features/basics/images/icons.ts'
import { askOperators } from '#features/community/moderation/users/ask-operators.ts'
import { OperatorMessage, parseOperatorMessage } from '#features/community/moderation/users/requests.ts'
import type { UserRecordView } from '#features/community/moderation/users/views.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { avatarOwner } from '#features/people/users/avatar.ts'
import { type AccountRow, getAccountByName } from '#features/people/users/queries.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, userPath } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { formPart } from '#web/ui/parts/actions.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { face, note } from '#web/ui/parts/lists.ts'
import { moderatedUser, showSection, takedownPath } from '../frame.ts'
import { pairs, timeOf } from '../parts.ts'
import { MODERATOR_AREA } from './accounts-page.ts'
import { relatedPart } from './related-part.ts'
import { spamButton } from './spam-button.ts'
import { historyParts, recordFacts, timelinePart } from './user-history.ts'
import { loadRecord, NOTE_LABELS, notePart, type RecordedUser, saveNote } from './user-note.ts'

type Data = { account: AccountRow } & RecordedUser

const PROFILE = fields(UserPatch, {
  username: { label: 'reports.user.username', isName: true },
  bio: { label: 'reports.user.bio', said: 'The text', rows: 3, isOptional: true },
})
const MESSAGE = fields(OperatorMessage, { message: { label: 'reports.ask.label', rows: 4 } })

export function userPage(pages: Pages): void {
  formPage<Data>(pages, {
    path: `${PATHS.moderation}/user/:id`,
    name: 'moderateUser',
    shows: 'The record of a user, the shared note',
    api: 'getUserRecord listRelatedAccounts getUserNote writeUserNote askOperators',
    load: loadUser,
    show: showUser,
    commands: { note: saveNote, ask, edit, 'remove-avatar': removeAvatar },
    labels: { ...NOTE_LABELS, ...MESSAGE.said, ...PROFILE.said },
    options: { role: 'moderator' },
  })
}

async function loadUser({ deps, param }: OwnRequest): Promise<Data> {
  const account = await getAccountByName(deps.db, param('id'), { withLeaving: true })
  return { account, ...(await loadRecord(deps, account)) }
}

async function ask({ deps, viewer }: OwnRequest, { account }: Data, state: FormState): Promise<Outcome> {
  const message = parseOperatorMessage(MESSAGE.read(state))
  await askOperators(deps, viewer, { accountId: account.id, message })
  return { done: 'operators-asked' }
}

async function edit({ deps, accounts, viewer }: OwnRequest, { account }: Data, state: FormState): Promise<Outcome> {
  const patch = PROFILE.changes(state, account)
  const { id: name, revision } = account
  await updateUser({ ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }, viewer, {
    name,
    patch,
    revision,
  })
  return { done: 'profile-changed', path: moderatedUser(account.id) }
}

async function removeAvatar({ deps, viewer }: OwnRequest, { account }: Data): Promise<Outcome> {
  const owner = avatarOwner(deps)
  await replaceIcon(deps, owner, { id: await owner.authorize(viewer, account.id), viewer, icon: null })
  return { done: 'avatar-removed' }
}

async function showUser(request: OwnRequest, data: Data, state: FormState) {
  const { page, t } = request
  const { account, record } = data
  return showSection(request, {
    section: '',
    title: t('reports.user.title', { name: account.username }),
    name: account.username,
    form: state,
    notes: record.suspended !== null && note(page, 'bad', suspensionText(page, record.suspended)),
    body: [
      await factsPart(request, data),
      notePart(page, { note: data.note, path: moderatedUser(account.id) }, stateOf(state, ['note'])),
      timelinePart(page, record),
      await relatedPart(request, MODERATOR_AREA, account),
      historyParts(page, record),
      profilePart(page, data, stateOf(state, ['edit'])),
      askPart(page, data, stateOf(state, ['ask'])),
    ],
  })
}

function suspensionText(page: PageContext, { since, until, reason }: NonNullable<UserRecordView['suspended']>): Part {
  const { rich } = page.language
  const from = rich('reports.user.suspended', { since: timeOf(page, since) })
  const end = until !== null && rich('reports.user.suspended-until', { until: timeOf(page, until) })
  return html`<p>${from} ${end}</p>${reason !== null && html`<p dir="auto">${reason}</p>`}`
}

async function factsPart(request: OwnRequest, { account, record }: Data): Promise<Markup> {
  const { page, deps, language, t } = request
  const { user, counts } = record
  const yesNo = (value: boolean): string => t(value ? 'reports.yes' : 'reports.no')
  const number = (value: number): string => wholeNumber(language, value)
  const content = html`<div class="row">${face({ name: user.username, url: user.avatar_url, isLarge: true })}${pairs([
    [t('reports.user.joined'), timeOf(page, user.created)],
    [t('reports.user.role'), t(`reports.role.${user.role}`)],
    [t('reports.user.badges'), badgesOf(user.badges).join(', ')],
    [t('reports.user.verified'), deps.config.accounts.requireVerifiedEmail && yesNo(record.email_verified)],
    [t('reports.user.two-factor'), yesNo(record.has_totp)],
    [t('reports.user.projects'), number(counts.projects)],
    ...recordFacts(page, record),
  ])}</div>`
  const links = html`<a class="button tight" href="${pathTo(page, userPath(account.username))}">${icon(page, 'user')}${t('reports.user.profile')}</a> ${await spamButton(request, { kind: 'user', id: account.id, name: account.username })}`
  return html`${sheetHead({ title: t('reports.user.facts'), action: links })}${sheetPart({ id: 'facts', content })}`
}

function profilePart(page: PageContext, { account }: Data, state: FormState): Markup {
  const { t } = page.language
  const content = html`${PROFILE.edit(page, state, account)}
<div class="line"><button name="do" value="edit">${t('work.save')}</button>${account.avatar_url !== null && html`<button class="plain" name="do" value="remove-avatar" formnovalidate>${t('reports.user.remove-avatar')}</button>`}<a class="button plain" href="${pathTo(page, takedownPath('user', account.id))}">${t('reports.takedown.link')}</a></div>`
  return formPart(page, { id: 'profile', title: t('reports.user.edit'), path: moderatedUser(account.id), content })
}

function askPart(page: PageContext, { account }: Data, state: FormState): Markup {
  const { t } = page.language
  const content = html`${MESSAGE.controls(page, state, {}, { message: { hint: t(mailKey(page, 'reports.ask.hint')) } })}
<div class="line"><button name="do" value="ask">${icon(page, 'send')}${t('reports.ask.send')}</button></div>`
  return formPart(page, { id: 'ask', title: t('reports.ask.title'), path: moderatedUser(account.id), content })
}
