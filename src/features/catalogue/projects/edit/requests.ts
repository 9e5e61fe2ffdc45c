// Request bodies to edit one project or several.
import Type, { type Static } from 'typebox'
import { Maybe, NamedObject } from '#lib/schema/schema-parts.ts'
import { IdsQuery } from '#platform/http/query-values.ts'
import { PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { DryRunQuery } from '../../dry-run/views.ts'
import { ADDITIONAL_CATEGORIES_MAX, optionalFieldSchemas, projectFields } from '../fields.ts'
import { ScheduledAt } from '../schedule-release.ts'

/** An absent field stays unchanged; null clears a field that can be empty. */
export const ProjectPatch = NamedObject('ProjectUpdate', {
  ...Type.Partial(Type.Object(projectFields)).properties,
  ...optionalFieldSchemas,
  status: Type.Optional(Type.Enum([...PROJECT_STATUSES])),
  scheduled_at: ScheduledAt('project'),
  moderation_message: Maybe(
    Type.String({
      maxLength: 2000,
      description: 'Message of the moderators to the members. Members can only clear it (null), after the approval',
    }),
  ),
  moderation_message_body: Maybe(
    Type.String({
      maxLength: 65_536,
      description: 'Details of the message, in Markdown. Members can only clear them (null), after the approval',
    }),
  ),
  seen: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'The state that the moderator has seen, from the queue or the changes of the project. 409 if the project has changed since, with the last event. Only for moderators',
    }),
  ),
  publishing: Type.Optional(
    Type.Enum(['any', 'trusted_only'], {
      description:
        '`trusted_only`: only trusted publishers publish versions. Members see it with the trusted publishers',
    }),
  ),
  monetization_status: Type.Optional(Type.Enum(['monetized', 'demonetized', 'force-demonetized'])),
})
export type ProjectPatch = Static<typeof ProjectPatch>

const AnyCategories = Type.Array(Type.String({ maxLength: 64 }), { maxItems: ADDITIONAL_CATEGORIES_MAX })

/** The query of an edit of several projects or versions. */
export const BulkQuery = Type.Object({ ...IdsQuery.properties, ...DryRunQuery.properties })

export const ProjectBulkPatch = Type.Object(
  {
    categories: Type.Optional(projectFields.categories),
    add_categories: Type.Optional(projectFields.categories),
    remove_categories: Type.Optional(AnyCategories),
    additional_categories: Type.Optional(projectFields.additional_categories),
    add_additional_categories: Type.Optional(AnyCategories),
    remove_additional_categories: Type.Optional(AnyCategories),
    link_urls: Type.Optional(projectFields.link_urls),
  },
  { title: 'ProjectsUpdate', description: 'Depot applies replacements first, then removals, then additions.' },
)
export type ProjectBulkPatch = Static<typeof ProjectBulkPatch>
