// What visitors choose for themselves without an account: colours and language, each in a cookie.
import type { FastifyRequest } from 'fastify'
import type { Config } from '#platform/config/config.ts'
import { chooseLanguage, languageOf } from '#platform/html/languages.ts'
import { type PageContext, pathTo, type Site, THEMES } from '#platform/html/page-context.ts'
import type { App } from '#platform/http/server.ts'
import { fieldOf } from './forms.ts'
import { PATHS } from './paths.ts'
import { ownPath } from './return-path.ts'
import { cookieName, cookieOptions } from './session-cookie.ts'

export type Preferences = Pick<PageContext, 'theme' | 'language'>

const YEAR_SECONDS = 365 * 86_400

/** What the cookies of a request say; what they do not say rightly is as if they said nothing. */
export function readPreferences(config: Config, req: Pick<FastifyRequest, 'cookies' | 'headers'>): Preferences {
  // Absent when a request is refused before its cookies were read.
  const cookies = req.cookies ?? {}
  const theme = cookies[cookieName(config, 'theme')]
  return {
    theme: THEMES.find((known) => known === theme) ?? 'system',
    language: chooseLanguage(cookies[cookieName(config, 'language')], req.headers['accept-language']),
  }
}

/** The form in the footer of every page. It carries no token: see `tokenless`. */
export function preferencesRoute(app: App, { config, site }: { config: Config; site: Site }): void {
  const options = { ...cookieOptions(config), maxAge: YEAR_SECONDS }
  app.route({
    method: 'POST',
    url: PATHS.preferences,
    config: { auth: 'public', tokenless: true, budget: 'page' },
    schema: { operationId: 'setPreferences', hide: true },
    handler: async (req, reply) => {
      const [theme, language] = [fieldOf(req.body, 'theme'), fieldOf(req.body, 'language')]
      if (THEMES.some((known) => known === theme)) reply.setCookie(cookieName(config, 'theme'), theme, options)
      if (languageOf(language) !== undefined) reply.setCookie(cookieName(config, 'language'), language, options)
      return reply.redirect(pathTo({ site }, ownPath(fieldOf(req.body, 'return')) ?? site.paths.home), 303)
    },
  })
}
