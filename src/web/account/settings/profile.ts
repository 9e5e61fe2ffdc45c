// The profile settings: name, description, avatar.
import type { FastifyReply } from 'fastify'
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { avatarOwner } from '#features/people/users/avatar.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { fields } from '#web/kit/forms/fields.ts'
import { EMPTY, submittedForm } from '#web/kit/forms/form-page.ts'
import { attempt, errorsOf, uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'
import { showSettings } from '../account-layout.ts'
import { pictureSection } from './settings-views.ts'

const FIELDS = fields(UserPatch, {
  username: { label: 'field.username', autocomplete: 'username', isName: true },
  bio: { label: 'profile.bio', said: 'The text', hint: 'profile.bio.hint', rows: 2, isOptional: true },
})

export function profilePages(pages: Pages): void {
  pages.own('GET', PATHS.profile, 'showProfile', async (request) => showProfile(request), {
    shows: 'Username, text and image',
    api: 'getOwnUser updateUser setUserIcon deleteUserIcon',
  })
  pages.own('POST', PATHS.profile, 'sendProfile', async (request) => {
    const { deps, accounts, viewer, req, redirect } = request
    const { refusal } = await attempt(async () => {
      const commands = { ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }
      await updateUser(commands, viewer, { name: viewer.id, patch: FIELDS.read(submittedForm(req.body)) })
    }, FIELDS.said)
    return refusal === undefined
      ? redirect(PATHS.profile, 'profile')
      : showProfile(request, submittedForm(req.body, refusal))
  })
  pages.own('POST', `${PATHS.profile}/picture`, 'sendPicture', async (request) => {
    const { deps, req, viewer, redirect } = request
    const { refusal } = await attempt(async () => {
      await setIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, ...uploadedImage(req.body) })
    })
    return refusal === undefined
      ? redirect(PATHS.profile, 'picture')
      : showProfile(request, { ...EMPTY, refusal, errors: errorsOf({ refusal }) })
  })
  pages.own('POST', `${PATHS.profile}/picture/remove`, 'removePicture', async ({ deps, viewer, redirect }) => {
    await replaceIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, icon: null })
    return redirect(PATHS.profile, 'picture-removed')
  })
}

function showProfile(request: OwnRequest, state = EMPTY): FastifyReply {
  const { page, account, t } = request
  const { refusal } = state
  const action = pathTo(page, PATHS.profile)
  const content = html`${FIELDS.controls(page, state, account)}
<div><button class="main">${t('save')}</button></div>`
  const { username: name } = account
  const url = imageUrl(request.deps.config, account.avatar_url)
  const body = html`${pictureSection(page, { refusal, action: `${action}/picture`, url, name, isSquare: false, limit: 'smaller' })}
<section class="section"><h2>${t('profile.about')}</h2>
${form(page, { action, content })}
</section>`
  return showSettings(request, { title: t('settings.profile'), body, refusal })
}
