// The description of files for which proposals are requested.
import type { Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkBody } from '#lib/schema/schema-errors.ts'
import { Id, Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { UploadNames } from '../publish/requests.ts'

export const ProposalData = NamedObject('ProposalRequest', {
  project_id: Id('Project of the future version, whose earlier versions are a source too'),
  file_parts: Maybe(UploadNames),
})
const validator = Compile(ProposalData)

/** @throws ApiError `validation_error` naming the field. */
export function parseProposalData(data: unknown): Static<typeof ProposalData> {
  return checkBody(validator, data)
}
