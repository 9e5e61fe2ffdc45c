// Tags: games, loaders, categories and game versions with their uses. Each tag is edited as data, with the check of the API.
import { actorOf } from '#features/basics/audit/actor.ts'
import { RENAMED_LISTS, type RenamedList, renameTag } from '#features/basics/tags/edit/rename-tag.ts'
import { nameOf } from '#features/basics/tags/edit/tag-row.ts'
import { type ListEdit, updateTagList } from '#features/basics/tags/edit/update-tag-list.ts'
import { type EditableTags, readEditableTags, readTagUses } from '#features/basics/tags/edit/views.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { wholeNumber } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textArea, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { pager, segments } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { isMoved, listName, placeOf, readRow, rowText, sendable, shownRows } from './tag-rows.ts'

const LISTS = ['categories', 'game_versions', 'loaders', 'games'] as const satisfies readonly TagListName[]

export type TagPage = {
  list: TagListName
  tags: EditableTags[TagListName]
  edited: string
  /** Number of projects that use each tag of the list, of all project types: a renaming changes all of them. */
  uses: ReadonlyMap<string, number>
}

export function tagPages(pages: Pages): void {
  formPage<TagPage>(pages, {
    path: `${PATHS.operatorTags}/:list`,
    name: 'operateTags',
    api: 'getEditableTags updateGames resetGames updateLoaders resetLoaders updateCategories resetCategories updateGameVersions resetGameVersions renameCategories renameGameVersions updateLoaderFields resetLoaderFields updateLicenses resetLicenses updateLinkPlatforms resetLinkPlatforms renameLinkPlatforms addGame addLoader addCategory addGameVersion addLoaderField addLicense addLinkPlatform changeGame changeLoader changeCategory changeGameVersion changeLoaderField changeLicense changeLinkPlatform removeTag mergeTags countTagUses',
    options: { role: 'admin' },
    load: loadTags,
    show: showTags,
    commands: {
      save: saveTag,
      hide: hideTag,
      up: moveTag,
      rename: confirmFirst(askRenaming, saveName),
      remove: confirmFirst(askRemoval, removeTag),
      reset: confirmFirst(askReset, resetList),
    },
    labels: { row: 'The tag', rows: 'The list', from: 'The name', to: 'The new name' },
  })
  pages.own(
    'GET',
    PATHS.operatorTags,
    'operateTagLists',
    async (request) => request.redirect(`${PATHS.operatorTags}/${LISTS[0]}`),
    { role: 'admin', shows: false },
  )
}

async function loadTags({ deps, param, query, field, req }: OwnRequest): Promise<TagPage> {
  const list = LISTS.find((name) => name === param('list'))
  if (list === undefined) throw notFound('page')
  const tags = (await readEditableTags(deps))[list]
  const uses = (await readTagUses(deps))[list]
  return { list, tags, uses, edited: req.method === 'POST' ? field('name') : query('edit') }
}

const ROWS = 50

type Rows = EditableTags[TagListName]['rows']

/** Sends the list with other rows, and the revision that the form has shown. */
async function replaceRows(request: OwnRequest, { list }: TagPage, rows: readonly object[]): Promise<void> {
  const { deps, viewer, field } = request
  checkValues(TAG_LISTS[list], rows)
  await updateTagList(deps, actorOf(viewer), { list, rows, seen: Number(field('revision')) } as ListEdit)
}

async function saveTag(request: OwnRequest, data: TagPage, state: FormState): Promise<Outcome> {
  const row = readRow(state.text('row'))
  const rows = sendable(data.tags.rows)
  const place = placeOf(data, data.edited)
  await replaceRows(request, data, place === -1 ? [...rows, row] : rows.with(place, row))
  return { done: 'tag-saved', with: { edit: '' } }
}

async function hideTag(request: OwnRequest, data: TagPage): Promise<Outcome> {
  const { rows, place } = chosen(data)
  const { hidden, ...row } = rows[place] as { hidden?: boolean }
  await replaceRows(request, data, rows.with(place, hidden === true ? row : { ...row, hidden: true }))
  return { done: hidden === true ? 'tag-shown' : 'tag-hidden' }
}

async function moveTag(request: OwnRequest, data: TagPage): Promise<Outcome> {
  const { rows, place } = chosen(data)
  const before = rows[place - 1]
  if (before === undefined) throw invalidInput('This tag is the first one')
  await replaceRows(request, data, rows.toSpliced(place - 1, 2, rows[place] as object, before))
  return { done: 'tag-moved' }
}

