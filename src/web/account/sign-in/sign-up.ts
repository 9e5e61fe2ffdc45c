// Sign-up with the page that tells the user to open the emailed link, and the creation of the first admin.

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import { resendVerification } from '#features/people/accounts/credentials/change-email.ts'
import { getSignUpIdentity } from '#features/people/accounts/providers/sign-up-identity.ts'
import { FlowField } from '#features/people/accounts/requests.ts'
import { ACCOUNT_CHECKS, type AccountFields } from '#features/people/accounts/sign-up/create-account.ts'
import { createFirstAdmin, requireNoAdmin } from '#features/people/accounts/sign-up/create-first-admin.ts'
import { checksOf, signUp } from '#features/people/accounts/sign-up/sign-up.ts'
import { checkTermsVersion } from '#features/people/accounts/terms/check-terms-version.ts'
import { offeredTag } from '#lib/languages.ts'
import { attempt, checkValues, type FormRefusal, refusedField, withOtherErrors } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { leavesSite, PATHS, returnPath, withQuery } from '#web/kit/paths.ts'
import { noticeOf, type PageRequest } from '#web/kit/request.ts'
import { mailKey } from '#web/ui/mail-texts.ts'
import { captchaState, challengeOf } from './captcha.ts'
import { providersOf, redirectAfterSignIn } from './sign-in.ts'
import { checkMailView, firstAdminView, sentKeyView, signUpView } from './sign-in-views.ts'

const LABELS = {
  username: 'The username',
  email: 'The email address',
  password: 'The password',
  invitation: 'The invitation',
  challenge: 'The captcha',
}

export function signUpPages(pages: Pages): void {
  pages.open('GET', PATHS.signUp, 'showSignUp', showSignUp, { api: 'createAccount getGlobals' })
  pages.open('POST', PATHS.signUp, 'sendSignUp', async (request) => {
    const { accounts, cookie, req, reply, field, language } = request
    const fields = { username: field('username'), email: field('email'), password: field('password') }
    const { value: session, refusal } = await attempt(async () => {
      await checkTerms(request)
      return signUp(accounts, {
        fields,
        challenge: challengeOf(request),
        invitation: field('invitation'),
        termsVersion: termsVersionOf(request),
        language: offeredTag(language.tag),
        emailKey: field('email_key') === '' ? undefined : field('email_key'),
        providerFlow: field('provider_flow') === '' ? undefined : field('provider_flow'),
        honeypot: field('account_consent') !== '',
        client: clientOf(req),
      })
    }, LABELS)
    const checks = { terms_version: () => checkTerms(request) }
    if (refusal !== undefined && field('provider_flow') !== '') return showSignUp(request, refusal)
    if (refusal !== undefined) return showSignUp(request, await allErrors(request, fields, refusal, checks))
    if (session === undefined) return showSentKey(request, fields.email)
    cookie.write(reply, session)
    const returnTo = field('return')
    // The page of an application comes first, because the user came from there.
    const isChecked = accounts.config.accounts.requireVerifiedEmail && !leavesSite(returnPath(returnTo))
    return isChecked
      ? request.redirect(withQuery(PATHS.checkMail, { return: returnTo }))
      : redirectAfterSignIn(request, returnTo)
  })
}

/** The check box sends the version that the page linked. */
function termsVersionOf({ field }: PageRequest): number | undefined {
  const text = field('terms_version')
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}

/** Does the check of the command, with a message in the language of the page. */
async function checkTerms(request: PageRequest): Promise<void> {
  const version = termsVersionOf(request)
  await checkTermsVersion(request.accounts, version).catch(() => {
    throw refusedField(
      'terms_version',
      request.t(version === undefined ? 'sign-up.terms.required' : 'sign-up.terms.changed'),
    )
  })
}

/** Adds the errors of the other fields. The command names the first one. */
function allErrors(
  { accounts, req }: PageRequest,
  fields: AccountFields,
  refusal: FormRefusal,
  more: Readonly<Record<string, () => Promise<void>>> = {},
): Promise<FormRefusal> {
  const checks = checksOf(accounts, req.clientAddress)
  const { username, email, password } = ACCOUNT_CHECKS
  return withOtherErrors(
    refusal,
    {
      username: () => username(checks, fields),
      email: () => email(checks, fields),
      password: () => password(checks, fields),
      ...more,
    },
    LABELS,
  )
}

