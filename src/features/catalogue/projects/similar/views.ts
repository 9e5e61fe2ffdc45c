// Response schema of projects that are similar to a name or an icon.
import Type, { type Static } from 'typebox'
import { type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { projectTypesOf, type Taxonomy } from '#taxonomy/taxonomy.ts'

const REASONS = ['letters', 'words', 'icon'] as const

const SimilarProjectView = NamedObject('SimilarProject', {
  id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  icon_url: Nullable(Type.String()),
  project_types: Type.Array(Type.String()),
  downloads: Type.Integer(),
  ownership: Nullable(
    Type.Object({ kind: Type.Enum(['user', 'organization']), id: Type.String(), name: Type.String() }),
  ),
  reasons: Type.Array(
    Type.Enum([...REASONS], {
      description:
        '`letters`: the names differ in at most two letters, or in letters that look alike. `words`: the words of one ' +
        'name are in the other. `icon`: the icons look alike',
    }),
  ),
})
export type SimilarProjectView = Static<typeof SimilarProjectView>

export const SimilarProjectsView = NamedObject('SimilarProjects', {
  projects: Type.Array(SimilarProjectView, { description: 'At most 10 projects, the most similar first' }),
})

export type SimilarRow = Omit<SimilarProjectView, 'project_types' | 'reasons'> &
  Record<(typeof REASONS)[number], boolean> & { loaders: string[] | null; draft_type: string | null }

export function toSimilarProjectView(
  { loaders, draft_type, letters, words, icon, ...row }: SimilarRow,
  { taxonomy, config }: { taxonomy: Taxonomy; config: FilesConfig },
): SimilarProjectView {
  const found = { letters, words, icon }
  return {
    ...row,
    icon_url: imageUrl(config, row.icon_url),
    project_types: projectTypesOf(taxonomy, loaders ?? [], draft_type),
    reasons: REASONS.filter((reason) => found[reason]),
  }
}
