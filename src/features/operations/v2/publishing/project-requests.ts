// What requests of the older API say of projects, and the same in the words of the newer one.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ProjectBulkPatch, ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import {
  ProjectBulkPatch as NewerBulkPatch,
  ProjectPatch as NewerPatch,
} from '#features/catalogue/projects/edit/requests.ts'
import { projectFields } from '#features/catalogue/projects/fields.ts'
import { ProjectData } from '#features/catalogue/publishing/requests.ts'
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { renameAliases } from '#lib/schema/aliases.ts'
import { checkBody } from '#lib/schema/schema-errors.ts'
import { Maybe, Nullable } from '#lib/schema/schema-parts.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { environmentOf, type Sides, SideView } from '../catalogue/sides.ts'
import { type FieldNames, firstPart } from '../error-names.ts'
import { Link, linkChanges } from './links.ts'
import { isPackPart } from './packs.ts'
import { isPackVersion, parseVersionDataV2, toVersionData, versionFieldNames } from './version-requests.ts'

const data = ProjectData.properties

/** Names of the newer API for fields that the older one calls otherwise. */
const NEWER = { title: 'name', description: 'summary', body: 'description' } as const

export const ProjectDataV2 = Type.Object(
  {
    title: projectFields.name,
    project_type: Maybe(
      Type.String({ minLength: 1, maxLength: 64, description: 'Only `modpack` matters: its versions are packs' }),
    ),
    slug: projectFields.slug,
    description: Type.String({ ...projectFields.summary, description: 'The summary' }),
    body: projectFields.description,
    client_side: SideView,
    server_side: SideView,
    initial_versions: data.initial_versions,
    categories: projectFields.categories,
    additional_categories: Maybe(projectFields.additional_categories),
    ...Link.properties,
    donation_urls: Link.donations,
    license_id: projectFields.license_id,
    license_url: data.license_url,
    is_draft: data.is_draft,
    gallery_items: data.gallery_items,
    requested_status: data.requested_status,
    uploaded_images: data.uploaded_images,
    organization_id: data.organization_id,
  },
  { title: 'ProjectCreate' },
)
const validator = Compile(ProjectDataV2)

const ALIASES = { mod_name: 'title', mod_slug: 'slug', mod_description: 'description', mod_body: 'body' } as const

/**
 * The description of a new project as the newer API takes it. `parts` are the files, as far as they are known: a
 * version with a pack among them is one.
 * @throws ApiError `validation_error` naming the field.
 */
export function toProjectData(
  input: unknown,
  { taxonomy, parts }: { taxonomy: Taxonomy; parts: readonly UploadedPart[] },
): Record<string, unknown> {
  const project: Static<typeof ProjectDataV2> = checkBody(validator, renameAliases(input, ALIASES))
  const environment = environmentOf(project)
  const versions = (project.initial_versions ?? []).map((sent, index) => {
    const version = parseVersionDataV2(sent, `initial_versions.${index}`)
    const files = parts.filter(({ name }) => version.file_parts.includes(name))
    const isPack = project.project_type === 'modpack' || isPackVersion(version) || files.some(isPackPart)
    return toVersionData(version, { isPack, environment, taxonomy })
  })
  const { title, description, body, slug, categories, additional_categories, license_id, license_url } = project
  const { is_draft, gallery_items, requested_status, uploaded_images, organization_id } = project
  const sent = {
    name: title,
    summary: description,
    description: body,
    slug,
    categories,
    additional_categories,
    license_id,
    license_url,
    is_draft,
    gallery_items,
    requested_status,
    uploaded_images,
    organization_id,
    initial_versions: versions,
    link_urls: linkChanges(project, taxonomy),
  }
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== undefined))
}

const renameProject = firstPart({ name: 'title', summary: 'description', description: 'body' })
const INITIAL = /^(initial_versions\.\d+\.)(.+)$/

