// The account pages: sign-up and sign-in, consent, settings. They work without scripts, use the commands of the API and
// have no additional rules. See docs/contributors/pages.md.

import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { updateUser } from '#features/people/users/update-user.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
import { offeredTag } from '#lib/languages.ts'
import type { App } from '#platform/http/server.ts'
import { ANNOUNCEMENT_KEY, writeChoice } from '#web/kit/cookies.ts'
import { registerArea } from '#web/kit/pages.ts'
import { ownPath, PATHS } from '#web/kit/paths.ts'
import type { Area, PageRequest, WebDeps } from '#web/kit/request.ts'
import { languageOf } from '#web/ui/languages.ts'
import { THEMES } from '#web/ui/page-context.ts'
import { applicationPages } from './access/applications.ts'
import { authorizePages } from './access/authorize.ts'
import { tokenPages } from './access/tokens.ts'
import { accountDataPages } from './settings/account-data.ts'
import { notificationEmailPages } from './settings/notification-emails.ts'
import { profilePages } from './settings/profile.ts'
import { securityPages } from './settings/security.ts'
import { sessionPages } from './settings/sessions.ts'
import { termsPages } from './settings/terms.ts'
import { passwordPages, passwordStrengthPages } from './sign-in/passwords.ts'
import { providerPages } from './sign-in/providers.ts'
import { signInPages } from './sign-in/sign-in.ts'
import { checkMailPages, firstAdminPages, signUpPages } from './sign-in/sign-up.ts'

const ACCOUNT: Area = {
  defaults: { isUnlisted: true, className: 'page account' },
  isStored: false,
  wayOut: { path: PATHS.profile, label: 'error.to-account' },
}

export function accountPages(app: App, web: WebDeps): void {
  registerArea(app, web, ACCOUNT, (pages) => {
    pages.open('POST', PATHS.preferences, 'setPreferences', savePreferences, { tokenless: true })
    signUpPages(pages)
    checkMailPages(pages)
    firstAdminPages(pages)
    signInPages(pages)
    providerPages(pages)
    passwordPages(pages)
    passwordStrengthPages(pages)
    authorizePages(pages)
    profilePages(pages)
    securityPages(pages)
    notificationEmailPages(pages)
    sessionPages(pages)
    tokenPages(pages)
    applicationPages(pages)
    accountDataPages(pages)
    termsPages(pages)
  })
}

/** The form for theme and language in the footer of every page, and the form that hides the announcement without scripts. */
async function savePreferences(request: PageRequest) {
  const { deps, reply, page, field, redirect } = request
  const [theme, language, announcement] = [field('theme'), field('language'), field('announcement')]
  if (THEMES.some((name) => name === theme)) writeChoice(reply, deps.config, { name: 'theme', value: theme })
  if (languageOf(language) !== undefined) writeChoice(reply, deps.config, { name: 'language', value: language })
  if (ANNOUNCEMENT_KEY.test(announcement))
    writeChoice(reply, deps.config, { name: 'announcement', value: announcement })
  await saveLanguage(request, language)
  return redirect(ownPath(field('return')) ?? page.site.paths.home)
}

/** Stores the language of the site for the account of a signed-in user. */
async function saveLanguage({ deps, accounts, viewer }: PageRequest, tag: string): Promise<void> {
  const language = offeredTag(tag)
  if (viewer === null || language === undefined) return
  const [user] = await listCachedUsers(deps, [viewer.id])
  if (user?.private.language === language) return
  const commands = { ...deps, endLostAccess, confirmOwner: createConfirmOwner(accounts) }
  await updateUser(commands, viewer, { name: viewer.id, patch: { language } })
}
