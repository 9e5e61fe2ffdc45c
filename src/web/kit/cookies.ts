// The cookies of the web site: the session of a browser, and what visitors choose without an account: theme, language,
// game version and loader. Only pages read them. The API reads the Authorization header alone, so another site cannot
// make a browser call it with the user's session.
import { createHash } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '#platform/config/config.ts'
import { offered, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { chooseLanguage } from '#web/ui/languages.ts'
import { type PageContext, THEMES } from '#web/ui/page-context.ts'

export type SessionCookie = {
  read(req: Pick<FastifyRequest, 'cookies'>): string | undefined
  write(reply: FastifyReply, session: { session: string | null; expires: string }): void
  clear(reply: FastifyReply): void
}

/** Game version and loader of the visitor. An empty string means no choice. */
export type Setup = { gameVersion: string; loader: string }

/** Choices of the visitor, with or without an account. */
/** `hidden`: key of the announcement that the visitor has hidden without scripts, otherwise an empty text. */
export type Choices = Pick<PageContext, 'theme' | 'language'> & { setup: Setup; hidden: string }

export const NO_SETUP: Setup = { gameVersion: '', loader: '' }
export const isSet = ({ gameVersion, loader }: Setup): boolean => gameVersion !== '' || loader !== ''

const CHOICE_SECONDS = 365 * 86_400

/** Returns the name of a cookie. On https it has the prefix that no other host of the domain can set (RFC 6265bis, 4.1.3.2). */
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
      // A token that was known before the sign-in must not be valid after it.
      reply.clearCookie(csrf, options)
    },
    clear: (reply) => {
      reply.clearCookie(name, options)
      reply.clearCookie(csrf, options)
    },
  }
}

/** Stores a choice of the visitor for a year; an empty value deletes it. */
export function writeChoice(
  reply: FastifyReply,
  config: Config,
  { name, value }: { name: 'theme' | 'language' | 'setup' | 'announcement'; value: string },
): void {
  const options = cookieOptions(config)
  if (value === '') reply.clearCookie(cookieName(config, name), options)
  else reply.setCookie(cookieName(config, name), value, { ...options, maxAge: CHOICE_SECONDS })
}

export const ANNOUNCEMENT_KEY = /^[0-9a-f]{12}$/

/** Returns the key of a text, which browsers store for a text that the visitor has hidden. */
export const announcementKey = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** Returns the choices in the cookies of a request. Ignores invalid values. */
export function readChoices(
  { config, taxonomy }: { config: Config; taxonomy: Taxonomy },
  { cookies, headers }: Pick<FastifyRequest, 'cookies' | 'headers'>,
): Choices {
  const read = (name: string): string | undefined => cookies?.[cookieName(config, name)]
  const theme = read('theme')
  const setup = read('setup')
  const announcement = read('announcement') ?? ''
  const [gameVersion = '', loader = ''] = setup?.slice(0, 256).split('|') ?? []
  return {
    theme: THEMES.find((name) => name === theme) ?? 'system',
    language: chooseLanguage(read('language'), headers['accept-language']),
    // Most visitors have no setup.
    hidden: ANNOUNCEMENT_KEY.test(announcement) ? announcement : '',
    setup: setup === undefined ? NO_SETUP : checkSetup(taxonomy, { gameVersion, loader }),
  }
}

/** Replaces values that the taxonomy does not contain with empty strings. */
export function checkSetup(taxonomy: Taxonomy, { gameVersion, loader }: Setup): Setup {
  return {
    gameVersion: taxonomy.fields.get('game_versions')?.enumValues?.has(gameVersion) === true ? gameVersion : '',
    loader: setupLoaders(taxonomy).includes(loader) ? loader : '',
  }
}

/** Project types whose versions run on one of several loaders, and whose loaders a setup can name. */
export const SETUP_TYPES = ['mod', 'plugin'] as const

/** Returns the loaders that a setup can name: those of mods, then those of plugins. */
export function setupLoaders(
  taxonomy: Taxonomy,
  types: readonly (typeof SETUP_TYPES)[number][] = SETUP_TYPES,
): string[] {
  const loaders = offered(taxonomy.loaders.values())
  const named = types.flatMap((type) => loaders.filter(({ project_types }) => project_types.includes(type)))
  return [...new Set(named.map(({ name }) => name))]
}

/** Returns the project types that a loader concerns. The versions of a modpack run on a loader of mods. */
export function typesOfLoader(taxonomy: Taxonomy, loader: string): string[] {
  const types = taxonomy.loaders.get(loader)?.project_types ?? []
  return types.includes('mod') ? [...types, 'modpack'] : [...types]
}

/** Returns the part of a setup that applies to projects of these types: a resource pack runs on every loader. */
export function setupFor(taxonomy: Taxonomy, setup: Setup, types: readonly string[]): Setup {
  const applies = typesOfLoader(taxonomy, setup.loader).some((type) => types.includes(type))
  return applies ? setup : { ...setup, loader: '' }
}
