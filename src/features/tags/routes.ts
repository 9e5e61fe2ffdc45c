// The tag endpoints: what projects and versions can be tagged with, from the taxonomy's data files, the same for all.
import Type from 'typebox'
import { parseJsonValue } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import type { Deps } from '#main/deps.ts'
import { licenseText, listLicenses } from '#taxonomy/licenses.ts'
import { categoryTags, gameTags, linkPlatformTags, loaderFieldValues, loaderTags } from '#taxonomy/taxonomy.ts'

const config = { auth: 'public', cache: 'tags' } as const
const Game = Type.Object(
  { slug: Type.String(), name: Type.String(), icon: Nullable(Type.String()), banner: Nullable(Type.String()) },
  { title: 'Game' },
)
const Loader = Type.Object(
  {
    name: Type.String(),
    icon: Type.String({ description: 'SVG' }),
    supported_project_types: Type.Array(Type.String()),
    supported_games: Type.Array(Type.String()),
    supported_fields: Type.Array(Type.String()),
    metadata: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'Loader' },
)
const Category = Type.Object(
  {
    name: Type.String(),
    icon: Type.String({ description: 'SVG' }),
    project_type: Type.String(),
    header: Type.String(),
  },
  { title: 'Category' },
)
const LoaderFieldValue = Type.Object(
  {
    value: Type.String(),
    created: Timestamp,
    metadata: Type.Object({ type: Type.Optional(Type.String()), major: Type.Optional(Type.Boolean()) }),
    type: Nullable(Type.String()),
    major: Nullable(Type.Boolean()),
    ordering: Nullable(Type.Integer()),
  },
  { title: 'LoaderFieldValue' },
)
const License = Type.Object({ short: Type.String(), name: Type.String() }, { title: 'License' })
const LicenseText = Type.Object({ title: Type.String(), body: Type.String() }, { title: 'LicenseText' })
const LinkPlatform = Type.Object({ name: Type.String(), donation: Type.Boolean() }, { title: 'LinkPlatform' })

export function tagRoutes(app: App, { taxonomy }: Pick<Deps, 'taxonomy'>): void {
  const list = <Schema extends Type.TObject>(
    path: string,
    about: { operationId: string; summary: string },
    answer: Schema,
    give: () => Type.Static<Schema>,
  ) => app.get(path, { config, schema: { ...about, response: { 200: answer } } }, give as never)

  list('/v3/games', { operationId: 'listGames', summary: 'Games' }, Type.Object({ games: Type.Array(Game) }), () => ({
    games: gameTags(taxonomy),
  }))
  list(
    '/v3/tag/loader',
    { operationId: 'listLoaders', summary: 'Loaders' },
    Type.Object({ loaders: Type.Array(Loader) }),
    () => ({ loaders: loaderTags(taxonomy) }),
  )
  list(
    '/v3/tag/category',
    { operationId: 'listCategories', summary: 'Categories' },
    Type.Object({ categories: Type.Array(Category) }),
    () => ({ categories: categoryTags(taxonomy) }),
  )
  list(
    '/v3/license',
    { operationId: 'listLicenses', summary: 'SPDX licences' },
    Type.Object({ licenses: Type.Array(License) }),
    () => ({ licenses: listLicenses() }),
  )
  list(
    '/v3/link_platform',
    { operationId: 'listLinkPlatforms', summary: 'Platforms that links may lead to' },
    Type.Object({ platforms: Type.Array(LinkPlatform) }),
    () => ({ platforms: linkPlatformTags(taxonomy) }),
  )
  list(
    '/v3/report_type',
    { operationId: 'listReportTypes', summary: 'Reasons of reports' },
    Type.Object({ report_types: Type.Array(Type.String()) }),
    () => ({ report_types: [...taxonomy.reportTypes] }),
  )
  list(
    '/v3/project_type',
    { operationId: 'listProjectTypes', summary: 'Types of projects' },
    Type.Object({ project_types: Type.Array(Type.String()) }),
    () => ({ project_types: [...taxonomy.projectTypes] }),
  )

  app.get(
    '/v3/loader_field',
    {
      config,
      schema: {
        operationId: 'listLoaderFieldValues',
        summary: 'The values a loader field may take',
        querystring: Type.Object({
          loader_field: Type.String({ maxLength: 64, description: 'Name of the loader field' }),
          filters: Type.Optional(
            Type.String({ maxLength: 1024, description: 'JSON object; for game versions `type` and `major`' }),
          ),
        }),
        response: { 200: Type.Object({ values: Type.Array(LoaderFieldValue) }) },
      },
    },
    (req) => {
      const filters = req.query.filters === undefined ? undefined : parseJsonValue(req.query.filters, 'filters')
      return { values: loaderFieldValues(taxonomy, req.query.loader_field, filters) }
    },
  )
  app.get(
    '/v3/license/:id',
    {
      config,
      schema: {
        operationId: 'getLicense',
        summary: 'The text of a licence',
        params: Type.Object({ id: Type.String({ maxLength: 256, description: 'SPDX identifier, or ARR' }) }),
        response: { 200: LicenseText },
      },
    },
    (req) => licenseText(req.params.id),
  )
}
