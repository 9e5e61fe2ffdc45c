// Request bodies to edit one project or several.
import Type, { type Static } from 'typebox'
import { PROJECT_STATUSES } from '#lib/project-status.ts'
import { Nullable } from '#lib/schema/schema-parts.ts'
import { ADDITIONAL_CATEGORIES_MAX, optionalFieldSchemas, projectFields } from '../fields.ts'

/** An absent field stays unchanged; null clears a field that can be empty. */
export const ProjectPatch = Type.Object(
  {
    name: Type.Optional(projectFields.name),
    summary: Type.Optional(projectFields.summary),
    description: Type.Optional(projectFields.description),
    categories: Type.Optional(projectFields.categories),
    additional_categories: Type.Optional(projectFields.additional_categories),
    license_id: Type.Optional(projectFields.license_id),
    ...optionalFieldSchemas,
    slug: Type.Optional(projectFields.slug),
    link_urls: Type.Optional(projectFields.link_urls),
    status: Type.Optional(Type.Enum([...PROJECT_STATUSES])),
    requested_status: Type.Optional(projectFields.requested_status),
    scheduled_at: Type.Optional(
      Nullable(
        Type.String({
          format: 'date-time',
          maxLength: 64,
          description: 'When the project takes the status `requested_status`; only with the status `scheduled`',
        }),
      ),
    ),
    moderation_message: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2000,
          description: 'Message of the moderators to the members. Members can only clear it (null), after the approval',
        }),
      ),
    ),
    moderation_message_body: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 65_536,
          description: 'Details of the message, in Markdown. Members can only clear them (null), after the approval',
        }),
      ),
    ),
    monetization_status: Type.Optional(Type.Enum(['monetized', 'demonetized', 'force-demonetized'])),
  },
  { title: 'ProjectPatch' },
)
export type ProjectPatch = Static<typeof ProjectPatch>

const AnyCategories = Type.Array(Type.String({ maxLength: 64 }), { maxItems: ADDITIONAL_CATEGORIES_MAX })

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
  { title: 'ProjectBulkPatch', description: 'Depot applies replacements first, then removals, then additions.' },
)
export type ProjectBulkPatch = Static<typeof ProjectBulkPatch>
