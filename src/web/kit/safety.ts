// Protects all pages: the headers stop hostile text from running scripts, framing the page or sending forms, and only
// Depot's own pages can post to its forms.
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { FastifyRequest } from 'fastify'
import { ApiError, forbidden } from '#lib/errors.ts'
import { checkStorable, isHostName } from '#lib/text/text-rules.ts'
import { PLAYER_ORIGINS } from '#lib/text/video-links.ts'
import type { Config } from '#platform/config/config.ts'
import type { App } from '#platform/http/server.ts'
import { cookieName, cookieOptions } from './cookies.ts'
import { PATHS } from './paths.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the form carries no token. Only for forms that change nothing but the look and the language, so that their pages can be
     * cached, and for forms with a key in the URL, which mail programs send.
     */
    tokenless?: boolean
    /** Whether the handler calls `requireToken`, after it has found that the viewer can see the page. */
    checksToken?: boolean
  }
  interface FastifyRequest {
    /** The error of the token of a form whose handler calls `requireToken`. */
    tokenError?: Error
  }
  interface FastifyReply {
    /** Additional target of the form on the page, as a source of Content-Security-Policy. Empty: Depot's own pages only. */
    formTarget: string
    /** Sources that the captcha on the page loads from, for Content-Security-Policy. */
    widgetSources: string
    /** Players that the page can load, as sources of Content-Security-Policy. */
    frameSources: string
  }
}

/** Headers that a handler can set itself: images for other sites differ from pages. */
const OWN_HEADERS = ['referrer-policy', 'content-security-policy', 'cross-origin-resource-policy']

/** Registers cookies, CSRF tokens and security headers in this scope. */
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
  app.decorateReply('frameSources', '')
  const headers = pageHeaders(config)
  app.addHook('onSend', (_req, reply, payload, done) => {
    // Other sites must not read pages, unlike the API.
    void reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers')
    const own = OWN_HEADERS.map((name) => [name, reply.getHeader(name)] as const)
    void reply.headers(headers(reply))
    for (const [name, value] of own) if (value !== undefined) void reply.header(name, value)
    done(null, payload)
  })
  app.addHook('preValidation', (req, reply, done) => {
    if (req.method !== 'POST') return done()
    if (isCrossSite(req, config)) return done(forbidden('This form was sent from another site'))
    try {
      checkStorable(req.body)
    } catch (error) {
      return done(error as Error)
    }
    if (req.routeOptions.config.tokenless === true) return done()
    if (req.routeOptions.config.checksToken !== true) return app.csrfProtection(req, reply, done)
    // The library sends its error, and uses nothing else of the reply.
    const keep = (error: Error): void => {
      req.tokenError = error
      done()
    }
    app.csrfProtection(req, { send: keep } as never, done)
  })
}

/** @throws Error of the CSRF library if the form has no valid token. */
export function requireToken({ tokenError }: FastifyRequest): void {
  if (tokenError !== undefined) throw tokenError
}

/** The values of pages without another target, captcha or player. */
export const NOWHERE = { formTarget: '', widgetSources: '', frameSources: '' }

/** Returns a function that computes the security headers of a page. */
export function pageHeaders(config: Config) {
  const { origin } = new URL(config.files.baseUrl)
  const policy = (target: string, widget: string, frames: string): string => {
    const from = (sources: string): string => (sources === '' ? '' : ` ${sources}`)
    return [
      "default-src 'none'",
      `script-src 'self'${from(widget)}`,
      `style-src 'self'${from(widget)}`,
      `img-src 'self' ${origin}`,
      "font-src 'self'",
      "manifest-src 'self'",
      `connect-src 'self'${from(widget)}`,
      ...(widget + frames === '' ? [] : [`frame-src${from(widget)}${from(frames)}`]),
      `form-action 'self'${from(target)}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; ')
  }
  const usual = policy('', '', '')
  const base = new URL(config.http.baseUrl).pathname.replace(/\/$/, '')
  // Names the rules by which browsers prefetch likely next pages, as a string of RFC 8941.
  const rules = config.site.isServed ? { 'speculation-rules': `"${base}${PATHS.speculation}"` } : {}
  return ({ formTarget, widgetSources, frameSources }: typeof NOWHERE = NOWHERE): Record<string, string> => ({
    'content-security-policy':
      formTarget + widgetSources + frameSources === '' ? usual : policy(formTarget, widgetSources, frameSources),
    ...rules,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // With `no-referrer`, browsers would also hide the origin of forms from Depot. A captcha service can need the origin
    // of the site, but must not see the URL of the page, which can contain the user's destination.
    'referrer-policy': widgetSources === '' ? 'same-origin' : 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
}

/**
 * Returns the source of Content-Security-Policy that lets a form lead to this URL: its origin, or its scheme if a policy
 * cannot name the origin (installed programs, and IPv6 hosts such as [::1]).
 */
export function formTargetOf(url: string): string {
  const { protocol, origin, hostname } = new URL(url)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && isHostName(hostname) ? origin : protocol
}

/** Returns whether the browser reports that another site sent the form. Without a report, only the token protects. */
export function isCrossSite(req: FastifyRequest, config: Config): boolean {
  const site = req.headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin } = req.headers
  if (origin === undefined) return false
  const host = URL.parse(origin)?.host
  return host !== new URL(config.http.baseUrl).host && host !== req.headers.host
}

/** Converts an error of the CSRF library into the error to show; undefined for other errors. */
export function staleFormError(error: Error & { code?: string }): ApiError | undefined {
  if (error.code?.startsWith('FST_CSRF_') !== true) return undefined
  const description = 'This form is too old. Go back, load the page again and send it once more.'
  return new ApiError('forbidden', description, { cause: error })
}

/** Returns the players of the videos on a page, as sources of Content-Security-Policy; empty for most pages. */
export function frameSourcesOf(document: string): string {
  const card = ' data-video="'
  if (!document.includes(card)) return ''
  return PLAYER_ORIGINS.filter((origin) => hasInLink(document, `${card}${origin}/`)).join(' ')
}

/** Texts of users can contain the same characters outside of a tag. */
function hasInLink(document: string, attribute: string): boolean {
  for (let at = document.indexOf(attribute); at >= 0; at = document.indexOf(attribute, at + 1)) {
    const tag = document.lastIndexOf('<', at)
    if (document.startsWith('<a ', tag) && document.indexOf('>', tag) > at) return true
  }
  return false
}
