// The description of files for which proposals are requested.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkBody } from '#lib/schema/schema-errors.ts'
import { Id, Maybe } from '#lib/schema/schema-parts.ts'
import { UploadNames } from '../publish/requests.ts'

export const ProposalData = Type.Object(
  {
    project_id: Id('Project of the future version, whose earlier versions are a source too'),
    file_parts: Maybe(UploadNames),
  },
  { title: 'ProposalRequest' },
)
const validator = Compile(ProposalData)

/** @throws ApiError `validation_error` naming the field. */
export function parseProposalData(data: unknown): Static<typeof ProposalData> {
  return checkBody(validator, data)
}
