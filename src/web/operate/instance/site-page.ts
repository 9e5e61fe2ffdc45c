// The editor of a page of the instance, such as the terms, with its versions.
import type { FastifyReply } from 'fastify'
import { actorOf } from '#features/basics/audit/actor.ts'
import { publishPage } from '#features/basics/settings/pages/publish-page.ts'
import {
  findPage,
  getPageVersion,
  type ListedVersion,
  listPageVersions,
} from '#features/basics/settings/pages/queries.ts'
import { NewPageVersion, PAGE_KINDS, PAGE_LENGTH_MAX, type PageKind } from '#features/basics/settings/pages/requests.ts'
import { notFound } from '#lib/errors.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { exactTime, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { saveBar } from '#web/ui/parts/actions.ts'
import { markdownEditor } from '#web/ui/parts/editor.ts'
import { checkbox, form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'

type SitePage = { kind: PageKind; text: string; versions: ListedVersion[] }

export function sitePagePages(pages: Pages): void {
  const options = { role: 'admin' } as const
  formPage<SitePage>(pages, {
    path: `${PATHS.operatorPages}/:kind`,
    name: 'operatePage',
    api: 'listInstancePageVersions publishInstancePage',
    options,
    load: loadPage,
    show: showEditor,
    commands: { save: publish, preview: showEditor },
    labels: { text: 'The text', asks_again: 'The check box' },
  })
  pages.own('GET', `${PATHS.operatorPages}/:kind/version/:version`, 'operatePageVersion', showVersion, {
    ...options,
    api: 'getInstancePageVersion',
  })
}

/** @throws ApiError 404 if there is no such kind of page. */
function kindOf({ param }: OwnRequest): PageKind {
  const kind = PAGE_KINDS.find((known) => known === param('kind'))
  if (kind === undefined) throw notFound('page')
  return kind
}

async function loadPage(request: OwnRequest): Promise<SitePage> {
  const { db } = request.deps
  const kind = kindOf(request)
  return { kind, text: (await findPage(db, kind))?.text ?? '', versions: await listPageVersions(db, kind) }
}

const pathOf = (kind: PageKind): string => `${PATHS.operatorPages}/${kind}`

async function publish({ deps, viewer }: OwnRequest, { kind, text }: SitePage, state: FormState): Promise<Outcome> {
  const edited = state.edited({ text })
  const asks_again = asksAgain(state)
  // The same text can ask again.
  if (edited.text === undefined && !asks_again) return { done: 'page-published' }
  const values = checkValues(NewPageVersion, { text, ...edited, asks_again })
  await publishPage(deps, actorOf(viewer), { kind, ...values })
  return { done: 'page-published' }
}

const asksAgain = (state: FormState): boolean => state.text('asks_again') === 'yes'

async function showEditor(request: OwnRequest, data: SitePage, state: FormState): Promise<FastifyReply> {
  const { page, texts, t } = request
  const { kind, text, versions } = data
  const typed = state.text('text', text)
  const isShown = text !== ''
  return showOperator(request, {
    section: PATHS.operatorPages,
    heading: t(`layout.${kind}`),
    text: html`${t(`ops.pages.${kind}`)} ${t('ops.pages.edit.text')}`,
    action: isShown && html`<a class="button" href="${pathTo(page, `/${kind}`)}">${t('ops.pages.open')}</a>`,
    form: state,
    body: [
      editor(page, data, { state, typed, rendered: await texts.preview(typed, page) }),
      versions.length > 0 && versionTable(page, data),
    ],
  })
}

type Editor = { state: FormState; typed: string; rendered: Markup }

function editor(page: PageContext, { kind, text }: SitePage, { state, typed, rendered }: Editor): Part {
  const { t } = page.language
  const content = html`${editBase(state, { text })}${conflictNote(page, state, { text: t(`layout.${kind}`) })}
${markdownEditor(page, {
  name: 'text',
  label: t(`layout.${kind}`),
  value: typed,
  rendered,
  rows: 20,
  maxLength: PAGE_LENGTH_MAX,
  count: t('manage.description.count', { count: '{count}', max: wholeNumber(page.language, PAGE_LENGTH_MAX) }),
  isInvalid: state.errors.some(({ field }) => field === 'text'),
})}`
  return form(page, {
    action: pathTo(page, pathOf(kind)),
    content: [
      sheetPart({ id: 'edit', content: [content, kind === 'terms' && askField(page, state)] }),
      saveBar(page, { save: t('ops.pages.publish') }),
    ],
  })
}

/** Each version asks anew: the box is not selected at first. */
function askField({ language: { t } }: PageContext, state: FormState): Markup {
  return checkbox({
    name: 'asks_again',
    value: 'yes',
    isChecked: asksAgain(state),
    label: t('ops.pages.ask'),
    hint: t('ops.pages.ask.hint'),
  })
}

function versionTable(page: PageContext, { kind, versions }: SitePage): Part {
  const { t } = page.language
  const columns = [
    { label: t('ops.pages.version') },
    { label: t('ops.pages.by') },
    ...(kind === 'terms' ? [{ label: t('ops.pages.agreed'), isNumber: true }] : []),
    { label: t('ops.pages.published'), room: 'far' },
  ] as const
  const rows = versions.map(({ version, published, published_by, is_empty, asks_again, agreed }) => {
    const time = exactTime(page.language, published)
    const name = nameCell({
      href: pathTo(page, `${pathOf(kind)}/version/${version}`),
      name: t('ops.pages.number', { version: String(version) }),
      ...(is_empty ? { details: t('ops.pages.removed') } : asks_again ? { details: t('ops.pages.asks') } : {}),
      near: time,
    })
    const by = published_by === null ? '–' : html`<bdi>${published_by}</bdi>`
    return { cells: [name, by, ...(kind === 'terms' ? [wholeNumber(page.language, agreed)] : []), time] }
  })
  const content = listTable(page, { caption: t('ops.pages.versions'), columns, rows, isInner: true })
  return sheetPart({ id: 'versions', title: t('ops.pages.versions'), content })
}

async function showVersion(request: OwnRequest): Promise<FastifyReply> {
  const { deps, page, param, texts, t } = request
  const kind = kindOf(request)
  const number = /^[1-9]\d{0,8}$/.test(param('version')) ? Number(param('version')) : 0
  const { text, version, published } = await getPageVersion(deps.db, kind, number)
  const state = t('ops.pages.number', { version: String(version) })
  return showOperator(request, {
    section: PATHS.operatorPages,
    heading: `${t(`layout.${kind}`)}, ${state}`,
    text: exactTime(page.language, published),
    action: html`<a class="button" href="${pathTo(page, pathOf(kind))}">${t('ops.pages.back')}</a>`,
    body: sheetPart({
      id: 'text',
      content: text === '' ? html`<p class="soft">${t('ops.pages.removed')}</p>` : await texts.render(text, page),
    }),
  })
}
