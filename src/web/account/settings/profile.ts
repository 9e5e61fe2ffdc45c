// The profile: name, words about oneself, picture.

import { replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { avatarOwner } from '#features/people/users/avatar.ts'
import { UserPatch } from '#features/people/users/requests.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { checkValues, pictureOf } from '#web/kit/forms.ts'
import { type AccountPageRequest, attempt, type FormRefusal, type PageDeps, type Pages } from '#web/kit/page-request.ts'
import { PATHS } from '#web/kit/paths.ts'
import { profileView } from './settings-views.ts'

const LABELS = { username: 'The username', bio: 'The text', picture: 'The picture' }

export function profilePages(pages: Pages, { deps, accounts }: PageDeps): void {
  const form = (
    { page, account, showSettings }: AccountPageRequest,
    typed: { username?: string; bio?: string; refusal?: FormRefusal } = {},
  ) => {
    const { username = account.username, bio = account.bio ?? '', refusal } = typed
    const body = profileView(page, { account, username, bio, refusal })
    return showSettings({ title: page.language.t('settings.profile'), body, refusal })
  }
  pages.own('GET', PATHS.profile, 'showProfile', async (request) => form(request))
  pages.own('POST', PATHS.profile, 'sendProfile', async (request) => {
    const { viewer, field, redirect } = request
    // Browsers send line breaks as two characters; the limit counts what the person typed.
    const [username, bio] = [field('username'), field('bio').replaceAll('\r\n', '\n')]
    const { refusal } = await attempt(async () => {
      const patch = checkValues(UserPatch, { username, bio: bio === '' ? null : bio })
      await updateUser({ ...deps, confirmOwner: createConfirmOwner(accounts) }, viewer, { name: viewer.id, patch })
    }, LABELS)
    return refusal === undefined ? redirect(PATHS.profile, 'profile') : form(request, { username, bio, refusal })
  })
  pages.own('POST', `${PATHS.profile}/picture`, 'sendPicture', async (request) => {
    const { req, viewer, redirect } = request
    const { refusal } = await attempt(async () => {
      await setIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, ...pictureOf(req.body) })
    })
    return refusal === undefined ? redirect(PATHS.profile, 'picture') : form(request, { refusal })
  })
  pages.own('POST', `${PATHS.profile}/picture/remove`, 'removePicture', async ({ viewer, redirect }) => {
    await replaceIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, icon: null })
    return redirect(PATHS.profile, 'picture-removed')
  })
}
