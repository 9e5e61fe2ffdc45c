// The v2 API can be computed from the v3 API, whatever the catalogue contains. The test defines the rules a second
// time, as tables that are independent of the code.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { testApp } from '#test/support/app/test-app.ts'

const t = await testApp()
after(() => t.close())

type Json = Record<string, unknown>
type Texts = string[]
type Page = { hits: Json[]; total_hits: number }

const SIDES: Record<string, [string, string]> = {
  client_and_server: ['required', 'required'],
  singleplayer_only: ['required', 'required'],
  client_only: ['required', 'unsupported'],
  client_only_server_optional: ['required', 'optional'],
  server_only: ['unsupported', 'required'],
  dedicated_server_only: ['unsupported', 'required'],
  server_only_client_optional: ['optional', 'required'],
  client_or_server: ['optional', 'optional'],
  client_or_server_prefers_both: ['optional', 'optional'],
  plugin: ['unsupported', 'required'],
  datapack: ['optional', 'required'],
  shader: ['required', 'unsupported'],
  resourcepack: ['required', 'unsupported'],
}

const LINKS = ['issues', 'source', 'wiki', 'discord', 'ko-fi', 'bmac', 'patreon', 'other', 'site']
const PLAIN = ['issues', 'source', 'wiki', 'discord'] as const

