// The profile: name, words about oneself, picture.
import { replaceIcon, setIcon } from '#features/pictures/icons.ts'
import { avatarOwner } from '#features/users/avatar.ts'
import { updateUser } from '#features/users/update-user.ts'
import { UserPatch } from '#features/users/views.ts'
import { checkValues, pictureOf } from './forms.ts'
import { attempt, type FormFault, type OwnVisit, type PageDeps, type Pages } from './page-kit.ts'
import { PATHS } from './paths.ts'

const LABELS = { username: 'The username', bio: 'The text', picture: 'The picture' }

export function profilePages(pages: Pages, { deps }: PageDeps): void {
  const form = ({ show, account }: OwnVisit, typed: { username?: string; bio?: string; fault?: FormFault } = {}) =>
    show('profile', {
      title: 'Profile',
      status: typed.fault?.status ?? 200,
      fault: typed.fault,
      username: typed.username ?? account.username,
      bio: typed.bio ?? account.bio ?? '',
    })
  pages.own('GET', PATHS.profile, 'showProfile', async (visit) => form(visit))
  pages.own('POST', PATHS.profile, 'sendProfile', async (visit) => {
    const { viewer, field, lead } = visit
    // Browsers send line breaks as two characters; the limit counts what the person typed.
    const [username, bio] = [field('username'), field('bio').replaceAll('\r\n', '\n')]
    const { fault } = await attempt(async () => {
      const patch = checkValues(UserPatch, { username, bio: bio === '' ? null : bio })
      await updateUser(deps, viewer, { name: viewer.id, patch })
    }, LABELS)
    return fault === undefined ? lead(PATHS.profile, 'profile') : form(visit, { username, bio, fault })
  })
  pages.own('POST', `${PATHS.profile}/picture`, 'sendPicture', async (visit) => {
    const { req, viewer, lead } = visit
    const { fault } = await attempt(async () => {
      await setIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, ...pictureOf(req.body) })
    })
    return fault === undefined ? lead(PATHS.profile, 'picture') : form(visit, { fault })
  })
  pages.own('POST', `${PATHS.profile}/picture/remove`, 'removePicture', async ({ viewer, lead }) => {
    await replaceIcon(deps, avatarOwner(deps), { id: viewer.id, viewer, icon: null })
    return lead(PATHS.profile, 'picture-removed')
  })
}
