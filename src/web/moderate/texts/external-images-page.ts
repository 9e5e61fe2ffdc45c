// Images of other hosts: those in the description of a project, and all that are blocked.
import { blockExternalImage } from '#features/basics/external-images/block-external-image.ts'
import {
  type BlockedRow,
  countBlockedImages,
  imageIdOf,
  listBlockedIds,
  listBlockedImages,
} from '#features/basics/external-images/queries.ts'
import { unblockExternalImage } from '#features/basics/external-images/unblock-external-image.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { EXTERNAL_URL_MAX } from '#lib/access/signed-url.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { type FormState, formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { externalImagesOf } from '#web/kit/user-texts.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { buttonForm, form, textField } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState } from '#web/ui/parts/lists.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { ROWS, showSection, takedownResult } from '../frame.ts'
import { listPager, offsetOf, timeOf } from '../parts.ts'

const PATH = `${PATHS.moderationTakedown}/images`

/** Returns the path of the page with the images in the description of a project. */
export const externalImagesPath = (project: string): string => withQuery(PATH, { project })

type Data = { view: ProjectView | undefined }

export function externalImagePages(pages: Pages): void {
  formPage<Data>(pages, {
    path: PATH,
    name: 'moderateExternalImages',
    shows: 'Images of other hosts in a description, and those that are blocked',
    api: 'listBlockedImages blockImage unblockImage',
    load: async ({ deps, viewer, query }) => ({
      view: query('project') === '' ? undefined : viewOf(await getProject(deps, viewer, query('project'))),
    }),
    show: showImages,
    commands: {
      block: async ({ deps, viewer }, data, state) => {
        await blockExternalImage(deps, viewer, state.text('url'))
        return { done: 'image-blocked', path: pathOf(data) }
      },
      lift: async ({ deps, viewer }, data, state) => {
        await unblockExternalImage(deps, viewer, state.text('url'))
        return { done: 'block-lifted', path: pathOf(data) }
      },
    },
    labels: { url: 'The URL' },
    options: { role: 'moderator' },
  })
}

const pathOf = ({ view }: Data): string => (view === undefined ? PATH : externalImagesPath(view.id))

async function showImages(request: OwnRequest, data: Data, state: FormState) {
  const { deps, t } = request
  const title = t('reports.images.title')
  return showSection(request, {
    section: PATHS.moderationTakedown,
    title,
    form: state,
    body: [
      sheetHead({ title, text: t('reports.images.text') }),
      await projectPart(request, data),
      blockForm(request, data, state),
      sheetPart({
        id: 'blocked',
        title: t('reports.images.blocked'),
        content: blockedTable(
          request,
          data,
          await listBlockedImages(deps.db, { limit: ROWS, offset: offsetOf(pageNumber(request)) }),
        ),
      }),
      listPager(request.page, {
        path: PATH,
        current: pageNumber(request),
        total: await countBlockedImages(deps.db),
        query: data.view === undefined ? {} : { project: data.view.id },
      }),
    ],
  })
}

/** The images in the description of the project, each with its button. */
async function projectPart(request: OwnRequest, data: Data): Promise<Part> {
  const { deps, page, texts, t } = request
  const { view } = data
  if (view === undefined) return null
  const images = externalImagesOf(await texts.render(view.description, page, view))
  const blocked = await listBlockedIds(
    deps.db,
    images.map(({ url }) => imageIdOf(url)),
  )
  const rows = images.map(({ url, path }) => {
    const isBlocked = blocked.has(imageIdOf(url))
    const image = attributes({ src: path, alt: '', loading: 'lazy', width: 88 })
    return {
      cells: [
        nameCell({
          name: html`<a class="long" href="${url}" rel="nofollow ugc noopener">${url}</a>`,
          details: isBlocked ? t('reports.images.is-blocked') : html`<img${image}>`,
        }),
        imageButton(request, { data, url, isBlocked }),
      ],
    }
  })
  const content =
    rows.length === 0
      ? html`<p class="soft">${t('reports.images.none')}</p>`
      : listTable(page, {
          caption: t('reports.images.of', { project: view.name }),
          columns: [{ label: t('reports.images.url') }, { label: t('reports.images.block'), isAction: true }],
          rows,
        })
  return sheetPart({ id: 'images', title: t('reports.images.of', { project: view.name }), content })
}

function imageButton({ page, t }: OwnRequest, of: { data: Data; url: string; isBlocked: boolean }): Markup {
  const text = of.isBlocked ? t('reports.blocked.lift') : t('reports.images.block')
  return buttonForm(page, {
    action: pathTo(page, pathOf(of.data)),
    text,
    label: `${text}: ${of.url}`,
    kind: 'plain',
    isTight: true,
    fields: { do: of.isBlocked ? 'lift' : 'block', url: of.url },
  })
}

function blockForm({ page, t }: OwnRequest, data: Data, state: FormState): Part {
  const field = textField(page, {
    name: 'url',
    label: t('reports.images.url'),
    type: 'url',
    value: state.text('url'),
    maxLength: EXTERNAL_URL_MAX,
    errors: state.errors,
  })
  const content = form(page, {
    action: pathTo(page, pathOf(data)),
    className: 'stack',
    content: html`${field}<div><button name="do" value="block">${t('reports.images.block')}</button></div>`,
  })
  return sheetPart({ id: 'block', title: t('reports.images.new'), content })
}

function blockedTable(request: OwnRequest, data: Data, rows: readonly BlockedRow[]): Markup {
  const { page, t } = request
  if (rows.length === 0) return emptyState(page, { icon: 'image', title: t('reports.images.empty') })
  return listTable(page, {
    caption: t('reports.images.blocked'),
    columns: [
      { label: t('reports.images.url') },
      { label: t('reports.time'), room: 'far' },
      { label: t('reports.blocked.lift'), isAction: true },
    ],
    rows: rows.map(({ url, created, blocked_by, takedown_id }) => ({
      cells: [
        nameCell({
          name: html`<span class="long">${url}</span>`,
          details:
            takedown_id === null
              ? html`<bdi>${blocked_by ?? ''}</bdi>`
              : html`<a href="${pathTo(page, takedownResult(takedown_id))}">${t('reports.takedown.title')}</a>`,
        }),
        timeOf(page, created),
        imageButton(request, { data, url, isBlocked: true }),
      ],
    })),
  })
}
