// The time zone that a person chose last, in a cookie.
import type { FastifyReply } from 'fastify'
import { isTimeZone } from '#lib/zoned-time.ts'
import type { Config } from '#platform/config/config.ts'
import { cookieName, cookieOptions } from '#web/kit/cookies.ts'
import type { OwnRequest } from '#web/kit/pages.ts'

const SECONDS = 365 * 86_400

/** Default: UTC. */
export function lastZone({ deps, req }: Pick<OwnRequest, 'deps' | 'req'>): string {
  const zone = req.cookies[cookieName(deps.config, 'zone')] ?? ''
  return isTimeZone(zone) ? zone : 'UTC'
}

export function rememberZone({ deps, reply }: { deps: { config: Config }; reply: FastifyReply }, zone: string): void {
  reply.setCookie(cookieName(deps.config, 'zone'), zone, { ...cookieOptions(deps.config), maxAge: SECONDS })
}
