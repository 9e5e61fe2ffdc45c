// v2 requests for projects, and their conversion to v3 requests.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { ProjectBulkPatch, ProjectPatch } from '#features/catalogue/projects/edit/requests.ts'
import { projectFields } from '#features/catalogue/projects/fields.ts'
import { ProjectData } from '#features/catalogue/publishing/requests.ts'
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { renameAliases } from '#lib/schema/aliases.ts'
import { checkBody } from '#lib/schema/schema-errors.ts'
import { Maybe, NamedObject, Nullable } from '#lib/schema/schema-parts.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { isPackPart } from '../catalogue/pack-loaders.ts'
import { environmentOf, type Sides, SideView } from '../catalogue/sides.ts'
import { type FieldNames, firstPart } from '../error-names.ts'
import { Link, linkChanges } from './links.ts'
import {
  isPackVersion,
  parseVersionDataV2,
  toVersionData,
  VersionDataV2,
  versionFieldNames,
  withoutNulls,
} from './version-requests.ts'

const data = ProjectData.properties
const InitialVersionV2 = Type.Omit(VersionDataV2, ['project_id'], { title: 'InitialVersion' })

/** v3 names of fields that have another name in the v2 API. */
const NEWER = { title: 'name', description: 'summary', body: 'description' } as const

export const ProjectDataV2 = NamedObject('ProjectCreate', {
  title: projectFields.name,
  project_type: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: '`modpack`: the versions are packs. Other values are ignored',
    }),
  ),
  slug: projectFields.slug,
  description: Type.String({ ...projectFields.summary, description: 'The summary' }),
  body: projectFields.description,
  client_side: SideView,
  server_side: SideView,
  initial_versions: Type.Optional(
    Type.Array(Type.Unknown(), { ...data.initial_versions, describedAs: { items: InitialVersionV2 } }),
  ),
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
})
const validator = Compile(ProjectDataV2)

const ALIASES = { mod_name: 'title', mod_slug: 'slug', mod_description: 'description', mod_body: 'body' } as const

/**
 * Converts the description of a new project for the v3 API. `parts` are the files that are already known: a version with
 * a pack among its files is a pack.
 * @throws ApiError `validation_error`
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
  const { title: name, description: summary, body: description, project_type: _, ...same } = project
  // The check of the v3 request removes the other fields of the v2 request.
  return withoutNulls({
    ...same,
    name,
    summary,
    description,
    initial_versions: versions,
    link_urls: linkChanges(project, taxonomy),
  })
}

const renameProject = firstPart({ name: 'title', summary: 'description', description: 'body' })
const INITIAL = /^(initial_versions\.\d+\.)(.+)$/

/** Renames paths in a project and in its initial versions. */
export const projectFieldNames: FieldNames = (field) => {
  const [, at, inside] = INITIAL.exec(field) ?? []
  return at === undefined || inside === undefined ? renameProject(field) : `${at}${versionFieldNames(inside)}`
}

const patch = ProjectPatch.properties

/** An absent field is unchanged. null clears links, the licence URL and moderation fields; for others, it means absent. */
export const ProjectPatchV2 = NamedObject('ProjectUpdate', {
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
})
type ProjectPatchV2 = Static<typeof ProjectPatchV2>

/** Fields that null clears. */
const CLEARED = ['license_url', 'requested_status', 'moderation_message', 'moderation_message_body']

export function toProjectPatch(body: ProjectPatchV2, taxonomy: Taxonomy): ProjectPatch {
  const sent = Object.entries(body)
    .filter(([field, value]) => value !== null || CLEARED.includes(field))
    .map(([field, value]) => [field in NEWER ? NEWER[field as keyof typeof NEWER] : field, value] as const)
    .filter(([field]) => Object.hasOwn(patch, field))
  return { ...Object.fromEntries(sent), ...linkPatch(body, taxonomy) }
}

function linkPatch(body: ProjectPatchV2, taxonomy: Taxonomy): Pick<ProjectPatch, 'link_urls'> {
  const links = linkChanges(body, taxonomy)
  return Object.keys(links).length === 0 ? {} : { link_urls: links }
}

/**
 * Returns the sides that an edit sets. Returns undefined if it sets none, or only the current sides of the project: clients
 * send back all fields that they have read, and versions can have other sides than the project.
 */
export function sidesToWrite({ client_side, server_side }: ProjectPatchV2, shown: Sides): Partial<Sides> | undefined {
  const isShown = (client_side ?? shown.client_side) === shown.client_side
  if (isShown && (server_side ?? shown.server_side) === shown.server_side) return undefined
  return { ...(client_side == null ? {} : { client_side }), ...(server_side == null ? {} : { server_side }) }
}

const { link_urls: _, ...bulk } = ProjectBulkPatch.properties

export const ProjectBulkPatchV2 = Type.Object(
  {
    ...bulk,
    ...Link.properties,
    donation_urls: Link.replacement,
    add_donation_urls: Link.donations,
    remove_donation_urls: Link.donations,
  },
  {
    title: 'ProjectsUpdate',
    description:
      'Replaces lists first, then removes items, then adds items. Donation links are identified by their `id`.',
  },
)

export function toBulkPatch(body: Static<typeof ProjectBulkPatchV2>, taxonomy: Taxonomy): ProjectBulkPatch {
  const kept = Object.entries(body).filter(([key]) => Object.hasOwn(bulk, key))
  return { ...Object.fromEntries(kept), ...linkPatch(body, taxonomy) }
}
