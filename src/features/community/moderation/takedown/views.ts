// Response schema of a takedown.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { BlockedFile } from './blocks.ts'
import type { TakenDown } from './take-down.ts'

export const TakedownView = NamedObject('Takedown', {
  projects: Type.Array(
    Type.Object({
      id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      status: Type.String({ description: 'Status before the takedown' }),
      downloads: Type.Integer(),
      versions: Type.Integer(),
      members: Type.Integer({ description: "Number of accepted members of the project's team" }),
      dependents: Type.Integer({ description: 'Number of projects that depend on it' }),
    }),
    { description: 'Projects that the content belongs to, at most 100, most downloaded first' },
  ),
  versions: Type.Array(
    Type.Object({ id: Type.String(), project_id: Type.String(), version_number: Type.String(), status: Type.String() }),
    { description: 'Versions that the content belongs to, at most 500, newest first' },
  ),
  collection: Nullable(
    Type.Object({ id: Type.String(), name: Type.String(), status: Type.String(), owner_id: Type.String() }),
  ),
  user: Nullable(Type.Object({ id: Type.String(), username: Type.String(), text: Nullable(Type.String()) })),
  blocked_files: Type.Integer({ description: 'Number of different files whose content is blocked' }),
  id: Nullable(Type.String({ description: 'ID of the takedown; null for a dry run' })),
  changed: Type.Boolean({ description: 'Whether the content was taken down; false for a dry run' }),
})

export const UndoneView = NamedObject('UndoneTakedown', {
  left: Type.Array(
    Type.Object({
      kind: Type.String(),
      id: Type.String(),
      name: Type.String(),
      reason: Type.String({ description: 'Why the part could not be restored' }),
    }),
    { description: 'Parts that could not be restored, for example a scheduled project whose time is lost' },
  ),
})

const BlockedFileView = NamedObject('BlockedFile', {
  sha512: Type.String(),
  filename: Type.String(),
  size_bytes: Type.Integer(),
  reason: Type.String({ description: 'Reason of the takedown' }),
  takedown_id: Type.String(),
  created: Timestamp,
})
export const BlockedFilesView = NamedObject('BlockedFiles', {
  total: Type.Integer(),
  files: Type.Array(BlockedFileView),
})

export const toTakedownView = ({ concerned, blocked }: Omit<TakenDown, 'id'>, id: string | null) => ({
  ...concerned,
  blocked_files: blocked,
  id,
  changed: id !== null,
})

export const toBlockedFileView = (file: BlockedFile): Static<typeof BlockedFileView> => ({
  ...file,
  created: file.created.toISOString(),
})
