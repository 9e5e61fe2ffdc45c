// Reads a source that has only the reads of /v2: no /v3 and no change feed. Turns its objects into those of /v3.
import { FILE_TYPES } from '#features/catalogue/versions/kinds.ts'
import { isPackName, loadersToWrite } from '#features/compat/v2/catalogue/pack-loaders.ts'
import { environmentOf, type Sides } from '#features/compat/v2/catalogue/sides.ts'
import { RefusedBySource, type Source } from './source.ts'

type Json = Readonly<Record<string, unknown>>

/** Reads that every source with /v3 answers, and that /v2 has too. */
const READS = ['/v3/search', '/v3/projects', '/v3/versions', '/v3/teams', '/v3/users', '/v3/organizations']

/**
 * Returns a source that reads /v2 for the rest of a run, after /v3 has neither a change feed nor another read. Everything that
 * reads objects checks them, so a form that is not known is a failure of one object.
 */
export function readingV2(source: Source): Source {
  let hasFeed = true
  let isV2 = false
  /** The environments of projects by their IDs, for versions that do not state their own. */
  const environments = new Map<string, string>()

  async function getJson(path: string, sent?: object): Promise<unknown> {
    const [read = '', query = ''] = path.split('?')
    const isRead = sent === undefined && READS.includes(read)
    if (!isV2 || !isRead) {
      try {
        return await source.getJson(path, sent)
      } catch (error) {
        if (!(error instanceof RefusedBySource) || error.status !== 404) throw error
        if (read === '/v3/changes') hasFeed = false
        if (hasFeed || !isRead) throw error
        isV2 = true
      }
    }
    // The owner of the team is the author of each project.
    if (read === '/v3/organizations') return []
    const answer = await source.getJson(`${read.replace('/v3', '/v2')}?${query}`)
    if (read === '/v3/projects') return eachOf(answer, (project) => projectOf(project, environments))
    if (read === '/v3/versions') return eachOf(answer, (version) => versionOf(version, environments))
    if (read === '/v3/teams') return eachOf(answer, (team) => eachOf(team, memberOf))
    return answer
  }
  return { ...source, getJson }
}

/** Turns the objects of a list; everything else remains, so that it is refused. */
const eachOf = (list: unknown, turn: (item: Json) => unknown): unknown =>
  Array.isArray(list) ? list.map((item) => (typeof item === 'object' && item !== null ? turn(item) : item)) : list

const itemsOf = (list: unknown): Json[] =>
  Array.isArray(list) ? list.filter((item) => typeof item === 'object' && item !== null) : []

/** Returns these fields of an object, as they are. */
const pick = (object: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])))

const SAME_IN_PROJECTS = [
  ...(['id', 'slug', 'status', 'license', 'categories', 'additional_categories', 'versions', 'published'] as const),
  ...(['updated', 'approved', 'downloads', 'icon_url', 'raw_icon_url', 'gallery'] as const),
]

function projectOf(project: Json, environments: Map<string, string>): Json {
  environments.set(String(project['id']), environmentOf(project as unknown as Sides))
  return {
    ...pick(project, SAME_IN_PROJECTS),
    name: project['title'],
    summary: project['description'],
    description: project['body'],
    project_types: [project['project_type']],
    team_id: project['team'],
    link_urls: linksOf(project),
  }
}

function linksOf(project: Json): Json {
  const own = ['issues', 'source', 'wiki', 'discord'].map((platform) => [platform, project[`${platform}_url`]])
  const donations = itemsOf(project['donation_urls']).map(({ id, url }) => [id, url])
  const links = [...own, ...donations].filter(([, url]) => typeof url === 'string' && url !== '')
  return Object.fromEntries(links.map(([platform, url]) => [platform, { url }]))
}

const SAME_IN_VERSIONS = [
  ...(['id', 'project_id', 'author_id', 'featured', 'name', 'version_number', 'changelog', 'date_published'] as const),
  ...(['downloads', 'version_type', 'status', 'dependencies', 'game_versions', 'environment'] as const),
]

function versionOf(version: Json, environments: ReadonlyMap<string, string>): Json {
  const files = itemsOf(version['files'])
  const isPack = files.some(({ filename }) => typeof filename === 'string' && isPackName(filename))
  const names = Array.isArray(version['loaders']) ? (version['loaders'] as string[]) : []
  return {
    environment: environments.get(String(version['project_id'])) ?? 'unknown',
    ...pick(version, SAME_IN_VERSIONS),
    ...loadersToWrite(names, isPack),
    files: files.map((file) => ({ ...file, file_type: FILE_TYPES.find((type) => type === file['file_type']) ?? null })),
  }
}

const memberOf = (member: Json): Json => ({ ...member, is_owner: member['role'] === 'Owner' })