/** Returns the name of the chosen tag, and the number of projects that use it. */
function chosenName(data: TagPage): { name: string; count: number } {
  const row = (data.tags.rows as Rows)[chosen(data).place]
  return row === undefined ? { name: '', count: 0 } : { name: nameOf(row), count: row.uses }
}

function askRenaming({ field, t }: OwnRequest, data: TagPage) {
  const { name } = chosenName(data)
  const count = data.uses.get(name) ?? 0
  return {
    title: t('ops.tags.rename.title', { name, to: field('to').trim() }),
    consequences: [t('ops.tags.to.hint', { count }), t('operate.recorded')],
    button: t('ops.tags.rename'),
    isDanger: false,
  }
}

function askRemoval({ t }: OwnRequest, data: TagPage) {
  const { name, count } = chosenName(data)
  const consequences = [t('ops.tags.remove.text', { count }), t('operate.recorded')]
  return { title: t('ops.tags.remove.title', { name }), consequences, button: t('ops.tags.remove', { name }) }
}

function askReset({ t }: OwnRequest) {
  const title = t('ops.tags.reset.title')
  return { title, consequences: [t('ops.tags.reset.effect'), t('operate.recorded')], button: t('ops.tags.reset') }
}

async function removeTag(request: OwnRequest, data: TagPage): Promise<Outcome> {
  const { rows, place } = chosen(data)
  await replaceRows(request, data, rows.toSpliced(place, 1))
  return { done: 'tag-removed' }
}

async function saveName({ deps, viewer }: OwnRequest, { list, edited }: TagPage, state: FormState): Promise<Outcome> {
  const name = RENAMED_LISTS.find((renamed) => renamed === list)
  if (name === undefined) throw invalidInput('Tags of this list cannot be renamed')
  await renameTag(deps, actorOf(viewer), {
    list: name as RenamedList,
    from: edited.split(' ')[0] ?? '',
    to: state.text('to').trim(),
  })
  return { done: 'tag-renamed' }
}

async function resetList({ deps, viewer }: OwnRequest, { list }: TagPage): Promise<Outcome> {
  await updateTagList(deps, actorOf(viewer), { list, rows: null, seen: undefined } as ListEdit)
  return { done: 'tags-reset' }
}

/** Returns the rows and the position of the tag that the form names. @throws ApiError if it does not exist any more */
function chosen(data: TagPage): { rows: object[]; place: number } {
  const place = placeOf(data, data.edited)
  if (place === -1) throw invalidInput('The list does not contain this tag any more')
  return { rows: sendable(data.tags.rows), place }
}

function showTags(request: OwnRequest, data: TagPage, state: FormState) {
  const { page, t } = request
  const { list } = data
  const items = LISTS.map((name) => ({
    href: pathTo(page, `${PATHS.operatorTags}/${name}`),
    label: listName(page, name),
    isCurrent: name === list,
  }))
  return showOperator(request, {
    section: PATHS.operatorTags,
    heading: t('ops.tags'),
    text: t('ops.tags.text'),
    form: state,
    body: [
      html`<div class="part">${segments(t('ops.tags'), items)}</div>`,
      sourcePart(page, data),
      tagTable(page, data, pageNumber(request)),
      placeOf(data, data.edited) === -1 ? newTag(page, data, state) : editTag(page, data, state),
    ],
  })
}

function formOf(page: PageContext, { list, tags }: TagPage, of: { name?: string; content: Part; className?: string }) {
  const hidden = html`${hiddenField('revision', String(tags.revision))}${of.name !== undefined && hiddenField('name', of.name)}`
  return form(page, {
    action: pathTo(page, `${PATHS.operatorTags}/${list}`),
    className: of.className ?? 'line',
    content: html`${hidden}${of.content}`,
  })
}

function sourcePart(page: PageContext, data: TagPage): Part {
  const { t } = page.language
  if (data.tags.source === 'files') return html`<div class="part"><p>${t('ops.tags.from-files')}</p></div>`
  const button = formOf(page, data, {
    content: html`<button class="plain" name="do" value="reset">${t('ops.tags.reset')}</button>`,
  })
  return html`<div class="part"><p>${t('ops.tags.edited')}</p>${button}</div>`
}

