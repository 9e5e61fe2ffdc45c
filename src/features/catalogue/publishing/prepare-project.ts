// From the parts of a form to versions and pictures that are ready to be published: what takes time, and no transaction.
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { type HostedImage, toHostedImage } from '#features/basics/images/hosted-image.ts'
import {
  type PreparedFile,
  prepareFiles,
  type UploadedPart,
} from '#features/catalogue/versions/publish/prepare-files.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import type { NewProject } from './requests.ts'

export type PreparedProject = {
  projectId: string
  versions: { id: string; files: PreparedFile[] }[]
  icon: HostedImage | undefined
  gallery: HostedImage[]
}

/**
 * Inspects the archives and scales the pictures.
 * @throws ApiError `invalid_input` naming the part that is missing or invalid.
 */
export async function prepareProject(
  deps: Deps,
  { caller }: Viewer,
  project: NewProject,
  parts: readonly UploadedPart[],
): Promise<PreparedProject> {
  const partNamed = (name: string, needed: boolean): UploadedPart | undefined => {
    const part = parts.find((candidate) => candidate.name === name)
    if (part === undefined && needed) throw invalidInput(`The part ${name} is missing`, name)
    return part
  }
  const projectId = newId()
  const versions = []
  for (const [index, version] of project.versions.entries()) {
    const id = newId()
    const own = version.fileParts.map((name) => partNamed(name, true)).filter((part) => part !== undefined)
    const choose = { primaryPart: version.primaryFile, declaredParts: version.fileParts.length }
    versions.push({
      id,
      files: await prepareFiles(deps, {
        version,
        versionId: id,
        parts: own,
        choose,
        caller,
        at: `initial_versions.${index}`,
      }),
    })
  }
  const iconPart = partNamed('icon', false)
  const icon =
    iconPart === undefined
      ? undefined
      : toHostedImage(
          deps.config,
          await deps.images.processIcon(...(await pictureOf(iconPart)), { field: 'icon', extField: 'icon', caller }),
          projectId,
        )
  const gallery: HostedImage[] = []
  for (const { item } of project.gallery) {
    const part = partNamed(item, true)
    if (part === undefined) continue
    const options = { field: item, extField: item, caller }
    const processed = await deps.images.processGalleryImage(...(await pictureOf(part)), options)
    const picture = toHostedImage(deps.config, processed, `${projectId}/images`)
    if (gallery.some(({ contentSha1 }) => contentSha1 === picture.contentSha1))
      throw invalidInput(`The picture of part ${item} occurs twice`, item)
    gallery.push(picture)
  }
  return { projectId, versions, icon, gallery }
}

async function pictureOf({ filename, staged }: UploadedPart): Promise<[Buffer, string]> {
  // At most 5 MiB: the form's limits have seen to that.
  return [await readFile(staged.path), extname(filename).slice(1).toLowerCase()]
}
