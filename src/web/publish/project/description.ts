// Project settings: the description, with a preview and images.
import type { FastifyReply } from 'fastify'
import { requirePermission } from '#features/basics/access/project-policy.ts'
import type { ImageTarget } from '#features/basics/content-images/queries.ts'
import { IMAGE_BYTES_MAX, uploadImage } from '#features/basics/content-images/upload-image.ts'
import { findAnyVersionId } from '#features/catalogue/versions/queries.ts'
import { notFound } from '#lib/errors.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import { uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { externalImagesOf, projectFiles } from '#web/kit/user-texts.ts'
import { fileSize, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { markdownEditor } from '#web/ui/parts/editor.ts'
import { fileField, form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { copyImages } from './copy-images.ts'
import { copiedNote, nowhereNote } from './image-notes.ts'
import { type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

const LENGTH_MAX = 65_536
const LABELS = { description: 'The description', image: 'The image', body: 'The image', ext: 'The image' }

export function descriptionPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings/description',
    name: 'manageDescription',
    api: 'createImage',
    show: (request, data, state) =>
      showDescription(request, data, { state, text: state.text('description', data.view.description) }),
    commands: { save, preview, image: addImage, copy },
    labels: LABELS,
  })
}

const savedOf = ({ view }: ManagedProject) => ({ text: view.description, source: view })

const editable = ({ view: { description } }: ManagedProject) => ({ description })

async function save(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  await saveFields(request, data, state.edited(editable(data)))
  return { done: 'saved' }
}

const preview = (request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> =>
  showDescription(request, data, { state, text: state.text('description') })

/**
 * Stores the image and adds it to the end of the text, which is not saved yet. The script also sends images for the changelog of
 * a version (`version`) here, because the forms of versions store their files as files of the version.
 */
async function addImage(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { deps, req, viewer } = request
  const target = await imageTarget(request, data, state.text('version'))
  const { bytes, ext, filename } = uploadedImage(req.body, 'image', IMAGE_BYTES_MAX)
  await deps.files.assertAvailable()
  const { url } = await uploadImage(deps, viewer, { context: target.context, target, bytes, ext })
  const alt = filename.replace(/\.[^.]*$/, '').replaceAll(/[[\]\\]/g, ' ')
  const text = `${state.text('description').trimEnd()}\n\n![${alt}](${url})\n`
  return showDescription(request, data, {
    state,
    text,
    added: html`<p class="note" role="status">${request.t('manage.description.added')}</p>`,
  })
}

/** Returns the text that the image belongs to. @throws ApiError 403 without the permission, 404 for another project's version */
async function imageTarget(
  { deps, viewer }: OwnRequest,
  { project, membership }: ManagedProject,
  version: string,
): Promise<ImageTarget> {
  requirePermission(viewer, membership, version === '' ? 'EDIT_BODY' : 'UPLOAD_VERSION')
  if (version === '') return { context: 'project', id: project.id }
  const id = await findAnyVersionId(deps.db, project.id, version)
  if (id === undefined) throw notFound('version')
  return { context: 'version', id }
}

/** Copies the shown images of other hosts, and changes their URLs in the text, which is not saved yet. */
async function copy(request: OwnRequest, data: ManagedProject, state: FormState): Promise<FastifyReply> {
  requirePermission(request.viewer, data.membership, 'EDIT_BODY')
  const text = state.text('description')
  const rendered = await request.texts.preview(text, request.page, savedOf(data))
  const urls = externalImagesOf(rendered).map(({ url }) => url)
  const copied = await copyImages(request, {
    projectId: data.project.id,
    text,
    urls,
    source: projectFiles(data.view, request.deps.sourceHosts) ?? undefined,
  })
  return showDescription(request, data, { state, text: copied.text, added: copiedNote(request.page, copied) })
}

async function showDescription(
  request: OwnRequest,
  data: ManagedProject,
  { state, text, added }: { state: FormState; text: string; added?: Markup },
): Promise<FastifyReply> {
  const { page, texts, t } = request
  const isEditable = may(data, 'EDIT_BODY') || state.isSubmitted
  const rendered = await texts.preview(text, page, savedOf(data))
  return showProjectSettings(request, data, {
    section: '/description',
    heading: t('manage.description'),
    text: t('manage.description.text'),
    needs: 'EDIT_BODY',
    form: state,
    body: isEditable
      ? editor(request, data, { state, text, rendered, added })
      : sheetPart({ id: 'text', content: rendered }),
  })
}

type Editor = { state: FormState; text: string; rendered: Markup; added: Markup | undefined }

function editor({ page }: OwnRequest, data: ManagedProject, { state, text, rendered, added }: Editor): Part {
  const { t } = page.language
  const error = state.errors.find(({ field }) => field === 'description')
  const action = `${data.settings}/description`
  const images = fileField(page, {
    name: 'image',
    label: t('manage.description.image'),
    hint: t('manage.description.image.hint', { size: fileSize(page.language, IMAGE_BYTES_MAX) }),
    maxBytes: IMAGE_BYTES_MAX,
    accept: '.png,.jpg,.jpeg,.gif,.webp',
    isOptional: true,
    errors: state.errors.map((each) =>
      each.field === 'body' || each.field === 'ext' ? { ...each, field: 'image' } : each,
    ),
  })
  const content = html`${editBase(state, editable(data))}${conflictNote(page, state, { description: t('manage.description') })}
${added}${nowhereNote(page, rendered)}
${markdownEditor(page, {
  name: 'description',
  label: t('manage.description'),
  value: text,
  rendered,
  rows: 20,
  maxLength: LENGTH_MAX,
  count: t('manage.description.count', { count: '{count}', max: wholeNumber(page.language, LENGTH_MAX) }),
  isInvalid: error !== undefined,
  images: { action: pathTo(page, action), field: 'description', maxBytes: IMAGE_BYTES_MAX },
})}
<details class="more"><summary>${t('manage.description.image')}</summary><div class="stack">${images}<div><button name="do" value="image">${t('manage.description.insert')}</button></div></div></details>
${externalImagesOf(rendered).length > 0 && html`<details class="more"><summary>${t('manage.copy')}</summary><div class="stack"><p>${t('manage.copy.hint')}</p><div><button name="do" value="copy">${t('manage.copy.button')}</button></div></div></details>`}`
  return form(page, {
    action: pathTo(page, action),
    hasFile: true,
    content: [sheetPart({ id: 'text', content }), saveBar(page)],
  })
}
