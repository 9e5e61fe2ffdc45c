// Response schemas of trusted publishers.
import Type from 'typebox'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { PublisherFacts } from './queries.ts'

export const PublisherView = NamedObject('TrustedPublisher', {
  id: Type.String(),
  project_id: Nullable(Type.String()),
  organization_id: Nullable(Type.String()),
  issuer: Type.String(),
  repository: Type.String({ description: 'Owner and name, as the build service last wrote them' }),
  repository_id: Nullable(Type.String({ description: 'ID of the repository; null before the first build' })),
  owner_id: Nullable(Type.String()),
  workflow: Type.String(),
  environment: Nullable(Type.String()),
  ref_pattern: Nullable(Type.String()),
  protected_ref_only: Type.Boolean(),
  called_workflows: Type.Array(Type.String()),
  created_by: Nullable(Type.String({ description: 'ID of the user who added it, the author of its versions' })),
  works: Type.Boolean({ description: 'False after that user has left the project or organization' }),
  created: Timestamp,
  last_used: Nullable(Timestamp),
  proven: Nullable({
    ...Timestamp,
    description: 'Time of the first build that named its project; null before that, when builds must name the project',
  }),
})

export const PublisherList = NamedObject('TrustedPublishers', {
  publishing: Nullable(
    Type.Enum(['any', 'trusted_only'], {
      description: '`trusted_only`: only trusted publishers publish versions of the project; null for organizations',
    }),
  ),
  issuers: Type.Array(Type.Object({ issuer: Type.String(), name: Type.String(), kind: Type.String() }), {
    description: 'Build services that the operator accepts',
  }),
  warnings: Type.Array(Type.String(), { description: 'Problems of the configuration, as sentences' }),
  publishers: Type.Array(PublisherView),
})

export const toPublisherView = (row: PublisherFacts) => toView(PublisherView, row)
