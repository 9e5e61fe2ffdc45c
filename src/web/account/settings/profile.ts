// The profile settings: name, description, avatar.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { avatarOwner } from '#features/people/users/avatar.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { type FormState, formPage, type Outcome, stateOf } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { showSettings } from '../account-layout.ts'
import { pictureCommands, pictureSection } from './settings-views.ts'

const FIELDS = fields(UserPatch, {
  username: { label: 'field.username', autocomplete: 'username', isName: true },
  bio: { label: 'profile.bio', said: 'The text', hint: 'profile.bio.hint', rows: 2, isOptional: true },
})

export function profilePages(pages: Pages): void {
  formPage<AccountRow>(pages, {
    path: PATHS.profile,
    name: 'showProfile',
    shows: 'Username, text and image',
    api: 'getOwnUser updateUser setUserIcon deleteUserIcon',
    options: { needsConsent: true },
    load: async ({ account }) => account,
    show: showProfile,
    commands: { save, ...pictureCommands(avatarOwner) },
    labels: FIELDS.said,
  })
}

async function save({ deps, accounts, viewer }: OwnRequest, _: AccountRow, form: FormState): Promise<Outcome> {
  const commands = { ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }
  await updateUser(commands, viewer, { name: viewer.id, patch: FIELDS.read(form) })
  return { done: 'profile' }
}

function showProfile(request: OwnRequest, account: AccountRow, state: FormState): FastifyReply {
  const { page, t } = request
  const { refusal } = state
  const action = pathTo(page, PATHS.profile)
  const content = html`${FIELDS.controls(page, stateOf(state, ['']), account)}
<div><button class="main">${t('save')}</button></div>`
  const { username: name } = account
  const url = imageUrl(request.deps.config, account.avatar_url)
  const body = html`${pictureSection(page, { refusal, action, url, name, isSquare: false, limit: 'smaller' })}
<section class="section"><h2>${t('profile.about')}</h2>
${form(page, { action, content })}
</section>`
  return showSettings(request, { title: t('settings.profile'), body, refusal })
}
