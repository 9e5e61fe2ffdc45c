// Response schemas of packs.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Revision, Timestamp } from '#lib/schema/schema-parts.ts'
import { PACK_STATUSES } from './policy.ts'
import type { PackReadRow, SaveRow } from './queries.ts'

const number = Type.Integer({ minimum: 1, description: 'Number of the save, from 1' })
const lock = Type.String({ description: 'ID of the lock with the versions' })

export const PackView = NamedObject('Pack', {
  id: Type.String(),
  revision: Revision('pack'),
  user: Type.String({ description: 'ID of the owner' }),
  name: Type.String(),
  slug: Type.String(),
  status: Type.Enum([...PACK_STATUSES]),
  projects: Type.Array(Type.String(), {
    description: 'IDs of the projects that the caller can see, in the order set by the owner',
  }),
  game_version: Type.String(),
  loader: Nullable(Type.String()),
  loader_version: Nullable(Type.String()),
  number: { ...number, description: 'Number of the newest save' },
  lock: { ...lock, description: 'ID of the lock of the newest save' },
  created: Timestamp,
  updated: Timestamp,
})
export type PackView = Static<typeof PackView>

export const PackSaveView = NamedObject('PackSave', { number, lock, created: Timestamp })
export type PackSaveView = Static<typeof PackSaveView>

export function toPackView(row: PackReadRow): PackView {
  const { id, revision, name, slug, status, projects, game_version, loader, loader_version, number: newest } = row
  return {
    ...{ id, revision, user: row.account_id, name, slug, status, projects, game_version, loader, loader_version },
    number: newest,
    lock: row.lock_id,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
  }
}

export function toPackSaveView({ number: saved, lock_id, created }: SaveRow): PackSaveView {
  return { number: saved, lock: lock_id, created: created.toISOString() }
}
