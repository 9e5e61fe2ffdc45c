// Requests to create and edit reports.
import Type, { type Static } from 'typebox'
import { ImageIds } from '#features/basics/content-images/requests.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { Id, NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { Offset } from '#platform/http/query-values.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'

/** Whether a closed report led to action. */
export const OUTCOMES = ['action', 'no_action'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const REPORT_STATES = ['open', 'closed', 'all'] as const
export type ReportState = (typeof REPORT_STATES)[number]

export const ItemType = Type.Enum(['project', 'version', 'user'])
export type ItemType = Static<typeof ItemType>

const Body = Type.String({ maxLength: 65_536, description: 'Markdown' })

export const ReportInput = NamedObject('ReportCreate', {
  report_type: Type.String({ maxLength: 64, description: 'Report type from `GET /v3/report_type`' }),
  item_id: Id('ID of the reported project, version or user; not a slug or name'),
  item_type: ItemType,
  body: Body,
  uploaded_images: Type.Optional(Nullable(ImageIds('text'))),
})

export type NewReport = { reportType: string; item: { type: ItemType; id: string }; body: string; imageIds: string[] }

/** @throws ApiError `validation_error` naming the field. */
export function parseReport(input: Static<typeof ReportInput>, { reportTypes }: Taxonomy): NewReport {
  const { report_type, item_type, item_id, body, uploaded_images } = input
  if (!reportTypes.includes(report_type))
    throw validationError('report_type', `must be one of ${reportTypes.join(', ')}`)
  if (!isIdForm(item_id)) throw validationError('item_id', 'is not a base62 identifier')
  requireVisibleText(body)
  const imageIds = [...new Set(uploaded_images ?? [])]
  return { reportType: report_type, item: { type: item_type, id: item_id }, body, imageIds }
}

/** Null means absent: no field can be cleared. */
export const ReportPatch = NamedObject('ReportUpdate', {
  body: Type.Optional(Nullable(Body)),
  closed: Type.Optional(
    Nullable(Type.Boolean({ description: 'Whether the report is closed; only moderators can set it' })),
  ),
  outcome: Type.Optional(
    Nullable(
      Type.Enum([...OUTCOMES], {
        description: 'Whether the report led to action; only moderators can set it, for a closed report',
      }),
    ),
  ),
})
export type ReportPatch = Static<typeof ReportPatch>

/** @throws ApiError `validation_error` naming the field. */
export function checkReportPatch(patch: ReportPatch): ReportPatch {
  if (typeof patch.body === 'string') requireVisibleText(patch.body)
  return patch
}

function requireVisibleText(body: string): void {
  if (isBlank(body)) throw validationError('body', 'must not be blank')
}

export const CLAIM_FILTERS = ['unassigned', 'mine', 'others'] as const
type ClaimFilter = (typeof CLAIM_FILTERS)[number]

/** Filter of lists of reports. */
export type ReportFilter = {
  state: ReportState
  itemType?: ItemType | undefined
  itemId?: string | undefined
  reportType?: string | undefined
  /** Claims of the items: of nobody, of the viewer or of another moderator. */
  claim?: { by: ClaimFilter; viewerId: string } | undefined
}

/** Filters of every list of reports. */
export const ReportFilterFields = {
  state: Type.Optional(Type.Enum([...REPORT_STATES], { default: 'open', description: 'State of the reports' })),
  item_type: Type.Optional(Type.Enum(['project', 'version', 'user'], { description: 'Kind of the reported items' })),
  report_type: Type.Optional(Type.String({ maxLength: 64, description: 'Report type from `GET /v3/report_type`' })),
}

export const ReportsQuery = Type.Object({
  ...ReportFilterFields,
  item_id: Type.Optional(Type.String({ maxLength: 64, description: 'ID of the reported item' })),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 100, description: 'Page size' })),
  offset: Offset,
  all: Type.Optional(
    Type.Boolean({
      description: 'Whether to include the reports of all users; ignored unless the caller is a moderator',
    }),
  ),
})

export function toReportFilter(query: Pick<Static<typeof ReportsQuery>, 'item_id' | keyof typeof ReportFilterFields>) {
  const { state = 'open', item_type: itemType, item_id: itemId, report_type: reportType } = query
  return { state, itemType, itemId, reportType } satisfies ReportFilter
}
