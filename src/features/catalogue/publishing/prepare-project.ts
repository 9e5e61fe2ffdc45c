// Prepares the files and images of a new project: the slow work, done before the transaction.
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type HostedImage, toHostedImage } from '#features/basics/images/hosted-image.ts'
import { FILES_UNCHECKED } from '#features/catalogue/versions/publish/create-version.ts'
import {
  type PreparedFile,
  prepareFiles,
  type UploadedPart,
} from '#features/catalogue/versions/publish/prepare-files.ts'
import { invalidInput } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { Deps } from '#ports/deps.ts'
import type { NewProject } from './requests.ts'

export type PreparedProject = Awaited<ReturnType<typeof prepareProject>>

/** Inspects the archives and scales the images. @throws ApiError `invalid_input` naming the missing or invalid part. */
export async function prepareProject(
  deps: Deps,
  { caller }: Pick<Viewer, 'caller'>,
  project: NewProject,
  parts: readonly UploadedPart[],
) {
  // A dry run can check a description without its files.
  const isWithoutFiles = parts.length === 0 && deps.dryRun !== undefined
  const getPart = (name: string): UploadedPart => {
    const part = parts.find((candidate) => candidate.name === name)
    if (part === undefined) throw invalidInput(`The part ${name} is missing`, name)
    return part
  }
  const projectId = newId()
  const versions: { id: string; files: PreparedFile[] }[] = []
  for (const [index, version] of project.versions.entries()) {
    const id = newId()
    if (isWithoutFiles) {
      deps.dryRun?.warn(`initial_versions.${index}.file_parts`, FILES_UNCHECKED)
      versions.push({ id, files: [] })
      continue
    }
    const choose = { primaryPart: version.primaryFile, declaredParts: version.fileParts.length }
    versions.push({
      id,
      files: await prepareFiles(deps, {
        version,
        versionId: id,
        parts: version.fileParts.map(getPart),
        choose,
        caller,
        at: `initial_versions.${index}`,
      }),
    })
  }
  const iconPart = parts.find(({ name }) => name === 'icon')
  const icon =
    iconPart === undefined
      ? undefined
      : toHostedImage(
          await deps.images.processIcon(...(await readImage(iconPart)), { field: 'icon', extField: 'icon', caller }),
          projectId,
        )
  const gallery: HostedImage[] = []
  if (isWithoutFiles && project.gallery.length > 0) deps.dryRun?.warn('gallery_items', FILES_UNCHECKED)
  for (const { item } of isWithoutFiles ? [] : project.gallery) {
    const options = { field: item, extField: item, caller }
    const processed = await deps.images.processPicture(...(await readImage(getPart(item))), options)
    const image = toHostedImage(processed, `${projectId}/images`)
    if (gallery.some(({ contentSha1 }) => contentSha1 === image.contentSha1))
      throw invalidInput(`The image in part ${item} has the same content as another gallery image`, item)
    gallery.push(image)
  }
  const images = [...(icon?.stored ?? []), ...gallery.flatMap(({ stored }) => stored)]
  return { projectId, versions, icon, gallery, images, files: versions.flatMap(({ files }) => files) }
}

/** Returns the content of an image, which the limits of the form restrict to 5 MiB, and its extension. */
async function readImage({ filename, staged }: UploadedPart): Promise<[content: Buffer, extension: string]> {
  return [await readFile(staged.path), extname(filename).slice(1).toLowerCase()]
}
