// Creates the draft of a project from a file: its manifests propose the name, the summary, the licence, the links and the icon.

import { extname } from 'node:path'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ICON_BYTES_MAX, setIcon } from '#features/basics/images/icons.ts'
import { projectIconOwner } from '#features/catalogue/projects/edit/icon.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { suggestSlug } from '#features/catalogue/projects/similar/suggest-slug.ts'
import { checkFilename } from '#features/catalogue/versions/files/filename.ts'
import type { Manifest } from '#features/catalogue/versions/manifests/manifest.ts'
import { readManifests } from '#features/catalogue/versions/manifests/read-manifests.ts'
import type { UploadedPart } from '#features/catalogue/versions/publish/prepare-files.ts'
import { parseVersionData } from '#features/catalogue/versions/publish/requests.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { checkText, httpsUrlProblem } from '#lib/text/text-rules.ts'
import type { Archive } from '#platform/archives/inspect-archive.ts'
import type { Deps } from '#ports/deps.ts'
import { parseLicense } from '#taxonomy/licenses.ts'
import { projectTypesOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { createProject } from './create-project.ts'

/** Icon of a pack, which many mods also contain. */
const PACK_ICON = 'pack.png'
const NAME_LENGTH = { min: 3, max: 64 }
const SUMMARY_LENGTH_MIN = 3

/**
 * Creates a draft with a first version, which is also a draft and contains the file. Values that are missing or invalid in the
 * manifests stay empty, so that the checklist of the project names them. An invalid icon is ignored.
 * @param part the staged file; the caller discards it.
 * @throws ApiError `invalid_input` naming the part, `validation_error` for the name, and the errors of `createProject`.
 */
export async function createProjectFromFile(
  deps: Deps,
  viewer: Viewer,
  { part, organizationId }: { part: UploadedPart; organizationId: string | null },
): Promise<CachedProject> {
  const { caller } = viewer
  const field = part.name
  const { isArchive } = checkFilename(deps.fileRules, field, part.filename)
  const archive = isArchive ? await deps.archives.inspect(part.staged.path, { field, caller }) : undefined
  if (archive?.readable === false) throw invalidInput(archive.reason, field)
  const manifests = await readManifests(archive)
  const icon = await findIcon(archive, manifests)
  const { summary, license, ...proposed } = proposalsOf(deps.taxonomy, manifests, part.filename)
  const draft = parseVersionData({ status: 'draft', file_parts: [field] }, deps.taxonomy)
  const project = await createProject(deps, viewer, async (describe) => {
    const description = await describe({
      ...proposed,
      slug: await suggestSlug(deps.db, proposed.name),
      // A draft can lack its summary, but the description of a project cannot.
      summary: summary ?? proposed.name,
      description: '',
      categories: [],
      is_draft: true,
      license_id: license ?? 'arr',
      license_decided: license !== undefined,
      organization_id: organizationId,
    })
    const columns = { ...description.columns, summary: summary ?? '' }
    return { description: { ...description, columns, versions: [draft] }, parts: [part] }
  })
  // Set like an uploaded icon. The project exists, so that an icon that is refused changes nothing.
  const owner = projectIconOwner(deps)
  if (icon !== undefined) await setIcon(deps, owner, { id: viewOf(project).id, viewer, ...icon }).catch(ignoreRefusal)
  return project
}

/** Returns the fields of the project that the manifests propose. The first valid value of each field counts. */
function proposalsOf(taxonomy: Taxonomy, manifests: readonly Manifest[], filename: string) {
  const abouts = manifests.flatMap(({ about }) => about ?? [])
  const loaders = manifests.flatMap((manifest) => manifest.loaders)
  const links = abouts.flatMap((about) => Object.entries(about.links ?? {})).toReversed()
  return {
    name: manifests.map(({ name }) => name).find(isName) ?? nameOf(filename),
    summary: abouts.map(({ summary }) => summary).find((text) => (text?.length ?? 0) >= SUMMARY_LENGTH_MIN),
    license: abouts.map(({ license }) => license && knownLicense(license)).find((known) => known !== undefined),
    link_urls: Object.fromEntries(
      links.filter(([platform, url]) => taxonomy.linkPlatforms.has(platform) && httpsUrlProblem(url) === undefined),
    ),
    project_type: projectTypesOf(taxonomy, loaders)[0] ?? null,
  }
}

function isName(name: string | undefined): boolean {
  try {
    checkText(name ?? '', 'name', { ...NAME_LENGTH, visible: true, isName: true })
    return true
  } catch {
    return false
  }
}

/** Returns the name of a file without its extension and its version: "Dusk shaders" of `Dusk_shaders-1.2+mc1.21.zip`. */
function nameOf(filename: string): string {
  const words = filename
    .slice(0, filename.length - extname(filename).length)
    .replaceAll(/[-_+\s]+/g, ' ')
    .trim()
    .split(' ')
  const version = words.findIndex((word, index) => index > 0 && /^\(?\[?(?:v|mc)?\d+\.\d/i.test(word))
  return (version < 0 ? words : words.slice(0, version)).join(' ')
}

/** Returns the licence if SPDX lists all of it, or if all rights are reserved. */
function knownLicense(text: string): string | undefined {
  if (/^(?:arr|all[ -]rights[ -]reserved|LicenseRef-All-Rights-Reserved)$/i.test(text)) return 'arr'
  if (/(?:License|Document|Addition)Ref-/.test(text)) return undefined
  try {
    return parseLicense(text)
  } catch {
    return undefined
  }
}

type Icon = { bytes: Buffer; ext: string }

/** Returns the first icon that the archive contains and whose size is allowed. */
async function findIcon(archive: Archive | undefined, manifests: readonly Manifest[]): Promise<Icon | undefined> {
  if (archive?.readable !== true) return undefined
  for (const entry of new Set([...manifests.flatMap(({ about }) => about?.icon ?? []), PACK_ICON])) {
    const bytes = await archive.readEntry(entry, ICON_BYTES_MAX).catch(ignoreRefusal)
    if (bytes !== undefined) return { bytes, ext: extname(entry).slice(1).toLowerCase() }
  }
  return undefined
}

function ignoreRefusal(error: unknown): undefined {
  if (error instanceof ApiError) return undefined
  throw error
}
