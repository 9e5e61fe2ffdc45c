// Response schemas of the moderation queue.
import Type, { type Static } from 'typebox'
import { type FilesConfig, imageUrl } from '#features/basics/images/hosted-image.ts'
import { type ClaimRow, ClaimView, toClaimView } from '#features/catalogue/reviews/claim-view.ts'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { PROJECT_STATUSES, REQUESTABLE_STATUSES } from '#taxonomy/project-status.ts'
import { projectTypesOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import type { OwnerRecord } from './users/queries.ts'
import { OwnerRecordView } from './users/views.ts'

export const QueuedProjectView = NamedObject('QueuedProject', {
  id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  summary: Type.String(),
  icon_url: Nullable(Type.String()),
  status: Type.Enum([...PROJECT_STATUSES]),
  requested_status: Nullable(Type.Enum([...REQUESTABLE_STATUSES])),
  queued: Nullable(Timestamp),
  published: Timestamp,
  updated: Timestamp,
  project_types: Type.Array(Type.String()),
  thread_id: Nullable(Type.String()),
  position: Type.Integer({ minimum: 1, description: 'Position in the whole queue, regardless of filters' }),
  scans: Type.Array(
    Type.Object({
      version_id: Type.String(),
      version_number: Type.String(),
      state: Type.Enum(['pending', 'warn', 'quarantine']),
      reason: Nullable(Type.String()),
    }),
    { description: 'Versions with files that the scanner has not passed' },
  ),
  scan_passed: Type.Boolean({ description: 'Whether a scanner has passed the files of every version' }),
  ownership: Nullable(
    Type.Object({
      kind: Type.Enum(['user', 'organization']),
      id: Type.String(),
      name: Type.String(),
      icon_url: Nullable(Type.String()),
    }),
  ),
  owner_record: Nullable(OwnerRecordView),
  ...ClaimView.properties,
  appeal: Nullable(
    Type.Object(
      {
        created: Timestamp,
        text: Type.String({ description: 'First 400 characters of the appeal, in Markdown' }),
        decided_by: Nullable(
          Type.Object(
            { id: Type.String(), username: Type.String() },
            { description: 'Moderator whose decision is appealed' },
          ),
        ),
      },
      { description: 'The open appeal of a rejected or withheld project; null for a project under review' },
    ),
  ),
  waits_for_reply: Type.Boolean({
    description: 'Whether a moderator has written to the members since the submission, and they have not replied',
  }),
  seen: Type.String({
    description:
      'The state that the response shows. Send it with the decision, so that the decision applies to this state only',
  }),
})
type QueuedProjectView = Static<typeof QueuedProjectView>

export type QueueRow = Omit<
  QueuedProjectView,
  | 'queued'
  | 'published'
  | 'updated'
  | 'project_types'
  | 'ownership'
  | 'owner_record'
  | 'appeal'
  | keyof typeof ClaimView.properties
> & {
  appeal: (Omit<NonNullable<QueuedProjectView['appeal']>, 'created'> & { created: string }) | null
  queued: Date | null
  published: Date
  updated: Date
  loaders: string[] | null
  owner: QueuedProjectView['ownership']
  claim: (Omit<ClaimRow, 'claimed_until'> & { claimed_until: string }) | null
}

export const QueueView = NamedObject('ModerationQueue', {
  total: Type.Integer({ description: 'Number of projects that match the filter' }),
  projects: Type.Array(QueuedProjectView),
})

/** A project's position in the queue, for its members. */
export const QueuePlaceView = NamedObject('QueuePlace', {
  position: Nullable(
    Type.Integer({
      minimum: 1,
      description: 'Position, starting at 1; null if the project is neither under review nor appealed',
    }),
  ),
  total: Type.Integer({ description: 'Number of projects in the queue' }),
})

export const NextProjectView = Type.Object(
  { project: Nullable(QueuedProjectView) },
  { title: 'NextProject', description: 'The claimed project, or null if no unclaimed project matches' },
)

/** @param records of the owners, by `kind:id` */
export function toQueuedProjectView(
  { loaders, owner, claim, appeal, ...row }: QueueRow,
  records: ReadonlyMap<string, OwnerRecord>,
  { taxonomy, config }: { taxonomy: Taxonomy; config: FilesConfig },
): QueuedProjectView {
  return {
    ...row,
    icon_url: imageUrl(config, row.icon_url),
    queued: row.queued?.toISOString() ?? null,
    published: row.published.toISOString(),
    updated: row.updated.toISOString(),
    project_types: projectTypesOf(taxonomy, loaders ?? []),
    ownership: owner && { ...owner, icon_url: imageUrl(config, owner.icon_url) },
    owner_record: owner && (records.get(`${owner.kind}:${owner.id}`) ?? null),
    appeal: appeal && { ...appeal, created: new Date(appeal.created).toISOString() },
    ...toClaimView(claim),
  }
}
