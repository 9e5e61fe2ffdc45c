// Requests for the tests of all operations.
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { tagListsOf } from '#taxonomy/taxonomy-files.ts'
import { type Declared, type FieldSample, type Sample, send } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

const resetTags = (w: World) => w.t.deps.db.deleteFrom('tag_list').execute()
/** The list of licences contains one that SPDX does not list. */
async function ownLicense(w: World): Promise<void> {
  await resetTags(w)
  const rows = JSON.stringify([{ id: 'MIT' }, { id: 'LicenseRef-Lamps', name: 'Lamp Licence' }])
  await w.t.deps.db.insertInto('tag_list').values({ name: 'licenses', rows }).execute()
}
const NOON = '2026-01-01T12:00:00.000Z'
const ICON = '<svg ></svg>'
/** A change of a tag of the data files. */
const changed = (id: string, body: object): Sample => ({ at: { id: () => id }, body, before: resetTags })
/** A list as it is in the data files. */
const tagList = (name: TagListName): Sample => ({ body: (w) => ({ rows: tagListsOf(w.t.deps.taxonomyData)[name] }) })

export const SAMPLES: Record<string, Sample> = {
  listLoaderFieldValues: { query: { loader_field: 'game_versions' } },
  getLicense: { at: { id: () => 'MIT' } },
  updateGames: tagList('games'),
  updateLoaders: tagList('loaders'),
  updateCategories: tagList('categories'),
  updateGameVersions: tagList('game_versions'),
  updateLoaderFields: tagList('loader_fields'),
  updateLicenses: tagList('licenses'),
  updateLinkPlatforms: tagList('link_platforms'),
  addGame: { body: { slug: 'blocks', name: 'Blocks', icon: null, banner: null }, before: resetTags },
  addLoader: {
    body: {
      name: 'lamp-loader',
      project_types: ['mod'],
      games: ['minecraft-java'],
      fields: [],
      metadata: {},
      icon: ICON,
    },
    before: resetTags,
  },
  addCategory: {
    body: { name: 'lamps', project_type: 'mod', header: 'categories', ordering: 0, icon: ICON },
    before: resetTags,
  },
  addGameVersion: { body: { value: '99.1', created: NOON }, before: resetTags },
  addLoaderField: { body: { name: 'players', type: 'integer', optional: true, created: NOON }, before: resetTags },
  addLicense: { body: { id: 'LicenseRef-Lamps', name: 'Lamp Licence' }, before: resetTags },
  addLinkPlatform: { body: { name: 'forum', donation: false }, before: resetTags },
  changeGame: changed('minecraft-java', { name: 'Blocks' }),
  changeLoader: changed('fabric', { metadata: { platform: true } }),
  changeCategory: changed('mod:magic', { position: 0 }),
  changeGameVersion: changed('1.20.1', { hidden: true }),
  changeLoaderField: changed('environment', { default: 'client_only' }),
  changeLicense: { ...changed('LicenseRef-Lamps', { position: 2 }), before: ownLicense },
  changeLinkPlatform: changed('ko-fi', { donation: false }),
  removeTag: { at: { list: () => 'categories', id: () => 'mod:cursed' }, before: resetTags },
  readGameVersions: { before: resetTags },
  countTagUses: { at: { list: () => 'loaders', id: () => 'fabric' } },
  mergeTags: { at: { list: () => 'categories' }, body: { from: 'cursed', to: 'magic' }, before: resetTags },
  renameLinkPlatforms: { body: { from: 'store', to: 'shop' }, before: resetTags },
  renameCategories: { body: { from: 'cursed', to: 'odd' }, before: resetTags },
  renameGameVersions: { body: { from: '1.0', to: '1.0.0' }, before: resetTags },
}

const ORDER = 'the order of the rows shows it'
const SEEN = 'states what the operator has seen'
/** A change of a tag, which the list of the operators shows. */
const shown = (list: TagListName, is: Record<string, string>, fields: Record<string, FieldSample>): Declared => ({
  by: 'operator',
  view: async (read) => {
    const { rows } =
      ((await read('/_internal/admin/tags')) as Record<string, { rows: Record<string, unknown>[] }>)[list] ?? {}
    return rows?.find((row) => Object.entries(is).every(([key, value]) => row[key] === value))
  },
  fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { before: resetTags, ...field }])),
  unseen: { position: ORDER, revision: SEEN },
})
const hidden = send(true)

export const DECLARED: Record<string, Declared> = {
  changeGame: shown(
    'games',
    { slug: 'minecraft-java' },
    { name: send('Blocks'), icon: send('https://images.example/i.svg'), banner: send(null), hidden },
  ),
  changeLoader: shown(
    'loaders',
    { name: 'fabric' },
    {
      project_types: send(['plugin']),
      games: send(['minecraft-bedrock']),
      fields: send(['game_versions']),
      metadata: send({ platform: true }),
      icon: send(ICON),
      hidden,
    },
  ),
  changeCategory: shown(
    'categories',
    { name: 'magic', project_type: 'mod' },
    { header: send('features'), ordering: send(4), icon: send(ICON), hidden },
  ),
  changeGameVersion: shown(
    'game_versions',
    { value: '1.20.1' },
    { created: send(NOON), ordering: send(4), metadata: send({ type: 'snapshot', major: true }), hidden },
  ),
  changeLoaderField: shown(
    'loader_fields',
    { name: 'environment' },
    {
      options: send(['client_only', 'unknown']),
      optional: send(false, { needs: { default: null } }),
      default: send('client_only'),
      min: send(1),
      max: send(2),
      created: send(NOON),
    },
  ),
  changeLicense: shown(
    'licenses',
    { id: 'LicenseRef-Lamps' },
    { name: send('Lamp Licence 2', { before: ownLicense }) },
  ),
  changeLinkPlatform: shown('link_platforms', { name: 'ko-fi' }, { donation: send(false), hidden }),
}
