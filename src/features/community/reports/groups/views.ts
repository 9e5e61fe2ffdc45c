// Response schemas of reports grouped by the reported item.
import Type, { type Static } from 'typebox'
import { ClaimView, toClaimView } from '#features/catalogue/reviews/claim-view.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import { ItemType } from '../requests.ts'
import type { ReportGroup } from './queries.ts'

const ReportGroupView = NamedObject('ReportGroup', {
  item_type: ItemType,
  item_id: Type.String(),
  item: Nullable(
    Type.Object(
      {
        name: Type.String({ description: 'Name of the project, with the number of the version; username' }),
        status: Nullable(Type.String({ description: 'Status of the project or version' })),
        project_id: Nullable(Type.String()),
        slug: Nullable(Type.String({ description: 'Slug of the project' })),
      },
      { description: 'The item as it is now; null if it was deleted' },
    ),
  ),
  reports: Type.Integer({ description: 'Number of reports that match the filter' }),
  open: Type.Integer({ description: 'Number of these reports that are open' }),
  first: { ...Timestamp, description: 'Time of the first of these reports' },
  latest: { ...Timestamp, description: 'Time of the latest of these reports' },
  open_since: Nullable({ ...Timestamp, description: 'Time of the oldest open report' }),
  report_ids: Type.Array(Type.String(), { description: 'IDs of at most 100 of these reports, oldest first' }),
  types: Type.Array(Type.Object({ type: Type.String(), count: Type.Integer() }), {
    description: 'Report types, most frequent first',
  }),
  ...ClaimView.properties,
  reporter_count: Type.Integer(),
  reporters: Type.Array(
    Type.Object({
      id: Type.String(),
      username: Type.String(),
      reports: Type.Integer({ description: 'Number of all their reports' }),
      closed: Type.Integer({ description: 'Number of their closed reports' }),
      action: Type.Integer({ description: 'Number of their reports that led to action' }),
    }),
    { description: 'At most 5 reporters, those with the most reports about the item first' },
  ),
})

export const ReportGroupsView = NamedObject('ReportGroups', {
  total: Type.Integer({ description: 'Number of items that match the filter' }),
  open: Type.Integer({ description: 'Number of all open reports' }),
  closed: Type.Integer({ description: 'Number of all closed reports' }),
  groups: Type.Array(ReportGroupView, { description: 'Items with the oldest reports first' }),
})

export const toReportGroupView = ({ claim, ...row }: ReportGroup): Static<typeof ReportGroupView> =>
  toView(ReportGroupView, { ...row, ...toClaimView(claim) })

export const NextReportView = Type.Object(
  { report_id: Nullable(Type.String()) },
  {
    title: 'NextReport',
    description: 'ID of the oldest open report about the claimed item; null if no unclaimed item matches',
  },
)
