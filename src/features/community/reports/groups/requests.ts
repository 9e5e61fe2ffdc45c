// Requests about the reports of an item: the grouped list, and closing several reports.
import Type, { type Static } from 'typebox'
import { validationError } from '#lib/errors.ts'
import { Id, NamedObject } from '#lib/schema/schema-parts.ts'
import { checkText } from '#lib/text/text-rules.ts'
import { Offset } from '#platform/http/query-values.ts'
import { CLAIM_FILTERS, OUTCOMES, ReportFilterFields } from '../requests.ts'

const MESSAGE = { min: 1, max: 65_536, visible: true }
/** Maximum number of reports in one request. */
const CLOSED_MAX = 100

export const ReportGroupsQuery = Type.Object({
  ...ReportFilterFields,
  claim: Type.Optional(
    Type.Enum([...CLAIM_FILTERS], { description: 'Claims of the caller, of other moderators, or none' }),
  ),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 50, description: 'Page size' })),
  offset: Offset,
})

/** The body of the claim of the next item. */
export const NextReportRequest = Type.Pick(Type.Object(ReportFilterFields), ['item_type', 'report_type'])

export const ReportsToClose = NamedObject('ReportsToClose', {
  ids: Type.Array(Id(), { minItems: 1, maxItems: CLOSED_MAX, description: 'IDs of open reports about the same item' }),
  outcome: Type.Enum([...OUTCOMES], { description: 'Whether the reports led to action' }),
  message: Type.Optional(
    Type.String({
      minLength: MESSAGE.min,
      maxLength: MESSAGE.max,
      description: 'Message to each reporter, in Markdown',
    }),
  ),
})
export type ReportsToClose = Static<typeof ReportsToClose>

/** @throws ApiError `validation_error` naming the field. */
export function checkReportsToClose(request: ReportsToClose): ReportsToClose {
  if (new Set(request.ids).size < request.ids.length) throw validationError('ids', 'must not contain an ID twice')
  if (request.message !== undefined) checkText(request.message, 'message', MESSAGE)
  return request
}