function tagTable(page: PageContext, data: TagPage, current: number): Part {
  const { t } = page.language
  const all = shownRows(data)
  const columns = [
    { label: t('ops.tags.name') },
    { label: t('ops.tags.details'), room: 'far' },
    { label: t('ops.tags.uses'), isNumber: true },
    { label: t('ops.actions'), isAction: true },
  ] as const
  const path = `${PATHS.operatorTags}/${data.list}`
  const rows = all.slice((current - 1) * ROWS, current * ROWS).map(({ key, name, details, row }) => {
    const href = pathTo(page, withQuery(path, { edit: key }))
    const label = t('ops.tags.edit-one', { name })
    const edit = html`<a class="button tight" href="${href}#tag" aria-label="${label}">${t('ops.tags.edit')}</a>`
    const state = row.hidden && status(page, { icon: 'eye-off', label: t('ops.tags.hidden') })
    const uses = wholeNumber(page.language, row.uses)
    return { cells: [nameCell({ name, details: state, near: details }), details, uses, edit] }
  })
  return [
    listTable(page, { caption: listName(page, data.list), columns, rows }),
    pager(page, {
      current,
      last: Math.ceil(all.length / ROWS),
      href: (number) => pathTo(page, withQuery(path, { page: String(number) })),
    }),
  ]
}

function rowField(page: PageContext, state: FormState, value: string): Part {
  const { t } = page.language
  const errors = state.errors.map((error) =>
    error.field === undefined || error.field === 'to' || error.field === 'from' ? error : { ...error, field: 'row' },
  )
  return textArea(page, {
    name: 'row',
    label: t('ops.tags.row'),
    hint: t('ops.tags.row.hint'),
    value: state.text('row', value) || value,
    maxLength: 16_384,
    rows: 12,
    isCode: true,
    errors,
  })
}

function newTag(page: PageContext, data: TagPage, state: FormState): Part {
  const { t } = page.language
  const content = html`${rowField(page, state, rowText(sendable(data.tags.rows).at(-1)))}
<div class="line"><button class="main" name="do" value="save">${t('ops.tags.add')}</button></div>`
  return sheetPart({
    id: 'tag',
    title: t('ops.tags.new'),
    text: t('ops.tags.new.text'),
    content: formOf(page, data, { content, className: 'stack' }),
  })
}

function editTag(page: PageContext, data: TagPage, state: FormState): Part {
  const { t } = page.language
  const { rows, place } = chosen(data)
  const row = (data.tags.rows as Rows)[place]
  const name = row === undefined ? '' : nameOf(row)
  const edit = formOf(page, data, {
    name: data.edited,
    className: 'stack',
    content: html`${rowField(page, state, rowText(rows[place]))}
<div class="line"><a class="button" href="?">${t('work.cancel')}</a><button class="main" name="do" value="save">${t('work.save')}</button></div>`,
  })
  const rename =
    RENAMED_LISTS.some((renamed) => renamed === data.list) &&
    formOf(page, data, {
      name: data.edited,
      className: 'stack',
      content: html`${textField(page, { name: 'to', label: t('ops.tags.to'), hint: t('ops.tags.to.hint', { count: data.uses.get(name) ?? 0 }), value: state.text('to'), maxLength: 64, isCode: true, errors: state.errors })}
<div class="line"><button name="do" value="rename">${t('ops.tags.rename')}</button></div>`,
    })
  const isHidden = row?.hidden === true
  const up =
    isMoved(data.list) && place > 0 && html`<button name="do" value="up">${t('ops.tags.up-one', { name })}</button>`
  const visibility = formOf(page, data, {
    name: data.edited,
    content: html`<button name="do" value="hide">${isHidden ? t('ops.tags.show-one', { name }) : t('ops.tags.hide-one', { name })}</button>${up}`,
  })
  const remove = formOf(page, data, {
    name: data.edited,
    content: html`<button class="danger" name="do" value="remove">${t('ops.tags.remove', { name })}</button>`,
  })
  return [
    sheetPart({ id: 'tag', title: t('ops.tags.edit-one', { name }), content: edit }),
    sheetPart({ id: 'state', title: t('ops.tags.offer'), text: t('ops.tags.offer.text'), content: visibility }),
    rename !== false && sheetPart({ id: 'rename', title: t('ops.tags.rename-one', { name }), content: rename }),
    sheetPart({
      id: 'remove',
      title: t('ops.tags.remove', { name }),
      text: t('ops.tags.remove.text', { count: row?.uses ?? 0 }),
      content: remove,
    }),
  ]
}