/** `started`: the user came back from a provider and continues with a sign-up. */
export async function showSignUp(
  request: PageRequest,
  refusal?: FormRefusal,
  started?: { flow: string; returnTo: string },
): Promise<FastifyReply> {
  const { accounts, deps, viewer, page, show, redirect, query, field, req } = request
  const isGet = req.method !== 'POST'
  const flow = started?.flow ?? (isGet ? '' : field('provider_flow'))
  const identity = flow === '' ? undefined : await getSignUpIdentity(accounts, flow).catch(() => undefined)
  if (isGet && viewer !== null) return redirect(returnPath(query('return')))
  const { registration, approve_accounts: isApproved, pages } = await getSettings(accounts)
  const isOpen = registration !== 'closed'
  const captcha = captchaState(deps.config)
  const body = signUpView(page, {
    username: isGet ? (identity?.name ?? '').replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 39) : field('username'),
    email: isGet ? (identity?.email ?? query('email')) : field('email'),
    emailKey: isGet ? query('key') : field('email_key'),
    invitation: registration !== 'invitation' ? undefined : isGet ? query('invitation') : field('invitation'),
    returnTo: started?.returnTo ?? (isGet ? query('return') : field('return')),
    provider: identity && {
      flow,
      text: request.t('sign-up.provider', {
        provider: accounts.providers.get(identity.provider)?.provider.name ?? identity.provider,
        name: identity.name,
      }),
    },
    providers: providersOf(accounts),
    refusal,
    captcha,
    isOpen,
    isApproved: isApproved && registration !== 'invitation',
    terms: deps.config.site.isServed ? pages.find(({ kind }) => kind === 'terms')?.version : undefined,
    hasPrivacy: pages.some(({ kind }) => kind === 'privacy'),
    agreed: isGet ? undefined : termsVersionOf(request),
  })
  return show({ title: page.language.t('sign-up'), body, refusal, widget: isOpen ? captcha.widget : undefined })
}

/** The same page for every email address. */
function showSentKey({ page, show }: PageRequest, email: string): FastifyReply {
  return show({ title: page.language.t(mailKey(page, 'check-mail')), body: sentKeyView(page, email) })
}

const Link = Type.Object({ flow: FlowField })

/** Creates the first admin. The first start of the server prints the link to this page. */
export function firstAdminPages(pages: Pages): void {
  // Opening the link changes nothing: the user can open it again before they send the form.
  pages.open('GET', PATHS.firstAdmin, 'showFirstAdmin', async (request) => {
    const { refusal } = await attempt(() => requireNoAdmin(request.deps.db))
    return showFirstAdmin(request, { flow: request.query('flow'), username: '', email: '', refusal })
  })
  pages.open('POST', PATHS.firstAdmin, 'sendFirstAdmin', async (request) => {
    const { accounts, cookie, deps, req, reply, field, redirect, language } = request
    const values = { flow: field('flow'), username: field('username'), email: field('email') }
    const fields = { username: values.username, email: values.email, password: field('password') }
    const { value: session, refusal } = await attempt(async () => {
      const { flow: secret } = checkValues(Link, { flow: values.flow })
      return createFirstAdmin(accounts, { secret, fields, language: offeredTag(language.tag), client: clientOf(req) })
    }, LABELS)
    if (refusal !== undefined)
      return showFirstAdmin(request, { ...values, refusal: await allErrors(request, fields, refusal) })
    cookie.write(reply, session)
    return redirect(deps.config.site.isServed ? PATHS.firstSteps : PATHS.profile)
  })
}

function showFirstAdmin(
  { page, show }: PageRequest,
  of: Parameters<typeof firstAdminView>[1] & { refusal?: FormRefusal | undefined },
) {
  return show({ title: page.language.t('first-admin'), body: firstAdminView(page, of), refusal: of.refusal })
}

export function checkMailPages(pages: Pages): void {
  pages.own('GET', PATHS.checkMail, 'showCheckMail', showCheckMail, {
    shows: 'The emailed link after sign-up, sent again',
    api: 'resendVerification',
  })
  pages.own('POST', PATHS.checkMail, 'sendCheckMail', async (request) => {
    const { accounts, viewer, field, redirect } = request
    const returnTo = field('return')
    const { refusal } = await attempt(() => resendVerification(accounts, viewer.id))
    if (refusal !== undefined) return showCheckMail(request, returnTo, refusal)
    return redirect(withQuery(PATHS.checkMail, { done: 'link-sent', return: returnTo }))
  })
}

async function showCheckMail(
  request: OwnRequest,
  returnTo = request.query('return'),
  refusal?: FormRefusal,
): Promise<FastifyReply> {
  const { account, page, show, redirect } = request
  if (account.email_verified || account.email === null) return redirect(returnPath(returnTo))
  const body = checkMailView(page, { email: account.email, returnTo, notice: noticeOf(request), refusal })
  return show({ title: page.language.t(mailKey(page, 'check-mail')), body, refusal })
}
