// The session of a browser. Only pages look at the cookie: the API looks at the Authorization header alone, so that no
// other site can make a browser call it.
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '#platform/config/config.ts'

export type SessionCookie = {
  read(req: Pick<FastifyRequest, 'cookies'>): string | undefined
  write(reply: FastifyReply, session: { session: string | null; expires: string }): void
  clear(reply: FastifyReply): void
}

/** Cookies of a service on https carry the prefix that no other host of its domain can set (RFC 6265bis, 4.1.3.2). */
export function cookieName(config: Config, name: string): string {
  return isSecure(config) ? `__Host-depot-${name}` : `depot-${name}`
}

export function cookieOptions(config: Config): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(config) }
}

function isSecure(config: Config): boolean {
  return config.http.baseUrl.startsWith('https:')
}

export function createSessionCookie(config: Config): SessionCookie {
  const name = cookieName(config, 'session')
  const csrf = cookieName(config, 'csrf')
  const options = cookieOptions(config)
  return {
    read: (req) => req.cookies[name],
    write: (reply, { session, expires }) => {
      if (session === null) throw new Error('A session without its secret')
      reply.setCookie(name, session, { ...options, expires: new Date(expires) })
      // What was known before the sign-in proves nothing after it.
      reply.clearCookie(csrf, options)
    },
    clear: (reply) => {
      reply.clearCookie(name, options)
      reply.clearCookie(csrf, options)
    },
  }
}
