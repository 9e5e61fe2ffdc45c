// Responses of impact reports.
import Type, { type Static } from 'typebox'
import { IMPACT_MAX } from '#features/catalogue/breakage/impact-queries.ts'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'

const Affected = NamedObject('AffectedProject', {
  project_id: Type.String(),
  version_id: Type.String({ description: 'Newest version of the project' }),
  names_version: Type.Boolean({ description: 'Whether the dependency names a version, not only the project' }),
})

export const ImpactView = NamedObject('Impact', {
  dependents: Type.Array(Affected, { description: 'Projects that would have no version of a required dependency' }),
  packs: Type.Array(Affected, { description: 'The same for modpacks, which also contain versions' }),
  saved_packs: Type.Integer({ description: 'Number of saved packs that could no longer be installed, at most 1000' }),
  complete: Type.Boolean({
    description: `Whether the lists have everything; they have at most ${IMPACT_MAX} projects`,
  }),
})
export type ImpactView = Static<typeof ImpactView>

export const JobView = NamedObject('ImpactJob', {
  job: Type.String({ description: 'ID for `GET /v3/project/{id}/impact/{job}`; valid for one day' }),
})

export const ReportView = NamedObject('ImpactReport', {
  state: Type.Enum(['running', 'done']),
  result: Nullable(ImpactView),
})
