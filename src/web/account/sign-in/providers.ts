// Sign-in at other services: the button that leads there, and the page to which they send users back.
import type { FastifyReply } from 'fastify'
import { clientOf } from '#features/people/accounts/account-deps.ts'
import {
  answerProvider,
  type ProviderPurpose,
  startProvider,
} from '#features/people/accounts/providers/answer-provider.ts'
import { CALLBACK_PATH } from '#features/people/accounts/providers/provider-client.ts'
import { ApiError } from '#lib/errors.ts'
import { cookieName, cookieOptions } from '#web/kit/cookies.ts'
import { attempt, type FormRefusal } from '#web/kit/forms/read-form.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS, returnPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { slip } from '#web/ui/parts/lists.ts'
import { showReset } from './passwords.ts'
import { redirectAfterSignIn, showCode, showSignIn } from './sign-in.ts'
import { showSignUp } from './sign-up.ts'

const PURPOSES: readonly ProviderPurpose[] = ['sign-in', 'link', 'confirm']
const COOKIE_SECONDS = 900

export function providerPages(pages: Pages): void {
  pages.open('POST', PATHS.signInProvider, 'startProviderSignIn', start)
  pages.open('GET', `${CALLBACK_PATH}/:provider`, 'answerProviderSignIn', answer, {
    shows: false,
    whenReadOnly: 'refused',
  })
}

/** Leads to the provider by a page: browsers apply the policy of a page with a form to all redirects of the form. */
async function start(request: PageRequest): Promise<FastifyReply> {
  const { accounts, deps, viewer, reply, page, show, field } = request
  const purpose = PURPOSES.find((each) => each === field('purpose')) ?? 'sign-in'
  const { value, refusal } = await attempt(() =>
    startProvider(accounts, {
      id: field('provider'),
      purpose,
      viewer,
      returnTo: field('return'),
      undoDeletion: field('undo_deletion') === 'yes',
    }),
  )
  if (refusal !== undefined) return refuse(request, { purpose, refusal, returnTo: field('return') })
  reply.setCookie(cookieName(deps.config, 'provider'), value.state, {
    ...cookieOptions(deps.config),
    maxAge: COOKIE_SECONDS,
  })
  const { t } = page.language
  const title = t('provider.leave', { name: value.name })
  const body = slip(html`<h1>${title}</h1>
<p><a class="button main" href="${value.url}">${t('go-on')}</a></p>`)
  return show({ title, body, refresh: value.url })
}

async function answer(request: PageRequest): Promise<FastifyReply> {
  const { accounts, cookie, deps, viewer, req, reply, param, query, redirect } = request
  const name = cookieName(deps.config, 'provider')
  const secret = req.cookies[name] ?? ''
  reply.clearCookie(name, cookieOptions(deps.config))
  const { pathname, search } = new URL(req.raw.url ?? '', 'http://local')
  const url = `${deps.config.http.baseUrl}${pathname}${search}`
  let canUndo = false
  const { value, refusal } = await attempt(() =>
    answerProvider(accounts, {
      id: param('provider'),
      url,
      state: query('state'),
      cookie: secret,
      viewer,
      client: clientOf(req),
    }).catch((error: unknown) => {
      canUndo = error instanceof ApiError && error.details?.['can_undo'] === true
      throw error
    }),
  )
  if (refusal !== undefined) return refuse(request, { purpose: viewer === null ? 'sign-in' : 'link', refusal, canUndo })
  const { returnTo, next } = value
  if (next === 'linked') return redirect(PATHS.security, 'provider-linked')
  if (next === 'confirmed') return redirect(returnPath(returnTo))
  if (next === 'code') return showCode(request, { flow: value.flow, returnTo })
  if (next === 'sign-up') return showSignUp(request, undefined, { flow: value.flow, returnTo })
  const { result } = value
  if ('flow' in result) return showReset(request, { flow: result.flow, isTemporary: true })
  cookie.write(reply, result.session)
  return redirectAfterSignIn(request, returnTo)
}

/** Shows the error on the page on which the sign-in began, or a page with a link to it. */
function refuse(
  request: PageRequest,
  of: { purpose: ProviderPurpose; refusal: FormRefusal; returnTo?: string; canUndo?: boolean },
): Promise<FastifyReply> | FastifyReply {
  const { purpose, refusal, returnTo = '', canUndo = false } = of
  if (purpose === 'sign-in') return showSignIn(request, { name: '', returnTo, refusal, canUndo })
  const { page, show, language } = request
  const title = language.t('provider.failed')
  const body = slip(html`<h1>${title}</h1>
<p role="alert">${refusal.message}</p>
<p><a class="button" href="${pathTo(page, PATHS.security)}">${language.t('settings.security')}</a></p>`)
  return show({ title, body, refusal })
}
