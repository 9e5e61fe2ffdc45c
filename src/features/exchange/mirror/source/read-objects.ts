// Reads objects of a source in bulk, and checks each of them. An object of an unknown form is a failure of that object only.
import type { TSchema } from 'typebox'
import { isIdForm } from '#lib/ids.ts'
import { CopyFailure } from '../failures.ts'
import {
  isChanges,
  isHits,
  isKeys,
  isMember,
  isNamed,
  isProject,
  isVersion,
  problemOf,
  type RemoteChanges,
  type RemoteProject,
  type RemoteVersion,
} from './remote-objects.ts'
import { BodyTooLarge, RefusedBySource, type Source, SourceUnusable } from './source.ts'

/** Number of IDs per request. */
const IDS_MAX = 500
const CHANGES_MAX = 1000
const HITS_MAX = 100

export type Json = Readonly<Record<string, unknown>>
export type ReadProject = RemoteProject & { json: Json }

/** Objects by their IDs; a failure for one of an unknown form. Objects that the source does not show are absent. */
export type Read<T> = Map<string, T | CopyFailure>

type Checker<T> = {
  Check(value: unknown): value is T
  Errors(value: unknown): Iterable<{ instancePath: string; message: string }>
  Type(): TSchema
}

async function readMany<T>(
  source: Source,
  path: string,
  {
    ids,
    checker,
    nameOf = (json) => String(json['id']),
  }: { ids: readonly string[]; checker: Checker<T>; nameOf?: (json: Json) => string },
): Promise<Read<T & { json: Json }>> {
  const found: Read<T & { json: Json }> = new Map()
  const wanted = new Set(ids)
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    for (const value of await readPart(source, path, ids.slice(at, at + IDS_MAX))) {
      if (value instanceof TooLarge) {
        found.set(value.id, new CopyFailure('refused', 'its JSON is too large'))
        continue
      }
      if (typeof value !== 'object' || value === null) continue
      const name = nameOf(value as Json)
      // Objects that nobody asked for.
      if (!wanted.has(name)) continue
      found.set(name, checked(checker, value))
    }
  }
  return found
}

/** Returns the object with its JSON, or a failure if its form is unknown. */
function checked<T>(checker: Checker<T>, value: unknown): (T & { json: Json }) | CopyFailure {
  if (checker.Check(value)) return { ...value, json: value as Json }
  return new CopyFailure('refused', `the source describes it in an unknown form: ${problemOf(checker, value)}`)
}

class TooLarge {
  readonly id: string
  constructor(id: string) {
    this.id = id
  }
}

/** Reads half as many in one request when a body is too large. */
async function readPart(source: Source, path: string, ids: readonly string[]): Promise<unknown[]> {
  try {
    const list = await source.getJson(`${path}?ids=${encodeURIComponent(JSON.stringify(ids))}`)
    if (!Array.isArray(list)) throw new SourceUnusable(`${source.address}${path} is not a list. Check the address`)
    return list
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw refusal(source, error)
    const [id] = ids
    if (ids.length === 1 && id !== undefined) return [new TooLarge(id)]
    const half = Math.ceil(ids.length / 2)
    return [...(await readPart(source, path, ids.slice(0, half))), ...(await readPart(source, path, ids.slice(half)))]
  }
}

/** A refusal of a read that every source answers makes it unusable. */
function refusal({ address }: Source, error: unknown): unknown {
  if (error instanceof BodyTooLarge)
    return new SourceUnusable(`The source ${address} sends more than 8 MiB of JSON. Check the address`)
  if (!(error instanceof RefusedBySource)) return error
  return new SourceUnusable(`The source ${address} refuses a request: ${error.message}. Check the address`)
}

export const readProjects = (source: Source, ids: readonly string[]): Promise<Read<ReadProject>> =>
  readMany<RemoteProject>(source, '/v3/projects', { ids, checker: isProject })

export const readVersions = (source: Source, ids: readonly string[]): Promise<Read<RemoteVersion>> =>
  readMany<Omit<RemoteVersion, 'json'>>(source, '/v3/versions', { ids, checker: isVersion })

/** Returns the projects with these IDs or slugs by their IDs. */
export async function readNamedProjects(
  source: Source,
  names: readonly string[],
): Promise<{ found: Read<ReadProject>; unknown: string[] }> {
  const found: Read<ReadProject> = new Map()
  const known = new Set<string>()
  const wanted = new Map(names.map((name) => [name.toLowerCase(), name]))
  for (let at = 0; at < names.length; at += IDS_MAX) {
    for (const value of await readPart(source, '/v3/projects', names.slice(at, at + IDS_MAX))) {
      if (typeof value !== 'object' || value === null) continue
      const { id, slug } = value as { id?: unknown; slug?: unknown }
      const name = wanted.get(String(id).toLowerCase()) ?? wanted.get(String(slug).toLowerCase())
      if (name === undefined) continue
      known.add(name)
      found.set(String(id), checked<RemoteProject>(isProject, value))
    }
  }
  return { found, unknown: names.filter((name) => !known.has(name)) }
}

/** Number of hashes per request. */
const HASHES_MAX = 500

