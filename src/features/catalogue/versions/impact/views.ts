// Responses of impact reports.
import Type, { type Static } from 'typebox'
import { IMPACT_MAX } from '#features/catalogue/breakage/impact-queries.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'

const Affected = Type.Object(
  {
    project_id: Type.String(),
    version_id: Type.String({ description: 'Newest version of the project' }),
    names_version: Type.Boolean({ description: 'Whether the dependency names a version, not only the project' }),
  },
  { title: 'AffectedProject' },
)

export const ImpactView = Type.Object(
  {
    dependents: Type.Array(Affected, { description: 'Projects that would have no version of a required dependency' }),
    packs: Type.Array(Affected, { description: 'The same for modpacks, which also contain versions' }),
    complete: Type.Boolean({
      description: `Whether the lists have everything; they have at most ${IMPACT_MAX} projects`,
    }),
  },
  { title: 'Impact' },
)
export type ImpactView = Static<typeof ImpactView>

export const JobView = Type.Object(
  { job: Type.String({ description: 'ID for `GET /v3/project/{id}/impact/{job}`; valid for one day' }) },
  { title: 'ImpactJob' },
)

export const ReportView = Type.Object(
  { state: Type.Enum(['running', 'done']), result: Nullable(ImpactView) },
  { title: 'ImpactReport' },
)
