// A source of mirrors whose objects and faults a test chooses.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeZip } from '../factories/archives.ts'

type Json = Record<string, unknown>
type Fault = (req: IncomingMessage, res: ServerResponse) => boolean

export type StandInSource = {
  address: string
  /** Paths of the requests so far, without their queries. */
  paths: string[]
  projects: Map<string, Json>
  versions: Map<string, Json>
  files: Map<string, Buffer>
  /** Whether the source has a change feed. Without one, it has a search. */
  hasFeed: boolean
  /** Answers a request in place of the source if it returns true. */
  fault: Fault | undefined
  /** Adds a project with a version for each of these numbers, each with one file. */
  add(id: string, versionIds: readonly string[], fields?: Json): void
  /** Names an object in the change feed again: in its present state, or as removed. */
  announce(kind: 'project' | 'version', id: string, state?: 'present' | 'removed'): void
  close(): Promise<void>
}

const jarOf = (text: string): Buffer =>
  makeZip([
    { name: 'fabric.mod.json', data: '{}' },
    { name: 'text', data: text },
  ])

export async function standInSource(): Promise<StandInSource> {
  const announced: Announced[] = []
  const server = createServer((req, res) => answer(source, announced, req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const source: StandInSource = {
    address,
    paths: [],
    projects: new Map(),
    versions: new Map(),
    files: new Map(),
    hasFeed: true,
    fault: undefined,
    add: (id, versionIds, fields = {}) => addProject(source, id, versionIds, fields),
    announce: (kind, id, state = 'present') => void announced.push({ kind, id, state }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return source
}

function addProject(source: StandInSource, id: string, versionIds: readonly string[], fields: Json): void {
  const date = '2024-05-06T07:08:09.000Z'
  source.projects.set(id, {
    id,
    revision: 1,
    slug: `slug-${id.toLowerCase()}`,
    name: `Project ${id}`,
    summary: 'A project of the source',
    description: '# Text',
    status: 'approved',
    license: { id: 'MIT', name: 'MIT', url: null },
    categories: [],
    additional_categories: [],
    link_urls: {},
    project_types: ['mod'],
    versions: versionIds,
    published: date,
    updated: date,
    approved: date,
    downloads: 5,
    icon_url: null,
    raw_icon_url: null,
    gallery: [],
    organization: null,
    ...fields,
  })
  for (const versionId of versionIds) {
    const bytes = jarOf(versionId)
    const filename = `${versionId}.jar`
    source.files.set(filename, bytes)
    source.versions.set(versionId, {
      id: versionId,
      project_id: id,
      revision: 1,
      author_id: null,
      featured: false,
      name: 'A version',
      version_number: '1.0.0',
      changelog: '',
      date_published: date,
      downloads: 1,
      version_type: 'release',
      status: 'listed',
      files: [
        {
          hashes: { sha512: createHash('sha512').update(bytes).digest('hex') },
          url: `${source.address}/files/${filename}`,
          filename,
          primary: true,
          size: bytes.length,
          file_type: null,
        },
      ],
      dependencies: [],
      loaders: ['fabric'],
      game_versions: ['1.20.1'],
      environment: 'unknown',
      ordering: null,
    })
  }
}

function answer(
  source: StandInSource,
  announced: readonly Announced[],
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const url = new URL(req.url ?? '', source.address)
  source.paths.push(url.pathname)
  if (source.fault?.(req, res) === true) return
  const send = (body: unknown, status = 200): void => {
    res.writeHead(status, { 'content-type': 'application/json' })
    res.end(JSON.stringify(body))
  }
  if (url.pathname === '/v3/search' && !source.hasFeed) return send(hitsOf(source, url.searchParams))
  if (url.pathname === '/v3/changes' && source.hasFeed)
    return send(changesOf(source, announced, url.searchParams.get('since')))
  const ids = (): string[] => JSON.parse(url.searchParams.get('ids') ?? '[]')
  if (url.pathname === '/v3/projects') return send(ids().flatMap((id) => source.projects.get(id) ?? []))
  if (url.pathname === '/v3/versions') return send(ids().flatMap((id) => source.versions.get(id) ?? []))
  if (['/v3/users', '/v3/organizations', '/v3/teams'].includes(url.pathname)) return send([])
  const file = source.files.get(decodeURIComponent(url.pathname.slice('/files/'.length)))
  if (!url.pathname.startsWith('/files/') || file === undefined) return send({ error: 'not_found' }, 404)
  sendFile(req, res, file)
}

/** Sends a file or the rest of it. */
export function sendFile(req: IncomingMessage, res: ServerResponse, file: Buffer): void {
  const start = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? '')?.[1] ?? 0)
  const part = file.subarray(start)
  res.writeHead(start === 0 ? 200 : 206, {
    'content-length': part.length,
    etag: '"file"',
    ...(start === 0 ? {} : { 'content-range': `bytes ${start}-${file.length - 1}/${file.length}` }),
  })
  res.end(part)
}

/** Hits of a search, the latest changes first. */
function hitsOf({ projects }: StandInSource, query: URLSearchParams): Json {
  const offset = Number(query.get('offset'))
  const all = [...projects.values()].sort((a, b) => (String(a['updated']) < String(b['updated']) ? 1 : -1))
  const limit = Number(query.get('limit'))
  const hits = all.slice(offset, offset + limit).map(({ id, updated }) => ({ project_id: id, date_modified: updated }))
  return { hits, offset, limit, total_hits: all.length }
}

type Announced = { kind: 'project' | 'version'; id: string; state: 'present' | 'removed' }

/** The feed names every object once, in the order of the IDs, with its present revision, and then what was announced. */
function changesOf({ projects, versions }: StandInSource, announced: readonly Announced[], since: string | null): Json {
  const all = [
    ...[...projects.keys()].map((id): Announced => ({ kind: 'project', id, state: 'present' })),
    ...[...versions.keys()].map((id): Announced => ({ kind: 'version', id, state: 'present' })),
  ]
  const later = announced.slice(Number(since?.slice('cursor-'.length)) - 1)
  const changes = (since === null ? all : later).map((change) => {
    const { revision, project_id } = (change.kind === 'project' ? projects : versions).get(change.id) ?? {}
    return { ...change, project_id, revision }
  })
  const cursor = `cursor-${announced.length + 1}`
  return { changes, next: cursor, more: false, latest: cursor }
}