/** Returns the projects of versions with these files, by hash. */
export async function findProjectsOf(
  source: Source,
  hashes: readonly string[],
  algorithm: 'sha1' | 'sha512',
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let at = 0; at < hashes.length; at += HASHES_MAX) {
    const query = { hashes: hashes.slice(at, at + HASHES_MAX), algorithm }
    const answer = await source.getJson('/v3/version_files', query).catch((error) => {
      throw refusal(source, error)
    })
    for (const hash of query.hashes) {
      const version = (answer as Json | null)?.[hash] as Json | undefined
      const project = version?.['project_id']
      if (typeof project === 'string' && isIdForm(project)) found.set(hash, project)
    }
  }
  return found
}

/** Returns the projects of an organization by their IDs. @throws SourceUnusable if the source has no such organization. */
export async function readOrganizationProjects(source: Source, name: string): Promise<Read<ReadProject>> {
  const path = `/v3/organization/${encodeURIComponent(name)}/projects`
  const list = await source.getJson(path).catch((error) => {
    if (error instanceof RefusedBySource && error.status === 404)
      throw new SourceUnusable(`The source has no organization ${name}. Check the name`)
    throw refusal(source, error)
  })
  const found: Read<ReadProject> = new Map()
  for (const value of Array.isArray(list) ? list : []) {
    const id = String((value as { id?: unknown } | null)?.id)
    found.set(id, checked<RemoteProject>(isProject, value))
  }
  return found
}

export type Hit = { id: string; modified: string }

/** Yields pages of a search, the latest changes first. */
export async function* searchProjects(source: Source, query: string): AsyncGenerator<Hit[]> {
  const parameters = new URLSearchParams(query)
  for (const name of ['index', 'limit', 'offset']) parameters.delete(name)
  for (let offset = 0; ; offset += HITS_MAX) {
    const paging = `index=updated&limit=${HITS_MAX}&offset=${offset}`
    const page = await source
      .getJson(`/v3/search?${[parameters.toString(), paging].filter(Boolean).join('&')}`)
      .catch((error) => {
        throw refusal(source, error)
      })
    if (!isHits.Check(page))
      throw new SourceUnusable(`The source ${source.address} answers searches in an unknown form. Check the address`)
    if (page.hits.length === 0) return
    yield page.hits.map(({ project_id, date_modified }) => ({ id: project_id, modified: date_modified }))
    if (offset + HITS_MAX >= page.total_hits) return
  }
}

/** Returns a page of the change feed, `expired` for a cursor that cannot be continued, or undefined without a feed. */
export async function readChanges(
  source: Source,
  since: string | null,
): Promise<RemoteChanges | 'expired' | undefined> {
  const kinds = encodeURIComponent('["project","version"]')
  const cursor = since === null ? '' : `&since=${encodeURIComponent(since)}`
  try {
    const page = await source.getJson(`/v3/changes?limit=${CHANGES_MAX}&kinds=${kinds}${cursor}`)
    if (isChanges.Check(page)) return page
    throw unknownFeed(source, page)
  } catch (error) {
    if (error instanceof RefusedBySource && error.status === 410) return 'expired'
    if (error instanceof RefusedBySource && error.status === 404) return undefined
    throw refusal(source, error)
  }
}

const unknownFeed = ({ address }: Source, page: unknown): SourceUnusable =>
  new SourceUnusable(
    `The change feed of ${address} has an unknown form: ${problemOf(isChanges, page)}. Check the address`,
  )

/** Returns the newest cursor, or undefined for a source without a change feed. */
export async function readLatest(source: Source): Promise<string | undefined> {
  try {
    const page = await source.getJson('/v3/changes?limit=1')
    if (isChanges.Check(page)) return page.latest
    throw unknownFeed(source, page)
  } catch (error) {
    if (error instanceof RefusedBySource && error.status === 404) return undefined
    throw refusal(source, error)
  }
}

/** Returns the public keys of the source, newest first; none for a source without keys. */
export async function readKeys(source: Source): Promise<string[]> {
  try {
    const answer = await source.getJson('/v3/instance/key')
    return isKeys.Check(answer) ? answer.keys.map(({ public_key }) => public_key) : []
  } catch (error) {
    if (error instanceof RefusedBySource && error.status === 404) return []
    throw refusal(source, error)
  }
}

/** Returns the names of users or organizations. */
export async function readNames(
  source: Source,
  path: '/v3/users' | '/v3/organizations',
  ids: readonly string[],
): Promise<Map<string, string>> {
  const found = await readMany<{ id: string; name?: string; username?: string }>(source, path, {
    ids,
    checker: isNamed,
  })
  return new Map(
    [...found].flatMap(([id, one]): [string, string][] => {
      const name = one instanceof CopyFailure ? undefined : (one.username ?? one.name)
      return name === undefined ? [] : [[id, name]]
    }),
  )
}

/** Returns the name of the owner of each team. */
export async function readOwners(source: Source, teamIds: readonly string[]): Promise<Map<string, string>> {
  const owners = new Map<string, string>()
  for (let at = 0; at < teamIds.length; at += IDS_MAX) {
    for (const team of await readPart(source, '/v3/teams', teamIds.slice(at, at + IDS_MAX))) {
      for (const member of Array.isArray(team) ? team : []) {
        if (isMember.Check(member) && member.is_owner) owners.set(member.team_id, member.user.username)
      }
    }
  }
  return owners
}
