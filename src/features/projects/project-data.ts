// The `data` object that describes a project to be made, as POST /v3/project takes it (facts/catalogue.md 2.1), checked
// and put into one form.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { renameAliases } from '#lib/aliases.ts'
import { validationError } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import { parseLicense } from '#lib/licenses.ts'
import { checkBody } from '#lib/schema-faults.ts'
import { Nullable, Ordering } from '#lib/schema-parts.ts'
import { checkCategories, type Taxonomy } from '#lib/taxonomy.ts'
import { checkHttpsUrl, checkText, isBlank, PROJECT_SLUG_PATTERN, URL_LENGTH_MAX } from '#lib/text-rules.ts'
import { ImageIds } from '../content-images/image-ids.ts'
import type { UploadedPart } from '../versions/prepare-files.ts'
import { type NewVersion, parseVersionData } from '../versions/version-data.ts'
import { REQUESTABLE_STATUSES, type RequestableStatus } from './status.ts'

export const CATEGORIES_MAX = 3
export const ADDITIONAL_CATEGORIES_MAX = 256
const DESCRIPTION_LENGTH_MAX = 65_536
const INITIAL_VERSIONS_MAX = 32
const GALLERY_MAX = 64

/** Bounds of the fields that creating and editing share. */
export const projectFields = {
  name: Type.String({ minLength: 3, maxLength: 64 }),
  slug: Type.String({ minLength: 3, maxLength: 64, pattern: PROJECT_SLUG_PATTERN }),
  summary: Type.String({ minLength: 3, maxLength: 256 }),
  description: Type.String({ maxLength: DESCRIPTION_LENGTH_MAX, description: 'Markdown' }),
  categories: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: CATEGORIES_MAX,
    description: 'Names of /v3/tag/category',
  }),
  additional_categories: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: ADDITIONAL_CATEGORIES_MAX,
    description: 'Further ones, found by searching',
  }),
  license_id: Type.String({ minLength: 1, maxLength: 2048, description: 'SPDX expression, or `arr`' }),
  license_url: Nullable(Type.String({ maxLength: URL_LENGTH_MAX })),
  link_urls: Type.Record(Type.String({ maxLength: 64 }), Nullable(Type.String({ maxLength: URL_LENGTH_MAX })), {
    description: 'Platform name → https URL; null removes the link',
  }),
  requested_status: Nullable(
    Type.Enum([...REQUESTABLE_STATUSES], { description: 'What the project becomes after review' }),
  ),
} as const

const GalleryItemInput = Type.Object({
  item: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the part with the picture' }),
  featured: Type.Boolean(),
  name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 2048 }))),
  title: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 2048 }))),
  description: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 2048 }))),
  ordering: Type.Optional(Ordering),
})
export type GalleryItemInput = Static<typeof GalleryItemInput>

export const ProjectData = Type.Object(
  {
    name: projectFields.name,
    slug: projectFields.slug,
    summary: projectFields.summary,
    description: projectFields.description,
    initial_versions: Type.Optional(
      Type.Array(Type.Unknown(), {
        maxItems: INITIAL_VERSIONS_MAX,
        description: 'Each as the `data` of a new version, without `project_id`',
      }),
    ),
    categories: projectFields.categories,
    additional_categories: Type.Optional(projectFields.additional_categories),
    license_id: projectFields.license_id,
    license_url: Type.Optional(projectFields.license_url),
    link_urls: Type.Optional(projectFields.link_urls),
    is_draft: Type.Optional(
      Nullable(Type.Boolean({ description: 'A draft may be without versions; anything else goes into review' })),
    ),
    requested_status: Type.Optional(projectFields.requested_status),
    organization_id: Type.Optional(Nullable(Type.String({ maxLength: 64, description: 'The organization to own it' }))),
    gallery_items: Type.Optional(Nullable(Type.Array(GalleryItemInput, { maxItems: GALLERY_MAX }))),
    uploaded_images: Type.Optional(ImageIds('description')),
  },
  { title: 'ProjectCreate' },
)
const validator = Compile(ProjectData)

