// Content of a delivery: the IDs of the event, and the project, version and advisory as readers without an account see them.
import {
  type CachedProject,
  getProject,
  type ProjectReader,
} from '#features/catalogue/projects/lookup/project-cache.ts'
import { toAdvisoryView } from '#features/catalogue/versions/advisories/document.ts'
import { getVisibleAdvisory } from '#features/catalogue/versions/advisories/get-visible-advisory.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listCachedUsers, type UserReader } from '#features/people/users/user-cache.ts'
import { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { withoutCache } from '#platform/cache/revisions.ts'

type View = Record<string, unknown>

export type EventFacts = {
  key: string
  kind: string
  at: Date
  project_id: string | null
  version_id: string | null
  data: View
}

export type Author = { username: string; avatar_url: string | null }

/** `author`: of a published version, for formats that show the name. The data has only the ID. */
export type Payload = {
  data: View
  project: View | undefined
  version: View | undefined
  advisory?: View | undefined
  author?: Author | undefined
}

type Reader = ProjectReader & UserReader & { config: { http: { baseUrl: string } } }

const TEXT_MAX = 2_000
const LIST_MAX = 100
/** Below 64 KiB, with room for the envelope. */
const BYTES_MAX = 60_000

/**
 * Returns what a webhook may know. The subject can be hidden at the time of sending: webhooks of its members then receive
 * IDs and states, and those of the instance receive nothing.
 * @param isMember whether the webhook belongs to an owner of the subject.
 */
export async function readPayload(reader: Reader, event: EventFacts, isMember: boolean): Promise<Payload | undefined> {
  // The cache of this process might not have heard yet of the change.
  const fresh = withoutCache(reader)
  const isRemoval = event.kind.endsWith('.removed')
  const project = event.project_id === null ? undefined : await findPublicProject(fresh, event.project_id)
  const isVersionKnown = event.version_id !== null && project !== undefined
  const [version] = isVersionKnown ? await listVisibleVersions(fresh, null, [event.version_id ?? '']) : []
  const isHidden =
    (event.project_id !== null && project === undefined && event.kind !== 'project.removed') ||
    (event.version_id !== null && version === undefined && !isRemoval)
  if (isHidden && !isMember) return undefined
  const views = {
    project: project === undefined ? undefined : shortened(viewOf(project)),
    version: version === undefined ? undefined : shortened(viewOf(version)),
    advisory: await readAdvisory(reader, event),
  }
  const author = event.kind === 'version.published' ? await findAuthor(reader, views.version?.['author_id']) : undefined
  const data = { ...event.data, ...defined(views) }
  if (Buffer.byteLength(JSON.stringify(data)) <= BYTES_MAX) return { data, author, ...views }
  return { data: { ...event.data, truncated: true }, author, ...views }
}

const findPublicProject = (reader: ProjectReader, id: string): Promise<CachedProject | undefined> =>
  getProject(reader, null, id).catch(toMissing)

async function findAuthor(reader: UserReader, id: unknown): Promise<Author | undefined> {
  const [user] = typeof id === 'string' ? await listCachedUsers(reader, [id]) : []
  return user === undefined ? undefined : viewOf(user)
}

/** Returns the OSV document of the advisory that the event is about. */
async function readAdvisory(reader: Reader, { kind, data }: EventFacts): Promise<View | undefined> {
  const id = data['advisory_id']
  if (kind !== 'advisory.published' || typeof id !== 'string') return undefined
  const row = await getVisibleAdvisory(reader, null, id).catch(toMissing)
  return row === undefined ? undefined : shortened(toAdvisoryView(row, reader.config.http.baseUrl))
}

function toMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.kind === 'not_found') return undefined
  throw error
}

function defined(views: Record<string, View | undefined>): View {
  return Object.fromEntries(Object.entries(views).filter(([, view]) => view !== undefined))
}

/** Cuts long texts and lists. A view of which a part was cut has `truncated`. */
function shortened(view: View): View {
  let isCut = false
  const entries = Object.entries(view).map(([name, value]) => {
    if (typeof value === 'string' && value.length > TEXT_MAX) {
      isCut = true
      return [name, value.slice(0, TEXT_MAX).toWellFormed()]
    }
    if (Array.isArray(value) && value.length > LIST_MAX) {
      isCut = true
      return [name, value.slice(0, LIST_MAX)]
    }
    return [name, value]
  })
  return { ...Object.fromEntries(entries), ...(isCut ? { truncated: true } : {}) }
}
