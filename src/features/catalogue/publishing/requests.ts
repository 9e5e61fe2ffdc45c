// Checks and normalises the `data` object that describes a new project.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { ImageIds } from '#features/basics/content-images/requests.ts'
import {
  applyLinkChanges,
  checkProjectName,
  checkProjectType,
  checkSummary,
  optionalFieldSchemas,
  projectFields,
  toOptionalColumns,
  typeIsDerived,
} from '#features/catalogue/projects/fields.ts'
import { InitialVersion, type NewVersion, parseVersionData } from '#features/catalogue/versions/publish/requests.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { renameAliases } from '#lib/schema/aliases.ts'
import type { Refusals } from '#lib/schema/refusals.ts'
import { checkParts } from '#lib/schema/schema-errors.ts'
import { Id, Maybe, NamedObject, Ordering } from '#lib/schema/schema-parts.ts'
import { parseLicense } from '#taxonomy/licenses.ts'
import { checkCategories, type Taxonomy } from '#taxonomy/taxonomy.ts'

const INITIAL_VERSIONS_MAX = 32
const GALLERY_MAX = 64

const GalleryItemInput = Type.Object({
  item: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the form part that holds the image' }),
  featured: Type.Boolean(),
  name: Maybe(Type.String({ minLength: 1, maxLength: 2048 })),
  title: Maybe(Type.String({ minLength: 1, maxLength: 2048 })),
  description: Maybe(Type.String({ minLength: 1, maxLength: 2048 })),
  ordering: Type.Optional(Ordering),
  video: Maybe(Type.String({ maxLength: 2048, description: 'Link to a video of YouTube or Vimeo' })),
})
type GalleryItemInput = Static<typeof GalleryItemInput>

export const ProjectData = NamedObject('ProjectCreate', {
  ...projectFields,
  initial_versions: Type.Optional(
    Type.Array(Type.Unknown(), {
      maxItems: INITIAL_VERSIONS_MAX,
      description: 'First versions; each has the properties of the body of `POST /v3/version` except `project_id`',
      describedAs: { items: InitialVersion },
    }),
  ),
  additional_categories: Type.Optional(projectFields.additional_categories),
  ...optionalFieldSchemas,
  link_urls: Type.Optional(projectFields.link_urls),
  project_type: Type.Optional(projectFields.project_type),
  is_draft: Maybe(
    Type.Boolean({
      description:
        'Whether to create a draft, which can be without versions. Other projects are submitted for review. Default: false',
    }),
  ),
  requested_status: Type.Optional(projectFields.requested_status),
  organization_id: Maybe(Id('ID of the organization that will own the project')),
  gallery_items: Maybe(Type.Array(GalleryItemInput, { maxItems: GALLERY_MAX })),
  uploaded_images: Type.Optional(ImageIds('description')),
})
const validator = Compile(ProjectData)

const ALIASES = { mod_name: 'name', mod_slug: 'slug', mod_description: 'summary', mod_body: 'description' } as const

/** A new project that has passed all checks that need neither the database nor the files. */
export type NewProject = ReturnType<typeof parseProjectData>

/**
 * Adds the errors to `refusals`; the result is valid only if there are none. A rule runs if its fields match the schema.
 * @throws ApiError if the description is not an object.
 */
export function parseProjectData(input: unknown, taxonomy: Taxonomy, refusals: Refusals) {
  const data = checkParts(validator, renameAliases(input, ALIASES), refusals)
  const isDraft = data.is_draft ?? false
  const versions = (data.initial_versions ?? []).flatMap((version, index) =>
    refusals.isFull ? [] : (refusals.check(() => parseInitialVersion(version, taxonomy, { index, refusals })) ?? []),
  )
  const gallery = data.gallery_items ?? []
  refusals.check(() => {
    if (isDraft || (data.initial_versions?.length ?? 0) > 0) return
    throw validationError('initial_versions', 'must contain a version unless the project is a draft')
  })
  refusals.check(() => {
    if (data.project_type != null && versions.length > 0) throw typeIsDerived()
  })
  refusals.check(() => requireOneFeatured(gallery))
  refusals.check(() => checkPartNames(gallery, versions))
  const columns = {
    name: refusals.check(() => (data.name === undefined ? '' : checkProjectName(data.name))) ?? '',
    slug: data.slug?.toLowerCase() ?? '',
    summary: refusals.check(() => (data.summary === undefined ? '' : checkSummary(data.summary))) ?? '',
    description: data.description ?? '',
    categories: refusals.check(() => checkCategories(taxonomy, data.categories ?? [], 'categories')) ?? [],
    additional_categories:
      refusals.check(() => checkCategories(taxonomy, data.additional_categories ?? [], 'additional_categories')) ?? [],
    license: refusals.check(() => (data.license_id === undefined ? '' : parseLicense(data.license_id))) ?? '',
    ...toOptionalColumns(data, refusals),
    link_urls: JSON.stringify(refusals.check(() => applyLinkChanges({}, data.link_urls ?? {}, taxonomy)) ?? {}),
    requested_status: data.requested_status ?? 'approved',
    draft_type: refusals.check(() => checkProjectType(taxonomy, data.project_type ?? null)) ?? null,
    organization_id: refusals.check(() => checkOrganizationId(data.organization_id ?? null)) ?? null,
  }
  return { columns, versions, isDraft, gallery, uploadedImages: data.uploaded_images ?? [] }
}

function checkOrganizationId(id: string | null): string | null {
  if (id !== null && !isIdForm(id)) throw validationError('organization_id', 'is not a base62 identifier')
  return id
}

function requireOneFeatured(gallery: readonly GalleryItemInput[]): void {
  const first = gallery.findIndex(({ featured }) => featured)
  const second = gallery.findIndex(({ featured }, index) => featured && index > first)
  if (second >= 0) throw validationError(`gallery_items.${second}.featured`, 'only one image can be featured')
}

function parseInitialVersion(
  version: unknown,
  taxonomy: Taxonomy,
  { index, refusals }: { index: number; refusals: Refusals },
): NewVersion {
  const at = `initial_versions.${index}`
  const parsed = parseVersionData(version, taxonomy, at, refusals)
  if (parsed.projectId !== undefined)
    throw validationError(`${at}.project_id`, 'must be absent: the version belongs to the new project')
  // The versions of a new project are reviewed together with it.
  return { ...parsed, status: 'listed' }
}

/** @throws ApiError `validation_error` unless each part belongs to exactly one version, gallery item or the icon. */
function checkPartNames(gallery: readonly GalleryItemInput[], versions: readonly NewVersion[]): void {
  const owners = new Map<string, string>([
    ['icon', 'the icon'],
    ['data', 'the description'],
  ])
  const claim = (name: string, field: string): void => {
    const owner = owners.get(name)
    if (owner !== undefined) throw validationError(field, `names the part ${name}, which already belongs to ${owner}`)
    owners.set(name, field)
  }
  for (const [index, { item }] of gallery.entries()) claim(item, `gallery_items.${index}.item`)
  for (const [index, { fileParts }] of versions.entries()) {
    for (const [part, name] of fileParts.entries()) claim(name, `initial_versions.${index}.file_parts.${part}`)
  }
}