const version = fc.record({
  loaders: fc.uniqueArray(fc.constantFrom('fabric', 'quilt', 'paper', 'datapack', 'iris', 'minecraft', 'mrpack'), {
    minLength: 1,
    maxLength: 3,
  }),
  game_versions: fc.uniqueArray(fc.constantFrom('1.20.1', '1.20.4', '1.19.2', '23w31a'), { minLength: 1 }),
  environment: fc.option(
    fc.constantFrom('unknown', ...Object.keys(SIDES).filter((key) => key.includes('client') || key.includes('only'))),
    { nil: undefined },
  ),
  inside: fc.option(fc.uniqueArray(fc.constantFrom('fabric', 'quilt', 'forge'), { minLength: 1 }), { nil: undefined }),
  status: fc.constantFrom('listed', 'listed', 'listed', 'archived', 'draft', 'unlisted'),
  changelog: fc.string({ maxLength: 30 }),
  day: fc.integer({ min: 1, max: 28 }),
})
const project = fc.record({
  status: fc.constantFrom('approved', 'archived', 'unlisted', 'withheld'),
  name: fc.stringMatching(/^[a-z"\\<é]{3,20}$/),
  versions: fc.array(version, { maxLength: 4 }),
  links: fc.uniqueArray(fc.constantFrom(...LINKS)),
  categories: fc.uniqueArray(fc.constantFrom('magic', 'mobs', 'utility')),
})

async function read<T = Json>(path: string): Promise<T> {
  const answer = await t.anyone.get(path)
  assert.equal(answer.statusCode, 200, `${path}: ${answer.body}`)
  return answer.json()
}

function shownType(types: Texts): string {
  const main = types.includes('modpack') ? 'modpack' : (types[0] ?? 'project')
  return main === 'plugin' || main === 'datapack' ? 'mod' : main
}

function sidesOf(types: Texts, environment: unknown): Json {
  const ofType = types.length === 1 ? SIDES[String(types[0])] : undefined
  const [client_side, server_side] = ofType ?? SIDES[String(environment)] ?? ['unknown', 'unknown']
  return { client_side, server_side }
}

const sorted = (texts: Iterable<string>): Texts => [...new Set(texts)].sort()

async function expectedProject(v3: Json): Promise<Json> {
  const types = v3['project_types'] as Texts
  const versions = await read<Json[]>(`/v3/project/${v3['id']}/version`)
  const links = v3['link_urls'] as Record<string, { url: string; donation: boolean }>
  const loaders = v3['loaders'] as Texts
  const inside = (v3['mrpack_loaders'] ?? []) as Texts
  return {
    ...Object.fromEntries(
      ['id', 'slug', 'published', 'updated', 'approved', 'queued', 'status', 'requested_status', 'moderator_message']
        .concat(['license', 'downloads', 'followers', 'categories', 'additional_categories', 'versions', 'icon_url'])
        .concat(['raw_icon_url', 'color', 'thread_id', 'monetization_status', 'organization'])
        .map((key) => [key, v3[key]]),
    ),
    team: v3['team_id'],
    title: v3['name'],
    description: v3['summary'],
    body: v3['description'],
    body_url: null,
    project_type: shownType(types),
    loaders: sorted(loaders.includes('mrpack') ? [...loaders.filter((name) => name !== 'mrpack'), ...inside] : loaders),
    game_versions: v3['game_versions'] ?? [],
    environment: v3['environment'] ?? [],
    ...sidesOf(types, versions.find(({ environment }) => environment !== undefined)?.['environment']),
    ...Object.fromEntries(PLAIN.map((name) => [`${name}_url`, links[name]?.url ?? null])),
    donation_urls: Object.keys(links)
      .filter((id) => links[id]?.donation)
      .sort()
      .map((id) => ({ id, platform: id.charAt(0).toUpperCase() + id.slice(1), url: links[id]?.url })),
    gallery: [],
  }
}

function expectedVersion(v3: Json): Json {
  const { project_types: _, games: __, scheduled_at: ___, ordering: ____, revision: _____, ...rest } = v3
  for (const field of ['mrpack_loaders', 'singleplayer', 'client_and_server', 'client_only', 'server_only'])
    delete rest[field]
  const isPack = (v3['loaders'] as Texts).includes('mrpack') && v3['mrpack_loaders'] !== undefined
  return {
    ...rest,
    changelog_url: null,
    game_versions: v3['game_versions'] ?? [],
    environment: v3['environment'] ?? 'unknown',
    loaders: isPack ? v3['mrpack_loaders'] : v3['loaders'],
  }
}

async function expectedHit(v3: Json): Promise<Json> {
  const fields = v3['project_loader_fields'] as Record<string, Texts>
  const { client_side, server_side } = await read(`/v2/project/${v3['project_id']}`)
  const loaders = [...(v3['loaders'] as Texts), ...(fields['mrpack_loaders'] ?? [])].filter((name) => name !== 'mrpack')
  return {
    ...Object.fromEntries(
      ['project_id', 'all_project_types', 'slug', 'author', 'author_id', 'organization', 'organization_id', 'downloads']
        .concat(['follows', 'date_created', 'date_modified', 'license', 'gallery', 'featured_gallery', 'color'])
        .map((key) => [key, v3[key]]),
    ),
    project_type: shownType(v3['project_types'] as Texts),
    title: v3['name'],
    description: v3['summary'],
    categories: sorted([...(v3['categories'] as Texts).filter((name) => name !== 'mrpack'), ...loaders]),
    display_categories: sorted([...(v3['display_categories'] as Texts), ...loaders]),
    versions: fields['game_versions'] ?? [],
    icon_url: v3['icon_url'] ?? '',
    latest_version: v3['version_id'] ?? '',
    environment: fields['environment'] ?? [],
    disclosure_types: [],
    client_side,
    server_side,
  }
}

/** Checks that filters find a project by the sides that it shows, and not by others. */
async function assertFound({ project_id, client_side, server_side, versions }: Json): Promise<void> {
  if ((versions as Texts).length === 0) return
  for (const side of ['required', 'optional', 'unsupported', 'unknown']) {
    for (const [name, shown] of Object.entries({ client_side, server_side })) {
      const facets = encodeURIComponent(JSON.stringify([[`project_id:${project_id}`], [`${name}:${side}`]]))
      assert.equal(
        (await read<Page>(`/v2/search?facets=${facets}`)).total_hits,
        side === shown ? 1 : 0,
        `${name} ${side}`,
      )
    }
  }
}

test('the v2 view of any catalogue follows from the v3 view', async () => {
  await fc.assert(
    fc.asyncProperty(project, async (drawn) => {
      const made = await t.make.project({ status: drawn.status, name: drawn.name, categories: drawn.categories })
      const link_urls = JSON.stringify(
        Object.fromEntries(drawn.links.map((name) => [name, `https://example.org/${name}`])),
      )
      await t.deps.db.updateTable('project').set({ link_urls }).where('id', '=', made.id).execute()
      for (const [index, { day, environment, inside, ...fields }] of drawn.versions.entries()) {
        await t.make.version({
          project: made,
          ...fields,
          version_number: `1.${index}`,
          date_published: new Date(Date.UTC(2026, 0, day)),
          fields: {
            ...(environment === undefined ? {} : { environment }),
            ...(inside === undefined ? {} : { mrpack_loaders: inside }),
          },
        })
      }
      const shown: Json = await read(`/v2/project/${made.id}`)
      const isLoaderSorted = { ...shown, loaders: sorted(shown['loaders'] as Texts) }
      assert.deepEqual(isLoaderSorted, await expectedProject(await read(`/v3/project/${made.slug}`)))
      const older = await read<Json[]>(`/v2/project/${made.id}/version`)
      const newer = await read<Json[]>(`/v3/project/${made.id}/version`)
      assert.deepEqual(older, newer.map(expectedVersion))
    }),
    { numRuns: 40 },
  )
  await t.searchable()
  for (let offset = 0; ; offset += 100) {
    const page = `limit=100&offset=${offset}`
    const older = await read<Page>(`/v2/search?${page}`)
    const newer = await read<Page>(`/v3/search?${page}`)
    assert.deepEqual(older.hits, await Promise.all(newer.hits.map(expectedHit)))
    assert.equal(older.total_hits, newer.total_hits)
    for (const hit of older.hits) await assertFound(hit)
    if (newer.hits.length < 100) break
  }
})
