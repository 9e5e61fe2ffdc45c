// The tag endpoints: the values of the taxonomy that projects and versions can have.
import Type from 'typebox'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { licenseText, listLicenses } from '#taxonomy/licenses.ts'
import { offered } from '#taxonomy/taxonomy.ts'
import { LicenseParams, LoaderFieldQuery, parseValueFilters } from './requests.ts'
import {
  Category,
  Game,
  License,
  LicenseText,
  LinkPlatform,
  Loader,
  LoaderFieldValue,
  listOf,
  toCategoryViews,
  toGameViews,
  toLoaderFieldValues,
  toLoaderViews,
} from './views.ts'

const config = { auth: 'public', cache: 'tags' } as const

export function tagRoutes(app: App, deps: Pick<Deps, 'taxonomy' | 'config'>): void {
  const { taxonomy } = deps
  const list = <Schema extends Type.TObject>(
    path: string,
    about: { operationId: string; summary: string },
    response: Schema,
    handler: () => Type.Static<Schema>,
  ) => app.get(path, { config, schema: { ...about, response: { 200: response } }, handler: handler as never })

  list('/v3/games', { operationId: 'listGames', summary: 'List games' }, listOf('games', Game), () => ({
    games: toGameViews(deps),
  }))
  list('/v3/tag/loader', { operationId: 'listLoaders', summary: 'List loaders' }, listOf('loaders', Loader), () => ({
    loaders: toLoaderViews(taxonomy),
  }))
  list(
    '/v3/tag/category',
    { operationId: 'listCategories', summary: 'List categories' },
    listOf('categories', Category),
    () => ({ categories: toCategoryViews(taxonomy) }),
  )
  list(
    '/v3/license',
    { operationId: 'listLicenses', summary: 'List SPDX licences, and those that operators have named' },
    listOf('licenses', License),
    () => ({ licenses: listLicenses(taxonomy.licenses) }),
  )
  list(
    '/v3/link_platform',
    { operationId: 'listLinkPlatforms', summary: 'List platforms for links' },
    listOf('platforms', LinkPlatform),
    () => ({ platforms: offered(taxonomy.linkPlatforms.values()).map(({ name, donation }) => ({ name, donation })) }),
  )
  list(
    '/v3/report_type',
    { operationId: 'listReportTypes', summary: 'List report types' },
    listOf('report_types', Type.String()),
    () => ({ report_types: [...taxonomy.reportTypes] }),
  )
  list(
    '/v3/project_type',
    { operationId: 'listProjectTypes', summary: 'List project types' },
    listOf('project_types', Type.String()),
    () => ({ project_types: [...taxonomy.projectTypes] }),
  )

  app.get('/v3/loader_field', {
    config,
    schema: {
      operationId: 'listLoaderFieldValues',
      summary: 'List the values of a loader field',
      querystring: LoaderFieldQuery,
      response: { 200: listOf('values', LoaderFieldValue) },
    },
    handler: (req) => {
      const { loader_field, filters } = req.query
      return { values: toLoaderFieldValues(taxonomy, loader_field, parseValueFilters(filters)) }
    },
  })
  licenceTextRoute(app, '/v3/license/:id')
}

/** The v2 API has the same route at another path. */
export function licenceTextRoute(app: App, path: string): void {
  app.get(path, {
    config,
    schema: {
      operationId: 'getLicense',
      summary: 'Get the text of a licence',
      params: LicenseParams,
      response: { 200: LicenseText },
    },
    handler: (req) => licenseText(req.params.id),
  })
}
