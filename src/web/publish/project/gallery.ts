// Project settings: the gallery. Images are added, described, ordered and removed; a removed image can be restored for ten
// minutes.
import { createHash } from 'node:crypto'
import { addGalleryImage } from '#features/catalogue/projects/gallery/add-gallery-image.ts'
import { removeGalleryImage, updateGalleryImages } from '#features/catalogue/projects/gallery/edit-gallery.ts'
import {
  type GalleryImageFields,
  ImageQuery,
  toGalleryImageFields,
} from '#features/catalogue/projects/gallery/requests.ts'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, uploadedImages } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { type GalleryImage, showGallery } from './gallery-view.ts'
import type { ManagedProject } from './managed-project.ts'
import { projectForm } from './settings-frame.ts'

/** Distance between the positions of adjacent images. */
const STEP = 10

export function galleryPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings/gallery',
    name: 'manageGallery',
    api: 'addGalleryPicture updateGalleryPicture removeGalleryPicture',
    editedField: () => 'gallery',
    show: (request, data, state) => {
      const images = imagesOf(data)
      return showGallery(request, data, { state, images, values: galleryValues(images) })
    },
    commands: {
      save: async (request, data, state) => {
        await saveEdits(request, data, editsOf(data, state))
        return { done: 'saved' }
      },
      add,
      earlier: (request, data, state) => move(request, data, { state, to: (index) => index - 1 }),
      later: (request, data, state) => move(request, data, { state, to: (index) => index + 1 }),
      start: (request, data, state) => move(request, data, { state, to: () => 0 }),
      place: (request, data, state) => move(request, data, { state, to: () => Number(state.text('place')) || 0 }),
      remove,
      restore,
    },
    labels: {
      images: 'The image',
      image: 'The image',
      ext: 'The image',
      name: 'The title',
      description: 'The description',
    },
  })
}

/** Returns the images in display order. Fields are named by a hash of the URL, which stays the same when the order changes. */
function imagesOf({ view }: ManagedProject): GalleryImage[] {
  return view.gallery.map((item) => ({
    item,
    key: createHash('sha256').update(item.url).digest('base64url').slice(0, 12),
  }))
}

/** Returns the values of the form: titles, descriptions, and the key of the featured image. */
function galleryValues(images: readonly GalleryImage[]): Record<string, string> {
  const values: Record<string, string> = { featured: images.find(({ item }) => item.featured)?.key ?? '' }
  for (const { item, key } of images) {
    values[`name.${key}`] = item.name ?? ''
    values[`description.${key}`] = item.description ?? ''
  }
  return values
}

type Target = { projectId: string; membership: ManagedProject['membership'] }
const targetOf = ({ project, membership }: ManagedProject): Target => ({ projectId: project.id, membership })

type Edits = Map<string, GalleryImageFields>
const UNCHANGED: GalleryImageFields = {
  name: undefined,
  description: undefined,
  featured: undefined,
  ordering: undefined,
}

/** Returns the changed titles and descriptions, and the change of the featured image, by URL. */
function editsOf(data: ManagedProject, state: FormState): Edits {
  const images = imagesOf(data)
  const edited = state.edited(galleryValues(images))
  const edits: Edits = new Map()
  for (const { item, key } of images) {
    const [name, description] = [edited[`name.${key}`], edited[`description.${key}`]]
    const isFeatured = edited['featured'] === undefined ? item.featured : edited['featured'] === key
    if (name === undefined && description === undefined && isFeatured === item.featured) continue
    const texts = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
    checkValues(ImageQuery, { url: item.url, ...texts })
    edits.set(item.url, toGalleryImageFields({ ...texts, featured: isFeatured }))
  }
  return edits
}

async function saveEdits({ deps, viewer }: OwnRequest, data: ManagedProject, edits: Edits): Promise<void> {
  if (edits.size === 0) return
  await updateGalleryImages(deps, viewer, {
    ...targetOf(data),
    edits: [...edits].map(([url, fields]) => ({ url, fields })),
    revision: data.view.revision,
  })
}

/** Adds the images after the others. An image that is rejected does not prevent the others. */
async function add({ deps, req, viewer }: OwnRequest, data: ManagedProject): Promise<Outcome> {
  await deps.files.assertAvailable()
  let ordering = Math.max(0, ...data.view.gallery.map((item) => item.ordering))
  const rejected: { filename: string; error: ApiError }[] = []
  const uploads = uploadedImages(req.body, 'images')
  for (const { bytes, ext, filename, refusal } of uploads) {
    if (refusal !== undefined) {
      rejected.push({ filename, error: refusal })
      continue
    }
    ordering += STEP
    const fields = { ...UNCHANGED, ordering }
    const readBytes = async () => bytes
    try {
      await addGalleryImage(deps, viewer, { ...targetOf(data), readBytes, ext, fields })
    } catch (thrown) {
      const error = asApiError(thrown)
      if (error.status !== 400) throw thrown
      rejected.push({ filename, error })
    }
  }
  const [first] = rejected
  if (first === undefined) return { done: 'images-added', with: { count: String(uploads.length) } }
  const others = uploads.length - rejected.length
  const list = rejected.map(({ filename, error }) => `${filename}: ${error.message}`).join('. ')
  throw invalidInput(others === 0 ? list : `${list}. The other images were added (${others})`, 'images')
}

function imageOf(data: ManagedProject, key: string): GalleryImage & { index: number } {
  const images = imagesOf(data)
  const index = images.findIndex((image) => image.key === key)
  const image = images[index]
  if (image === undefined) throw new ApiError('conflict', notFound('image').message)
  return { ...image, index }
}

/** Moves an image to another position, and saves the texts. Other images change only if there is no number between two. */
async function move(
  request: OwnRequest,
  data: ManagedProject,
  { state, to }: { state: FormState; to: (index: number) => number },
): Promise<Outcome> {
  const { item, index } = imageOf(data, state.argument)
  const edits = editsOf(data, state)
  const others = data.view.gallery.filter((each) => each.url !== item.url)
  const at = Math.min(Math.max(to(index), 0), others.length)
  const [before, after] = [others[at - 1]?.ordering, others[at]?.ordering]
  const set = (url: string, ordering: number) => edits.set(url, { ...(edits.get(url) ?? UNCHANGED), ordering })
  const between = numberBetween(before, after)
  if (between !== undefined) set(item.url, between)
  else {
    const ordered = [...others.slice(0, at), item, ...others.slice(at)]
    for (const [place, { url, ordering }] of ordered.entries()) if (ordering !== place * STEP) set(url, place * STEP)
  }
  await saveEdits(request, data, edits)
  return { done: 'moved' }
}

/** Returns a number between two positions; undefined if there is none. */
function numberBetween(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined) return (after ?? 0) - STEP
  if (after === undefined) return before + STEP
  return after - before > 1 ? Math.floor((before + after) / 2) : undefined
}

async function remove(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { deps, viewer } = request
  const { item } = imageOf(data, state.argument)
  await saveEdits(request, data, editsOf(data, state))
  await removeGalleryImage(deps, viewer, { ...targetOf(data), url: item.url })
  return { done: 'image-removed', with: { image: item.url } }
}

/** Restores the image that the button Undo names. */
async function restore({ deps, viewer }: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { url } = checkValues(ImageQuery, { url: state.text('image') })
  await updateGalleryImages(deps, viewer, { ...targetOf(data), edits: [{ url, fields: UNCHANGED }] })
  return { done: 'image-restored' }
}
