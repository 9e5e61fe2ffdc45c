// Project settings: the gallery. Images are added, described, ordered and removed; a removed image can be restored for ten
// minutes.

import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { addGalleryImage } from '#features/catalogue/projects/gallery/add-gallery-image.ts'
import { removeGalleryImage, updateGalleryImages } from '#features/catalogue/projects/gallery/edit-gallery.ts'
import {
  GALLERY_BYTES_MAX,
  type GalleryImageFields,
  ImageQuery,
  toGalleryImageFields,
} from '#features/catalogue/projects/gallery/requests.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues, uploadedImages } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { WORK_FORMS } from '#web/kit/work-page.ts'
import { galleryImage } from '#web/site/project/gallery-image.ts'
import { fileSize } from '#web/ui/format.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { dropZone } from '#web/ui/parts/choices.ts'
import { form, textArea, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { type ManagedProject, may } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

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
      video: 'The link',
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
    values[`video.${key}`] = item.video ?? ''
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
  video: undefined,
}

/** Returns the changed titles and descriptions, and the change of the featured image, by URL. */
function editsOf(data: ManagedProject, state: FormState): Edits {
  const images = imagesOf(data)
  const edited = state.edited(galleryValues(images))
  const edits: Edits = new Map()
  for (const { item, key } of images) {
    const [name, description, video] = ['name', 'description', 'video'].map((field) => edited[`${field}.${key}`])
    const isFeatured = edited['featured'] === undefined ? item.featured : edited['featured'] === key
    const texts = {
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(video === undefined ? {} : { video }),
    }
    if (Object.keys(texts).length === 0 && isFeatured === item.featured) continue
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
  return { done: 'moved', fragment: `item-${state.argument}` }
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

type GalleryImage = { item: ProjectView['gallery'][number]; key: string }

type Gallery = { state: FormState; images: readonly GalleryImage[]; values: Record<string, string> }

const MAY = 'EDIT_DETAILS'

function showGallery(request: OwnRequest, data: ManagedProject, gallery: Gallery): Promise<FastifyReply> {
  const { page, query, t } = request
  const { state } = gallery
  const isEditable = may(data, MAY) || state.isSubmitted
  const action = pathTo(page, `${data.settings}/gallery`)
  const removed = query('image')
  return showProjectSettings(request, data, {
    section: '/gallery',
    heading: t('manage.gallery'),
    text: t('manage.gallery.text'),
    needs: MAY,
    form: state,
    undo: removed === '' ? undefined : { action, fields: { do: 'restore', image: removed } },
    notice: { count: Number(query('count')) || 0 },
    body: isEditable ? [imagesForm(page, action, gallery), addForm(page, action, state)] : shown(page, gallery.images),
  })
}

function picture(page: PageContext, { item }: GalleryImage): Markup {
  const size = { sizes: '16rem', defaultSize: { width: 350, height: 197 } }
  const alt = item.description ?? item.name ?? page.language.t('manage.gallery.no-text')
  return html`<a href="${item.raw_url}"><img${galleryImage(item, size)} alt="${alt}" loading="lazy">${item.featured && html`<span class="badge good">${page.language.t('manage.gallery.featured')}</span>`}</a>`
}

function shown(page: PageContext, images: readonly GalleryImage[]): Part {
  if (images.length === 0) return noImages(page)
  return sheetPart({
    id: 'images',
    content: html`<ul class="thumbs">${images.map((image) => html`<li>${picture(page, image)}</li>`)}</ul>`,
  })
}

const noImages = (page: PageContext): Markup =>
  emptyState(page, {
    icon: 'image',
    title: page.language.t('site.gallery.none'),
    text: page.language.t('manage.gallery.empty'),
  })

function imagesForm(page: PageContext, action: string, { state, images, values }: Gallery): Part {
  if (images.length === 0) return noImages(page)
  const { t } = page.language
  const labels: Record<string, string> = { featured: t('manage.gallery.featured') }
  for (const [index, { key }] of images.entries()) {
    labels[`name.${key}`] = `${t('manage.gallery.title')} ${index + 1}`
    labels[`description.${key}`] = `${t('manage.gallery.description')} ${index + 1}`
    labels[`video.${key}`] = `${t('manage.gallery.video')} ${index + 1}`
  }
  const featured = state.text('featured', values['featured'])
  const none = attributes({ type: 'radio', name: 'featured', value: '', checked: featured === '' })
  const items = images.map((image, index) => imageItem(page, { image, index, count: images.length, state, featured }))
  const content = html`${editBase(state, values)}${conflictNote(page, state, labels)}
<ol class="gallery-rows" data-order="place">${items}</ol>
<label class="choice"><input${none}><span>${t('manage.gallery.no-featured')}</span></label>`
  return form(page, { action, content: [sheetPart({ id: 'images', content }), saveBar(page)] })
}

function imageItem(
  page: PageContext,
  of: { image: GalleryImage; index: number; count: number; state: FormState; featured: string },
): Markup {
  const { t } = page.language
  const { image, index, count, state, featured } = of
  const { item, key } = image
  const number = index + 1
  const radio = attributes({ type: 'radio', name: 'featured', value: key, checked: featured === key })
  const button = (value: string, name: IconName, label: string, isShown: boolean) =>
    isShown &&
    html`<button class="tight" name="do" value="${value}.${key}" title="${label}">${icon(page, name)}<span class="vh">${label}: ${number}</span></button>`
  return html`<li data-item="${key}" id="item-${key}" tabindex="-1">${picture(page, image)}
<div class="stack">${textField(page, { name: `name.${key}`, label: t('manage.gallery.title'), value: state.text(`name.${key}`, item.name ?? ''), ...limitsOf(ImageQuery.properties.title), isOptional: true, errors: state.errors })}
${textArea(page, { name: `description.${key}`, label: t('manage.gallery.description'), value: state.text(`description.${key}`, item.description ?? ''), ...limitsOf(ImageQuery.properties.description), rows: 2, isOptional: true, errors: state.errors })}
${textField(page, { name: `video.${key}`, label: t('manage.gallery.video'), hint: t('manage.gallery.video.hint'), type: 'url', value: state.text(`video.${key}`, item.video ?? ''), ...limitsOf(ImageQuery.properties.video), isOptional: true, errors: state.errors })}
<label class="choice"><input${radio}><span>${t('manage.gallery.feature')}<span class="vh">: ${number}</span></span></label>
<div class="line">${button('start', 'up', t('manage.gallery.to-start'), index > 1)}${button('earlier', 'arrow-up', t('manage.gallery.earlier'), index > 0)}${button('later', 'arrow-down', t('manage.gallery.later'), number < count)}${button('remove', 'trash', t('manage.gallery.remove'), true)}</div></div></li>
`
}

function addForm(page: PageContext, action: string, state: FormState): Part {
  const { t } = page.language
  const error = state.errors.find(({ field }) => field === 'images')
  const content = html`${dropZone(page, {
    id: 'images-new',
    name: 'images',
    label: t('manage.gallery.choose'),
    text: t('manage.gallery.choose.hint', {
      size: fileSize(page.language, GALLERY_BYTES_MAX),
      total: fileSize(page.language, WORK_FORMS.filesBytes),
    }),
    maxBytes: GALLERY_BYTES_MAX,
    accept: '.png,.jpg,.jpeg,.gif,.webp',
    isMultiple: true,
    isRequired: true,
    remove: t('manage.gallery.remove'),
  })}
${error !== undefined && html`<p class="error"><span${attributes({ lang: error.lang })}>${error.message}</span></p>`}
<div><button name="do" value="add">${t('manage.gallery.add')}</button></div>`
  return sheetPart({
    id: 'add',
    title: t('manage.gallery.new'),
    content: form(page, { action, className: 'stack', hasFile: true, content }),
  })
}
