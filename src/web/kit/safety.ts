// What every page has in common against misuse: headers that leave a hostile text nothing to run, frame or send, and
// forms that only our own pages can post.
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { FastifyRequest } from 'fastify'
import { ApiError, forbidden } from '#lib/errors.ts'
import { checkStorable } from '#lib/text/text-rules.ts'
import type { Config } from '#platform/config/config.ts'
import type { App } from '#platform/http/server.ts'
import { cookieName, cookieOptions } from './session-cookie.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A form that changes nothing but a look: it carries no token, so that pages for everybody stay the same for all. */
    tokenless?: boolean
  }
  interface FastifyReply {
    /** Where the form on this page may lead besides our own pages, as a source of Content-Security-Policy. */
    formTarget: string
    /** Where the captcha on this page loads things from, the same. */
    widgetSources: string
  }
}

/** Registers cookies, CSRF tokens and headers in this scope. */
export async function protectPages(app: App, config: Config): Promise<void> {
  await app.register(cookie)
  await app.register(csrf, {
    cookieKey: cookieName(config, 'csrf'),
    cookieOpts: cookieOptions(config),
    getToken: (req: FastifyRequest) => {
      const token = (req.body as Record<string, unknown> | undefined)?.['_csrf']
      return typeof token === 'string' ? token : undefined
    },
  })
  app.decorateReply('formTarget', '')
  app.decorateReply('widgetSources', '')
  const headers = pageHeaders(config)
  app.addHook('onSend', (_req, reply, payload, done) => {
    // Other sites have no business with what a person sees here.
    void reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers')
    void reply.headers(headers(reply))
    done(null, payload)
  })
  app.addHook('preValidation', (req, reply, done) => {
    if (req.method !== 'POST') return done()
    const problem = crossSiteProblem(req, config)
    if (problem !== undefined) return done(problem)
    try {
      checkStorable(req.body)
    } catch (error) {
      return done(error as Error)
    }
    if (req.routeOptions.config.tokenless === true) return done()
    app.csrfProtection(req, reply, done)
  })
}

/** Where a page leads to and loads from besides our own host, as `FastifyReply` has it. */
const NOWHERE = { formTarget: '', widgetSources: '' }

/** The headers of every page. */
export function pageHeaders(config: Config) {
  const { origin } = new URL(config.files.baseUrl)
  const policy = (target: string, widget: string): string => {
    const from = (sources: string): string => (sources === '' ? '' : ` ${sources}`)
    return [
      "default-src 'none'",
      `script-src 'self'${from(widget)}`,
      `style-src 'self'${from(widget)}`,
      `img-src 'self' ${origin}`,
      "font-src 'self'",
      "manifest-src 'self'",
      ...(widget === '' ? [] : [`frame-src ${widget}`, `connect-src ${widget}`]),
      `form-action 'self'${from(target)}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; ')
  }
  const usual = policy('', '')
  return ({ formTarget, widgetSources }: typeof NOWHERE = NOWHERE): Record<string, string> => ({
    'content-security-policy': formTarget === '' && widgetSources === '' ? usual : policy(formTarget, widgetSources),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`, under which browsers hide the origin of forms from us too. A captcha's service may ask for
    // which site it is; the address of the page, which says where somebody wants to go, is none of its business.
    'referrer-policy': widgetSources === '' ? 'same-origin' : 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
}

/**
 * The source that lets a form lead to this address: its origin; or the scheme where the origin has no form as a source,
 * which is so for installed programs and for IPv6 addresses such as [::1].
 */
export function formTargetOf(address: string): string {
  const { protocol, origin, host } = new URL(address)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && !host.startsWith('[') ? origin : protocol
}

/** Browsers say where a form comes from; who says nothing is held by the token alone. */
function crossSiteProblem(req: FastifyRequest, config: Config): ApiError | undefined {
  const site = req.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none' ? undefined : elsewhere()
  const { origin } = req.headers
  if (origin === undefined) return undefined
  const host = URL.parse(origin)?.host
  return host === new URL(config.http.baseUrl).host || host === req.headers.host ? undefined : elsewhere()
}

function elsewhere(): ApiError {
  return forbidden('This form was sent from another site')
}

/** The refusal behind an error of the CSRF library; undefined for other errors. */
export function staleFormError(error: Error & { code?: string }): ApiError | undefined {
  if (error.code?.startsWith('FST_CSRF_') !== true) return undefined
  const description = 'This form is too old. Go back, load the page again and send it once more.'
  return new ApiError('forbidden', description, { cause: error })
}
