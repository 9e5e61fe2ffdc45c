// The indexes of one Depot in a cluster: each build is an index of its own, and an alias names the one that answers.
import { randomBytes } from 'node:crypto'
import type { Connection } from './connection.ts'
import { INDEX_BODY, INDEX_FORM } from './documents.ts'

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

/** Removes what builds that were broken off have left: the indexes of this prefix that the alias does not name. */
export async function dropLeftovers(connection: Connection, prefix: string): Promise<void> {
  const { body } = await connection.request<Record<string, { aliases: Record<string, unknown> }>>({
    kind: 'manage',
    method: 'GET',
    path: `/${prefix}-*/_alias`,
    accept: [404],
  })
  const ours = new RegExp(`^${prefix.replaceAll(/[^a-z0-9]/g, '\\$&')}-\\d{13,}-[0-9a-f]{8}$`)
  for (const [name, { aliases }] of Object.entries(body)) {
    if (ours.test(name) && !Object.hasOwn(aliases ?? {}, prefix)) await dropIndex(connection, name)
  }
}

/** Makes a finished build the one that answers, at once for everybody, and removes the one before. */
export async function swapIndex(
  connection: Connection,
  { prefix, name, sequence }: { prefix: string; name: string; sequence: number },
): Promise<void> {
  const _meta = { sequence, form: INDEX_FORM }
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

export type FoundIndex = {
  readonly name: string
  /** Another one when the index was made or restored again. */
  readonly uuid: string
  /** Of the catalogue that it was built from. */
  readonly sequence: number
  readonly form: number
}

/** The index that answers; undefined when there is none. */
export async function findIndex(connection: Connection, prefix: string): Promise<FoundIndex | undefined> {
  type Found = {
    settings: { index: { uuid: string } }
    mappings: { _meta?: { sequence?: number; form?: number } }
    aliases: Record<string, unknown>
  }
  const { status, body } = await connection.request<Record<string, Found>>({
    kind: 'status',
    method: 'GET',
    path: `/${prefix}`,
    accept: [404],
  })
  const [found] = status === 404 ? [] : Object.entries(body)
  if (found === undefined) return undefined
  const [name, { settings, mappings }] = found
  const { sequence = 0, form = 0 } = mappings._meta ?? {}
  return { name, uuid: settings.index.uuid, sequence, form }
}

/** Projects that can be found, and the highest sequence of a change. */
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