/** Paths in a project, and in its first versions. */
export const projectFieldNames: FieldNames = (field) => {
  const [, at, inside] = INITIAL.exec(field) ?? []
  return at === undefined || inside === undefined ? renameProject(field) : `${at}${versionFieldNames(inside)}`
}

const patch = NewerPatch.properties

/** Absent keeps a field, null clears a link, the licence's address and what moderation has set; elsewhere it is absent. */
export const ProjectPatchV2 = Type.Object(
  {
    title: Maybe(projectFields.name),
    description: Maybe(Type.String({ ...projectFields.summary, description: 'The summary' })),
    body: Maybe(projectFields.description),
    categories: Maybe(projectFields.categories),
    additional_categories: Maybe(projectFields.additional_categories),
    ...Link.properties,
    donation_urls: Link.replacement,
    license_id: Maybe(projectFields.license_id),
    license_url: patch.license_url,
    client_side: Maybe(SideView),
    server_side: Maybe(SideView),
    slug: Maybe(projectFields.slug),
    status: Type.Optional(Nullable(patch.status)),
    requested_status: patch.requested_status,
    moderation_message: patch.moderation_message,
    moderation_message_body: patch.moderation_message_body,
    monetization_status: Type.Optional(Nullable(patch.monetization_status)),
  },
  { title: 'ProjectPatch' },
)
type ProjectPatchV2 = Static<typeof ProjectPatchV2>

/** Fields that are null where a client means absent. */
const NOT_CLEARED = [
  'title',
  'description',
  'body',
  'categories',
  'additional_categories',
  'license_id',
  'slug',
  'status',
  'monetization_status',
] as const
/** Fields that null clears. */
const CLEARED = ['license_url', 'requested_status', 'moderation_message', 'moderation_message_body'] as const

export function toProjectPatch(body: ProjectPatchV2, taxonomy: Taxonomy): ProjectPatch {
  const sent = [
    ...NOT_CLEARED.filter((field) => body[field] != null),
    ...CLEARED.filter((field) => body[field] !== undefined),
  ].map((field) => [field in NEWER ? NEWER[field as keyof typeof NEWER] : field, body[field]])
  const links = linkChanges(body, taxonomy)
  return { ...Object.fromEntries(sent), ...(Object.keys(links).length === 0 ? {} : { link_urls: links }) }
}

/**
 * The sides that an edit sets; undefined when it sets none, or those that the project shows: editors send back all that
 * they have read, and versions may differ from what the project shows.
 */
export function sidesToWrite({ client_side, server_side }: ProjectPatchV2, shown: Sides): Partial<Sides> | undefined {
  const isShown = (client_side ?? shown.client_side) === shown.client_side
  if (isShown && (server_side ?? shown.server_side) === shown.server_side) return undefined
  return { ...(client_side == null ? {} : { client_side }), ...(server_side == null ? {} : { server_side }) }
}

const bulk = NewerBulkPatch.properties

export const ProjectBulkPatchV2 = Type.Object(
  {
    categories: bulk.categories,
    add_categories: bulk.add_categories,
    remove_categories: bulk.remove_categories,
    additional_categories: bulk.additional_categories,
    add_additional_categories: bulk.add_additional_categories,
    remove_additional_categories: bulk.remove_additional_categories,
    ...Link.properties,
    donation_urls: Link.replacement,
    add_donation_urls: Link.donations,
    remove_donation_urls: Link.donations,
  },
  {
    title: 'ProjectBulkPatch',
    description:
      'A replacement comes first, then what is removed, then what is added. Donation links go by their `id`.',
  },
)

export function toBulkPatch(body: Static<typeof ProjectBulkPatchV2>, taxonomy: Taxonomy): ProjectBulkPatch {
  const kept = Object.entries(body).filter(([key]) => Object.hasOwn(bulk, key) && key !== 'link_urls')
  const links = linkChanges(body, taxonomy)
  return { ...Object.fromEntries(kept), ...(Object.keys(links).length === 0 ? {} : { link_urls: links }) }
}
