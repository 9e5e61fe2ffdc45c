// What a visitor plays: a game version and a loader, kept in a cookie, without an account.
import type { FastifyRequest } from 'fastify'
import { releasesOf } from '#features/operations/search/facet-counts.ts'
import type { Config } from '#platform/config/config.ts'
import { pathTo, type Site } from '#platform/html/page-context.ts'
import type { App } from '#platform/http/server.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { fieldOf } from './forms.ts'
import { ownPath } from './return-path.ts'
import { cookieName, cookieOptions } from './session-cookie.ts'

/** Empty texts: not chosen. */
export type Setup = { gameVersion: string; loader: string }

export const NO_SETUP: Setup = { gameVersion: '', loader: '' }
export const SETUP_PATH = '/setup'
const YEAR_SECONDS = 365 * 86_400

/** The loaders that a setup may name: those of mods. */
export function setupLoaders(taxonomy: Taxonomy): string[] {
  return [...taxonomy.loaders.values()]
    .filter(({ project_types }) => project_types.includes('mod'))
    .map(({ name }) => name)
}

/** What the cookie says; values that are none of the taxonomy count as absent. */
export function readSetup(config: Config, taxonomy: Taxonomy, req: Pick<FastifyRequest, 'cookies'>): Setup {
  const text = req.cookies?.[cookieName(config, 'setup')]
  if (text === undefined) return NO_SETUP
  const [gameVersion = '', loader = ''] = text.slice(0, 256).split('|')
  return checkSetup(taxonomy, { gameVersion, loader })
}

function checkSetup(taxonomy: Taxonomy, { gameVersion, loader }: Setup): Setup {
  return {
    gameVersion: taxonomy.fields.get('game_versions')?.enumValues?.has(gameVersion) === true ? gameVersion : '',
    loader: setupLoaders(taxonomy).includes(loader) ? loader : '',
  }
}

export const isSet = ({ gameVersion, loader }: Setup): boolean => gameVersion !== '' || loader !== ''

/** What the form offers, newest first. */
export function setupVersions(taxonomy: Taxonomy): string[] {
  return releasesOf(taxonomy)
}

/** The form beside lists and on pages of projects. It carries no token: see `tokenless`. */
export function setupRoute(
  app: App,
  { config, taxonomy, site }: { config: Config; taxonomy: Taxonomy; site: Site },
): void {
  app.route({
    method: 'POST',
    url: SETUP_PATH,
    config: { auth: 'public', tokenless: true, budget: 'page' },
    schema: { operationId: 'siteSetSetup', hide: true },
    handler: async (req, reply) => {
      const chosen = { gameVersion: fieldOf(req.body, 'game_version'), loader: fieldOf(req.body, 'loader') }
      const setup = checkSetup(taxonomy, chosen)
      const name = cookieName(config, 'setup')
      if (isSet(setup))
        reply.setCookie(name, `${setup.gameVersion}|${setup.loader}`, {
          ...cookieOptions(config),
          maxAge: YEAR_SECONDS,
        })
      else reply.clearCookie(name, cookieOptions(config))
      return reply.redirect(pathTo({ site }, ownPath(fieldOf(req.body, 'return')) ?? '/'), 303)
    },
  })
}
