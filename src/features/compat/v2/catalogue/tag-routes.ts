// v2 routes for categories, loaders and other tags: plain arrays with v2 names.
import Type, { type Static } from 'typebox'
import { licenceTextRoute } from '#features/basics/tags/routes.ts'
import {
  Category,
  License as LicenseV3,
  type Loader as LoaderV3,
  toCategoryViews,
  toLoaderFieldValues,
  toLoaderViews,
} from '#features/basics/tags/views.ts'
import { NamedObject, Timestamp } from '#lib/schema/schema-parts.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listLicenses } from '#taxonomy/licenses.ts'
import { offered } from '#taxonomy/taxonomy.ts'
import { PACK_LOADER } from './pack-loaders.ts'
import { capitalised } from './project-views.ts'
import { SIDES } from './sides.ts'

const config = { auth: 'public', cache: 'tags' } as const
const Text = Type.String()
const Texts = Type.Array(Text)
const Icon = Type.String({ description: 'SVG' })
const Loader = NamedObject('Loader', { icon: Icon, name: Text, supported_project_types: Texts })
const GameVersion = NamedObject('GameVersion', {
  version: Text,
  version_type: Text,
  date: Timestamp,
  major: Type.Boolean(),
})

/** Display names that are not just the capitalised ID. */
const DONATION_NAMES: Readonly<Record<string, string>> = {
  bmac: 'Buy Me A Coffee',
  github: 'GitHub Sponsors',
  'ko-fi': 'Ko-fi',
  paypal: 'PayPal',
}

/** Loaders that packs can contain. */
const LOADERS_OF_PACKS = ['forge', 'fabric', 'quilt', 'neoforge']

export function tagRoutesV2(app: App, { taxonomy }: Pick<Deps, 'taxonomy'>): void {
  const list = <Schema extends Type.TSchema>(
    path: string,
    about: { operationId: string; summary: string },
    element: Schema,
    give: () => Type.Static<Schema>[],
  ) => app.get(path, { config, schema: { ...about, response: { 200: Type.Array(element) } }, handler: give as never })

  list('/tag/category', { operationId: 'listCategoriesV2', summary: 'List the categories' }, Category, () =>
    toCategoryViews(taxonomy),
  )
  list('/tag/loader', { operationId: 'listLoadersV2', summary: 'List the loaders' }, Loader, () =>
    toLoaderViews(taxonomy)
      .filter(({ name }) => name !== PACK_LOADER)
      .map(toLoader),
  )
  list('/tag/license', { operationId: 'listLicensesV2', summary: 'List the SPDX licences' }, LicenseV3, () =>
    listLicenses(taxonomy.licenses),
  )
  list(
    '/tag/donation_platform',
    { operationId: 'listDonationPlatformsV2', summary: 'List the platforms of donation links' },
    LicenseV3,
    () =>
      offered(taxonomy.linkPlatforms.values())
        .filter(({ donation }) => donation)
        .map(({ name }) => ({ short: name, name: DONATION_NAMES[name] ?? capitalised(name) })),
  )
  list('/tag/report_type', { operationId: 'listReportTypesV2', summary: 'List the reasons for reports' }, Text, () => [
    ...taxonomy.reportTypes,
  ])
  list('/tag/project_type', { operationId: 'listProjectTypesV2', summary: 'List the project types' }, Text, () => [
    ...taxonomy.projectTypes,
  ])
  list(
    '/tag/side_type',
    { operationId: 'listSideTypesV2', summary: 'List the values of `client_side` and `server_side`' },
    Text,
    () => [...SIDES],
  )
  gameVersions(app, { taxonomy })
  licenceTextRoute(app, '/tag/license/:id')
}

function gameVersions(app: App, { taxonomy }: Pick<Deps, 'taxonomy'>): void {
  app.get('/tag/game_version', {
    config,
    schema: {
      operationId: 'listGameVersionsV2',
      summary: 'List the game versions, newest first',
      querystring: Type.Object({
        type: Type.Optional(Type.String({ maxLength: 64, description: 'release, snapshot, beta or alpha' })),
        major: Type.Optional(
          Type.Boolean({
            description: 'Whether to return only major versions (true) or only others (false). Default: all',
          }),
        ),
      }),
      response: { 200: Type.Array(GameVersion) },
    },
    handler: (req) => {
      return toLoaderFieldValues(taxonomy, 'game_versions', req.query)
        .map(({ value, type, created, major }) => ({
          version: value,
          version_type: type ?? 'release',
          date: created,
          major: major ?? false,
        }))
        .sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0))
    },
  })
}

function toLoader({ icon, name, supported_project_types: types }: Static<typeof LoaderV3>) {
  const shown = [...types, 'project']
  if (LOADERS_OF_PACKS.includes(name)) shown.push('modpack')
  if (types.includes('datapack') || types.includes('plugin')) shown.push('mod')
  return { icon, name, supported_project_types: [...new Set(shown)] }
}
