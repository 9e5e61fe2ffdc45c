// The page of the gallery settings.

import type { FastifyReply } from 'fastify'
import { GALLERY_BYTES_MAX } from '#features/catalogue/projects/gallery/requests.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
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
import { showProjectSettings } from './settings-frame.ts'

export type GalleryImage = { item: ProjectView['gallery'][number]; key: string }

type Gallery = { state: FormState; images: readonly GalleryImage[]; values: Record<string, string> }

const MAY = 'EDIT_DETAILS'

export function showGallery(request: OwnRequest, data: ManagedProject, gallery: Gallery): Promise<FastifyReply> {
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
  return html`<li data-item="${key}">${picture(page, image)}
<div class="stack">${textField(page, { name: `name.${key}`, label: t('manage.gallery.title'), value: state.text(`name.${key}`, item.name ?? ''), maxLength: 255, isOptional: true, errors: state.errors })}
${textArea(page, { name: `description.${key}`, label: t('manage.gallery.description'), value: state.text(`description.${key}`, item.description ?? ''), maxLength: 2048, rows: 2, isOptional: true, errors: state.errors })}
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
  })}
${error !== undefined && html`<p class="error"><span${attributes({ lang: error.lang })}>${error.message}</span></p>`}
<div><button name="do" value="add">${t('manage.gallery.add')}</button></div>`
  return sheetPart({
    id: 'add',
    title: t('manage.gallery.new'),
    content: form(page, { action, className: 'stack', hasFile: true, content }),
  })
}
