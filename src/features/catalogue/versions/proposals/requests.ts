// The description of files for which proposals are requested.
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { checkBody } from '#lib/schema/schema-errors.ts'
import { Id } from '#lib/schema/schema-parts.ts'

export const ProposalData = Type.Object(
  { project_id: Id('Project of the future version, whose earlier versions are a source too') },
  { title: 'ProposalRequest' },
)
const validator = Compile(ProposalData)

/** @throws ApiError `validation_error` naming the field. */
export function parseProposalData(data: unknown): { project_id: string } {
  return checkBody(validator, data)
}
