// Response schema of a report.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import type { ReportRow } from './queries.ts'
import { ItemType, OUTCOMES, type Outcome } from './requests.ts'

export const ReportView = NamedObject('Report', {
  id: Type.String(),
  report_type: Type.String(),
  item_id: Type.String(),
  item_type: ItemType,
  reporter: Type.String({ description: 'User ID of the reporter' }),
  body: Type.String({ description: 'Markdown' }),
  created: Timestamp,
  closed: Type.Boolean(),
  closed_at: Nullable(Timestamp),
  outcome: Nullable(
    Type.Enum([...OUTCOMES], {
      description: 'Whether the report led to action; null for open reports, and if the moderator did not say',
    }),
  ),
  thread_id: Type.String({ description: 'ID of the thread about the report' }),
})
export type ReportView = Static<typeof ReportView>

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
    closed_at: row.closed_at?.toISOString() ?? null,
    outcome: row.outcome as Outcome | null,
    thread_id: row.thread_id,
  }
}
