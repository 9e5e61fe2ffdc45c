// Requests of impact reports.
import Type, { type Static } from 'typebox'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { Id } from '#lib/schema/schema-parts.ts'

/** The fields of a request, of which each has one. */
export const ACTIONS = ['withdraw', 'remove', 'replace'] as const

export const ImpactBody = Type.Object(
  {
    withdraw: Type.Optional(Id('ID of the version that would be withdrawn')),
    remove: Type.Optional(Id('ID of the version that would be deleted, or of the project for all of them')),
    replace: Type.Optional(Id('ID of the version that would be the only one left')),
  },
  { title: 'ImpactRequest', description: 'Exactly one of the fields' },
)
export type ImpactBody = Static<typeof ImpactBody>

export const JobParams = Type.Object({
  ...ProjectParams.properties,
  job: Type.String({ maxLength: 64, description: 'ID of the job', examples: ['AABBCCDD'] }),
})
