// Turns objects of a source into the rows of projects and versions, by the rules for those that people publish here.
import { parseProjectData } from '#features/catalogue/publishing/requests.ts'
import { type NewVersion, parseVersionData } from '#features/catalogue/versions/publish/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import { fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { isStorable, possibleDate } from '../../import/checks.ts'
import { CopyFailure } from '../failures.ts'
import type { RemoteProject, RemoteVersion } from '../source/remote-objects.ts'

/** A name for the file part of a version without files: a version needs at least one. */
const NO_FILE = 'none'

/** Returns the columns of a project. Leaves out categories and links that this instance does not know. @throws CopyFailure */
export function parseRemoteProject(remote: RemoteProject, taxonomy: Taxonomy) {
  const known = (names: readonly string[]) => names.filter((name) => taxonomy.categoryNames.has(name))
  const links = Object.entries(remote.link_urls).filter(
    ([platform, { url }]) => taxonomy.linkPlatforms.has(platform) && url.startsWith('https:'),
  )
  const [type = null] = remote.project_types.filter((name) => taxonomy.projectTypes.includes(name))
  const data = {
    name: remote.name,
    slug: remote.slug,
    summary: remote.summary,
    description: remote.description,
    categories: known(remote.categories),
    additional_categories: known(remote.additional_categories),
    license_id: remote.license.id,
    license_url: remote.license.url?.startsWith('https:') === true ? remote.license.url : null,
    link_urls: Object.fromEntries(links.map(([platform, { url }]) => [platform, url])),
    public_statistics: remote.public_statistics ?? true,
    other_names: remote.other_names ?? [],
    version_order: remote.version_order ?? ('date' as const),
    requested_status: null,
    is_draft: true,
    ...(remote.versions.length === 0 ? { project_type: type } : {}),
  }
  return refusing(remote.id, () => {
    const refusals = new Refusals()
    const { columns } = parseProjectData(data, taxonomy, refusals)
    refusals.throwAny()
    requireStorable(remote)
    const dates = { published: dateOf(remote.published), updated: dateOf(remote.updated) }
    const approved = remote.approved == null ? dates.published : dateOf(remote.approved)
    const { requested_status: _, organization_id: __, ...content } = columns
    return { ...content, ...dates, approved }
  })
}
export type ProjectColumns = ReturnType<typeof parseRemoteProject>

/** Returns a version as if somebody published it here. @throws CopyFailure */
export function parseRemoteVersion(remote: RemoteVersion, taxonomy: Taxonomy): NewVersion & { published: Date } {
  const fields = fieldsOf(taxonomy, remote.loaders).filter((name) => remote.json[name] != null)
  const names = remote.files.map(({ filename }) => filename)
  const data = {
    ...Object.fromEntries(fields.map((name) => [name, remote.json[name]])),
    version_number: remote.version_number,
    version_title: remote.name,
    version_body: remote.changelog ?? '',
    release_channel: remote.version_type,
    loaders: remote.loaders,
    featured: remote.featured,
    ordering: remote.ordering ?? null,
    status: remote.status,
    file_parts: names.length === 0 ? [NO_FILE] : names,
    file_types: Object.fromEntries(
      remote.files.flatMap(({ filename, file_type }) => (file_type == null ? [] : [[filename, file_type]])),
    ),
  }
  return refusing(remote.id, () => {
    requireStorable(remote)
    return { ...parseVersionData(data, taxonomy), published: dateOf(remote.date_published) }
  })
}

function requireStorable(remote: unknown): void {
  if (!isStorable(remote)) throw new CopyFailure('refused', 'it has characters that cannot be stored')
}

/** @throws CopyFailure for a date that does not exist. */
export function dateOf(text: string): Date {
  const date = possibleDate(text)
  if (date === undefined) throw new CopyFailure('refused', `${text} is not a possible date`)
  return date
}

/** Turns the refusal of a rule into a failure of this object. */
export function refusing<T>(id: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asFailure(id, error)
  }
}

export function asFailure(id: string, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status >= 500) return error
  return new CopyFailure('refused', `${id} does not follow the rules of this instance: ${error.message}`)
}
