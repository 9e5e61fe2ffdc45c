// The wire shapes of a report (facts/people.md 1.0 and 2.4).
import Type, { type Static } from 'typebox'
import { ImageIds } from '#features/content-images/image-ids.ts'
import { Nullable, Timestamp } from '#lib/schema-parts.ts'
import type { ReportRow } from './queries.ts'

const ItemType = Type.Enum(['project', 'version', 'user'])
export type ItemType = Static<typeof ItemType>

const BODY_LENGTH_MAX = 65_536

export const ReportView = Type.Object(
  {
    id: Type.String(),
    report_type: Type.String(),
    item_id: Type.String(),
    item_type: ItemType,
    reporter: Type.String({ description: 'User ID' }),
    body: Type.String({ description: 'Markdown' }),
    created: Timestamp,
    closed: Type.Boolean(),
    thread_id: Type.String({ description: 'The conversation about it' }),
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
    uploaded_images: Type.Optional(Nullable(ImageIds('text'))),
  },
  { title: 'ReportInput' },
)
export type ReportInput = Static<typeof ReportInput>

/** Null stands for absent (facts/people.md 0.3): neither can be cleared. */
export const ReportPatch = Type.Object(
  {
    body: Type.Optional(Nullable(Body)),
    closed: Type.Optional(Nullable(Type.Boolean({ description: 'For moderators' }))),
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
