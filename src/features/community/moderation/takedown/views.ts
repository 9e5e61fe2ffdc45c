// Response schema of a takedown.
import Type, { type Static } from 'typebox'
import { Nullable } from '#lib/schema/schema-parts.ts'
import type { Concerned } from './queries.ts'

export const TakedownView = Type.Object(
  {
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
      Type.Object({
        id: Type.String(),
        project_id: Type.String(),
        version_number: Type.String(),
        status: Type.String(),
      }),
      { description: 'Versions that the content belongs to, at most 500, newest first' },
    ),
    collection: Nullable(
      Type.Object({ id: Type.String(), name: Type.String(), status: Type.String(), owner_id: Type.String() }),
    ),
    user: Nullable(Type.Object({ id: Type.String(), username: Type.String(), text: Nullable(Type.String()) })),
    changed: Type.Boolean({ description: 'Whether the content was taken down; false for a dry run' }),
  },
  { title: 'Takedown' },
)

export const toTakedownView = (concerned: Concerned, changed: boolean): Static<typeof TakedownView> => ({
  ...concerned,
  changed,
})
