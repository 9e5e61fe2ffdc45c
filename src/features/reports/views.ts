// The wire shapes of a report (facts/people.md 1.0 and 2.4).
import Type, { type Static } from 'typebox'
import type { ReportRow } from './queries.ts'

const ItemType = Type.Enum(['project', 'version', 'user'])
export type ItemType = Static<typeof ItemType>

export const BODY_LENGTH_MAX = 65_536
export const REPORT_IMAGES_MAX = 10

export const ReportView = Type.Object(
  {
    id: Type.String(),
    report_type: Type.String(),
    item_id: Type.String(),
    item_type: ItemType,
    reporter: Type.String({ description: 'User ID' }),
    body: Type.String({ description: 'Markdown' }),
    created: Type.String({ format: 'date-time' }),
    closed: Type.Boolean(),
    thread_id: Type.String(),
  },
  { title: 'Report' },
)
export type ReportView = Static<typeof ReportView>

const Body = Type.String({ maxLength: BODY_LENGTH_MAX, description: 'Markdown' })

export const ReportInput = Type.Object(
  {
    report_type: Type.String({ maxLength: 64, description: 'One of /v3/report_type' }),
    item_id: Type.String({ maxLength: 64, description: 'ID, not slug or name' }),
    item_type: ItemType,
    body: Body,
    uploaded_images: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: REPORT_IMAGES_MAX })),
  },
  { title: 'ReportInput' },
)
export type ReportInput = Static<typeof ReportInput>

export const ReportPatch = Type.Object(
  {
    body: Type.Optional(Body),
    closed: Type.Optional(Type.Boolean({ description: 'For moderators' })),
  },
  { title: 'ReportPatch' },
)
export type ReportPatch = Static<typeof ReportPatch>

export function toReportView(row: ReportRow): ReportView {
  return {
    id: row.id,
    report_type: row.report_type,
    item_id: row.item_id,
    item_type: row.item_type as ItemType,
    reporter: row.reporter_id,
    body: row.body,
    created: row.created.toISOString(),
    closed: row.closed,
    thread_id: row.thread_id,
  }
}
