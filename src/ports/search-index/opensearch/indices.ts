// The indexes of Depot in a cluster: each build creates a new index, and an alias names the current one.
import { randomBytes } from 'node:crypto'
import type { Connection } from './connection.ts'
import { INDEX_BODY } from './documents.ts'

/** The alias is the prefix itself; indexes are named `<prefix>-<milliseconds>-<random>`. */
export function newIndexName(prefix: string): string {
  return `${prefix}-${Date.now()}-${randomBytes(4).toString('hex')}`
}

export async function createIndex(connection: Connection, name: string): Promise<void> {
  await connection.request({ kind: 'manage', method: 'PUT', path: `/${name}`, body: INDEX_BODY })
}

export async function dropIndex(connection: Connection, name: string): Promise<void> {
  await connection.request({ kind: 'manage', method: 'DELETE', path: `/${name}`, accept: [404] })
}

/** Removes the indexes of incomplete builds: those of this prefix that the alias does not name. */
export async function dropLeftovers(connection: Connection, prefix: string): Promise<void> {
  const { body } = await connection.request<Record<string, { aliases: Record<string, unknown> }>>({
    kind: 'manage',
    method: 'GET',
    path: `/${prefix}-*/_alias`,
    accept: [404],
  })
  const ownNames = new RegExp(`^${prefix.replaceAll(/[^a-z0-9]/g, '\\$&')}-\\d{13,}-[0-9a-f]{8}$`)
  for (const [name, { aliases }] of Object.entries(body)) {
    if (ownNames.test(name) && !Object.hasOwn(aliases ?? {}, prefix)) await dropIndex(connection, name)
  }
}

/** Makes the new index the current one atomically, and removes the previous one. */
export async function swapIndex(
  connection: Connection,
  { prefix, name, sequence }: { prefix: string; name: string; sequence: number },
): Promise<void> {
  const _meta = { sequence }
  await connection.request({ kind: 'manage', method: 'PUT', path: `/${name}/_mapping`, body: { _meta } })
  await refresh(connection, name)
  const before = await findIndex(connection, prefix)
  const removed = before === undefined ? [] : [{ remove: { index: before.name, alias: prefix } }]
  const actions = [...removed, { add: { index: name, alias: prefix } }]
  await connection.request({ kind: 'manage', method: 'POST', path: '/_aliases', body: { actions } })
  if (before !== undefined) await dropIndex(connection, before.name)
}

export async function refresh(connection: Connection, name: string): Promise<void> {
  await connection.request({ kind: 'write', method: 'POST', path: `/${name}/_refresh` })
}

export type CurrentIndex = {
  readonly name: string
  /** Changes when the index is created or restored. */
  readonly uuid: string
  /** Sequence of the catalogue from which the index was built. */
  readonly sequence: number
}

/** Returns the current index, if there is one. */
export async function findIndex(connection: Connection, prefix: string): Promise<CurrentIndex | undefined> {
  type Described = {
    settings: { index: { uuid: string } }
    mappings: { _meta?: { sequence?: number } }
    aliases: Record<string, unknown>
  }
  const { status, body } = await connection.request<Record<string, Described>>({
    kind: 'status',
    method: 'GET',
    path: `/${prefix}`,
    accept: [404],
  })
  const [entry] = status === 404 ? [] : Object.entries(body)
  if (entry === undefined) return undefined
  const [name, { settings, mappings }] = entry
  return { name, uuid: settings.index.uuid, sequence: mappings._meta?.sequence ?? 0 }
}

/** Returns the number of live projects and the highest sequence of a change. */
export async function measureIndex(
  connection: Connection,
  prefix: string,
): Promise<{ documents: number; sequence: number }> {
  const { body } = await connection.request<{
    aggregations: { last: { value: number | null }; live: { doc_count: number } }
  }>({
    kind: 'status',
    method: 'POST',
    path: `/${prefix}/_search`,
    body: {
      size: 0,
      track_total_hits: false,
      aggs: { last: { max: { field: 'sequence' } }, live: { filter: { term: { is_live: true } } } },
    },
  })
  const { last, live } = body.aggregations
  return { documents: live.doc_count, sequence: last.value ?? 0 }
}
