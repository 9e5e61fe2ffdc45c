// The profile settings: name, description, avatar.
import { imageUrl } from '#features/basics/images/hosted-image.ts'
import { replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { avatarOwner } from '#features/people/users/avatar.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { attempt, checkValues, errorsOf, type FormRefusal, uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, textArea, textField } from '#web/ui/parts/fields.ts'
import { showSettings } from '../account-layout.ts'
import { pictureSection } from './settings-views.ts'

const LABELS = { username: 'The username', bio: 'The text' }

export function profilePages(pages: Pages): void {
  pages.own('GET', PATHS.profile, 'showProfile', async (request) => showProfile(request), {
    shows: 'Username, text and image',
    api: 'getOwnUser updateUser setUserIcon deleteUserIcon',
  })
  pages.own('POST', PATHS.profile, 'sendProfile', async (request) => {
    const { deps, accounts, viewer, field, redirect } = request
    // Browsers send line breaks as two characters; the limit counts what the user typed.
    const [username, bio] = [field('username'), field('bio').replaceAll('\r\n', '\n')]
    const { refusal } = await attempt(async () => {
      const patch = checkValues(UserPatch, { username, bio: bio === '' ? null : bio })
      await updateUser({ ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }, viewer, {
        name: viewer.id,
        patch,
      })
    }, LABELS)
    return refusal === undefined ? redirect(PATHS.profile, 'profile') : showProfile(request, { username, bio, refusal })
  })
  pages.own('POST', `${PATHS.profile}/picture`, 'sendPicture', async (request) => {
    const { deps, req, viewer, redirect } = request
    const { refusal } = await attempt(async () => {
      await setIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, ...uploadedImage(req.body) })
    })
    return refusal === undefined ? redirect(PATHS.profile, 'picture') : showProfile(request, { refusal })
  })
  pages.own('POST', `${PATHS.profile}/picture/remove`, 'removePicture', async ({ deps, viewer, redirect }) => {
    await replaceIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, icon: null })
    return redirect(PATHS.profile, 'picture-removed')
  })
}

function showProfile(request: OwnRequest, typed: { username?: string; bio?: string; refusal?: FormRefusal } = {}) {
  const { page, account } = request
  const { username = account.username, bio = account.bio ?? '', refusal } = typed
  const { t } = page.language
  const errors = errorsOf(typed)
  const action = pathTo(page, PATHS.profile)
  const content = html`${textField(page, { name: 'username', label: t('field.username'), value: username, maxLength: 39, autocomplete: 'username', isName: true, errors })}
${textArea(page, { name: 'bio', label: t('profile.bio'), hint: t('profile.bio.hint'), value: bio, maxLength: 160, isOptional: true, errors })}
<div><button class="main">${t('save')}</button></div>`
  const { username: name } = account
  const url = imageUrl(request.deps.config, account.avatar_url)
  const body = html`${pictureSection(page, { refusal, action: `${action}/picture`, url, name, isSquare: false, limit: 'smaller' })}
<section class="section"><h2>${t('profile.about')}</h2>
${form(page, { action, content })}
</section>`
  return showSettings(request, { title: t('settings.profile'), body, refusal })
}
