// The account pages that a visitor opens, and those with access tokens and applications. `personal-pages.ts` has the others.
import { COMMAND } from '#features/basics/audit/actor.ts'
import { publishPage } from '#features/basics/settings/pages/publish-page.ts'
import { makeFirstAdminLink } from '#features/people/accounts/sign-up/create-first-admin.ts'
import type { TestApp } from '../app/test-app.ts'
import { CALLBACK, getCode, makeApplication } from '../http/oauth-steps.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'

/** Lists the pages. The instance must have no admin, so that the page that creates the first admin has its form. */
export async function makeAccountPages(t: TestApp): Promise<ShownPage[]> {
  const person = await t.make.account({ username: 'ida-marsh' })
  const application = await makeApplication(t, person, {
    name: 'Chart <b>Maker</b>',
    url: 'https://charts.example.org/',
  })
  const other = await makeApplication(t, await t.make.account(), { name: 'Launcher' })
  const allowed = await makeApplication(t, await t.make.account(), { name: 'Map of servers' })
  await getCode(t, person, { client_id: allowed.id })
  await t.make.pat(person)
  const consent = (id: string): string =>
    `/account/authorize?${new URLSearchParams({ client_id: id, redirect_uri: CALLBACK })}`
  await publishPage(t.deps, COMMAND, { kind: 'privacy', text: 'We store little.' })
  await publishPage(t.deps, COMMAND, { kind: 'terms', text: '## Be kind\n\nUploads are public.' })
  const flow = `flow=${await makeFirstAdminLink(t.deps)}`
  const open = pagesOf()
  const own = pagesOf(person)
  const unverified = pagesOf(await t.make.account({ email_verified: false }))
  return [
    open('sign-up', 'showSignUp', '/account/sign-up'),
    open('first-admin', 'showFirstAdmin', `/account/first-admin?${flow}`),
    open('sign-in', 'showSignIn', '/account/sign-in'),
    open('forgotten-password', 'showForgottenPassword', '/account/forgot-password'),
    open('new-password', 'showPasswordReset', `/account/reset-password?${flow}`),
    open('verify-email', 'showEmailVerification', `/account/verify-email?${flow}`),
    open('undo-email', 'showEmailUndoing', `/account/undo-email?${flow}`),
    unverified('check-mail', 'showCheckMail', '/account/check-mail'),
    own('consent', 'showConsent', consent(other.id)),
    own('terms', 'showTermsConsent', '/account/terms?return=/mods'),
    own('profile', 'showProfile', '/account'),
    own('tokens', 'showTokens', '/account/tokens'),
    own('applications', 'showApplications', '/account/applications'),
    own('new-application', 'showNewApplication', '/account/applications/new'),
    own('application', 'showApplication', `/account/applications/${application.id}`),
    own('authorizations', 'showAuthorizations', '/account/authorizations'),
  ]
}
