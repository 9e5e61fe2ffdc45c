// What every page has in common against misuse: headers that leave a hostile text nothing to run, frame or send, and
// forms that only our own pages can post.
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#http/server.ts'
import { ApiError, forbidden } from '#lib/errors.ts'
import { checkStorable } from '#lib/text-rules.ts'
import type { Config } from '../../config.ts'
import { cookieName, cookieOptions } from './session-cookie.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Where the form on this page may lead besides our own pages, as a source of Content-Security-Policy. */
    formTarget: string
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
  const headers = pageHeaders(config)
  app.addHook('onSend', async (_req, reply) => {
    // Other sites have no business with what a person sees here.
    void reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers')
    void reply.headers(headers(reply))
  })
  app.addHook('preValidation', (req, reply, done) => {
    if (req.method !== 'POST') return done()
    const fault = crossSiteFault(req, config)
    if (fault !== undefined) return done(fault)
    try {
      checkStorable(req.body)
    } catch (error) {
      return done(error as Error)
    }
    app.csrfProtection(req, reply, done)
  })
}

function pageHeaders(config: Config) {
  const { origin } = new URL(config.files.baseUrl)
  const policy = (target: string): string =>
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src 'self' ${origin}`,
      `form-action 'self'${target === '' ? '' : ` ${target}`}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; ')
  return ({ formTarget }: FastifyReply): Record<string, string> => ({
    'content-security-policy': policy(formTarget),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`, under which browsers hide the origin of forms from us too.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
}

/** The source that lets a form lead to this address: its origin, or the scheme of an installed program. */
export function formTargetOf(address: string): string {
  const { protocol, origin } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol
}

/** Browsers say where a form comes from; who says nothing is held by the token alone. */
function crossSiteFault(req: FastifyRequest, config: Config): ApiError | undefined {
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

/** The fault behind an error of the CSRF library; undefined for other errors. */
export function staleFormFault(error: Error & { code?: string }): ApiError | undefined {
  if (error.code?.startsWith('FST_CSRF_') !== true) return undefined
  const description = 'This form is too old. Go back, load the page again and send it once more.'
  return new ApiError('forbidden', description, { cause: error })
}