const ALIASES = { mod_name: 'name', mod_slug: 'slug', mod_description: 'summary', mod_body: 'description' } as const

/** A project to be made: everything checked that needs neither the database nor the files. */
export type NewProject = {
  name: string
  slug: string
  summary: string
  description: string
  versions: NewVersion[]
  categories: string[]
  additionalCategories: string[]
  license: string
  licenseUrl: string | null
  linkUrls: Record<string, string>
  isDraft: boolean
  requestedStatus: RequestableStatus
  organizationId: string | undefined
  gallery: GalleryItemInput[]
  uploadedImages: string[]
}

/** The request that makes a project, read: its description, and its files as they were staged. */
export type ProjectForm = { project: NewProject; parts: readonly UploadedPart[] }

/** The name as it is kept, without white space at its ends; what is left must be long enough. */
export function checkProjectName(typed: string): string {
  return checkText(typed.trim(), 'name', { min: 3, max: 64, visible: true })
}

/** @throws ApiError `validation_error` naming the field. */
export function parseProjectData(input: unknown, taxonomy: Taxonomy): NewProject {
  const data: Static<typeof ProjectData> = checkBody(validator, renameAliases(input, ALIASES))
  if (isBlank(data.summary)) throw validationError('summary', 'must not be blank')
  const isDraft = data.is_draft ?? false
  const versions = (data.initial_versions ?? []).map((version, index) => parseInitialVersion(version, taxonomy, index))
  if (!isDraft && versions.length === 0) {
    throw validationError('initial_versions', 'must hold a version unless the project is a draft')
  }
  const organizationId = data.organization_id ?? undefined
  if (organizationId !== undefined && !isIdForm(organizationId)) {
    throw validationError('organization_id', 'is not a base62 identifier')
  }
  const gallery = data.gallery_items ?? []
  const secondFeatured = gallery.findIndex(
    (item, index) => item.featured && gallery.findIndex((other) => other.featured) !== index,
  )
  if (secondFeatured >= 0)
    throw validationError(`gallery_items.${secondFeatured}.featured`, 'only one picture may be featured')
  return {
    name: checkProjectName(data.name),
    slug: data.slug.toLowerCase(),
    summary: data.summary,
    description: data.description,
    versions,
    categories: checkCategories(taxonomy, data.categories, 'categories'),
    additionalCategories: checkCategories(taxonomy, data.additional_categories ?? [], 'additional_categories'),
    license: parseLicense(data.license_id),
    licenseUrl: data.license_url == null ? null : checkHttpsUrl(data.license_url, 'license_url'),
    linkUrls: applyLinkChanges({}, data.link_urls ?? {}, taxonomy),
    isDraft,
    requestedStatus: data.requested_status ?? 'approved',
    organizationId,
    gallery,
    uploadedImages: data.uploaded_images ?? [],
  }
}

/**
 * The links after a change: named platforms are replaced, null removes, the others stay. An unknown platform with a URL
 * is refused; with null it is ignored.
 * @throws ApiError `validation_error` naming `link_urls.<platform>`.
 */
export function applyLinkChanges(
  current: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
  taxonomy: Taxonomy,
): Record<string, string> {
  const links = new Map(Object.entries(current))
  for (const [platform, url] of Object.entries(changes)) {
    if (url === null) {
      links.delete(platform)
      continue
    }
    if (!taxonomy.linkPlatforms.has(platform)) throw validationError(`link_urls.${platform}`, 'is not a known platform')
    links.set(platform, checkHttpsUrl(url, `link_urls.${platform}`))
  }
  return Object.fromEntries(links)
}

function parseInitialVersion(version: unknown, taxonomy: Taxonomy, index: number): NewVersion {
  const at = `initial_versions.${index}`
  const parsed = parseVersionData(version, taxonomy, at)
  if (parsed.projectId !== undefined)
    throw validationError(`${at}.project_id`, 'must not be given: the project is being made')
  // A project that is made with a version is made to be reviewed with it.
  return { ...parsed, status: 'listed' }
}
