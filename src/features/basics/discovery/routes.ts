// Documents by which programs find out about an instance from its URL, and the client that fits it.
import type Type from 'typebox'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { VERSION } from '#platform/config/version.ts'
import { DEFAULT_REQUESTS_PER_MINUTE } from '#platform/http/limits/rate-limit.ts'
import { IDS_MAX } from '#platform/http/query-values.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { type App, JSON_BODY_BYTES_MAX } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { clientUrl, getClientPackage } from './client-package.ts'
import { ClientQuery } from './requests.ts'
import { InstanceDescription } from './views.ts'

type DiscoveryDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'taxonomy' | 'launchers'>

export function discoveryRoutes(app: App, deps: DiscoveryDeps): void {
  app.get('/client.tgz', {
    config: { auth: 'public', cache: 'shared', withoutPage: 'For programs that have a token' },
    schema: {
      operationId: 'getClientPackage',
      summary: 'Get the client of this version as an npm package',
      description:
        'The package contains `depot-publish` and everything that it needs: `npx -p https://depot.example/client.tgz depot-publish`. `GET /.well-known/depot.json` returns its integrity.',
      querystring: ClientQuery,
      produces: ['application/gzip'],
      response: {},
    },
    handler: async (_req, reply) => {
      const { bytes, etag } = await getClientPackage()
      void reply.type('application/gzip').header('etag', etag).header('x-content-type-options', 'nosniff')
      return sendRaw(reply, bytes)
    },
  })
  app.get('/.well-known/depot.json', {
    config: { auth: 'public', cache: 'shared', withoutPage: 'For programs and monitoring' },
    schema: {
      operationId: 'getInstanceDescription',
      summary: 'Get the addresses, limits and client of this instance, for launchers and tools',
      response: { 200: InstanceDescription },
    },
    handler: () => describeInstance(deps),
  })
}

async function describeInstance(deps: DiscoveryDeps): Promise<Type.Static<typeof InstanceDescription>> {
  const { config, taxonomy, launchers } = deps
  const url = config.http.baseUrl
  const { name, mark } = await getSettings(deps)
  return {
    software: 'depot',
    version: VERSION,
    name,
    url,
    logo: mark?.url ?? null,
    api: {
      v3: `${url}/v3`,
      v2: `${url}/v2`,
      description: `${url}/docs/openapi.json`,
      documentation: `${url}/docs/swagger-ui`,
      oauth: `${url}/.well-known/oauth-authorization-server`,
      publishing: `${url}/.well-known/depot-publishing`,
      maven: `${url}/maven`,
    },
    files: config.files.baseUrl,
    client: await describeClient(url),
    limits: {
      requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
      items_per_request: IDS_MAX,
      json_bytes: JSON_BODY_BYTES_MAX,
    },
    project_types: [...taxonomy.projectTypes],
    launchers: launchers.map(({ name, link, project_types }) => ({ name, link, project_types })),
    pages: config.site.isServed ? pagesOf(url) : null,
  }
}

/** Returns the client for the discovery documents. */
export async function describeClient(baseUrl: string) {
  const { integrity } = await getClientPackage()
  return { name: 'depot-hosting-client', version: VERSION, url: clientUrl(baseUrl), integrity }
}

const pagesOf = (url: string) => ({
  project: `${url}/{type}/{slug}`,
  download: `${url}/{type}/{slug}/download{?loader,game_version,version_type}`,
  badge: `${url}/badge/{type}/{slug}/{badge}.svg{?style}`,
  modpack_mrpack: `${url}/modpack/{slug}/latest.mrpack`,
  modpack_packwiz: `${url}/modpack/{slug}/pack.toml`,
  pack: `${url}/pack/{user}/{slug}`,
  pack_mrpack: `${url}/pack/{user}/{slug}/latest.mrpack`,
  pack_packwiz: `${url}/pack/{user}/{slug}/pack.toml`,
  pack_server: `${url}/pack/{user}/{slug}/server.zip`,
})
