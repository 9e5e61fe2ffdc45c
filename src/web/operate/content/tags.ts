// The lists of tags: search, order, and what they come from. tag-page.ts has the page of a tag.
import { actorOf } from '#features/basics/audit/actor.ts'
import { readManifestState } from '#features/basics/tags/edit/manifest-state.ts'
import { readGameVersions } from '#features/basics/tags/edit/read-game-versions.ts'
import { idOf, isOrdered, nameOf, type TagRow } from '#features/basics/tags/edit/tag-row.ts'
import { type ListEdit, updateTagList } from '#features/basics/tags/edit/update-tag-list.ts'
import { type EditableTags, readEditableTags } from '#features/basics/tags/edit/views.ts'
import { changeTag } from '#features/basics/tags/values/change-tag.ts'
import { invalidInput } from '#lib/errors.ts'
import type { TagListName } from '#taxonomy/tag-lists.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS, pageNumber, withQuery } from '#web/kit/paths.ts'
import { timeAgo, wholeNumber } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, pager, segments } from '#web/ui/parts/lists.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'
import { detailsOf, groupsOf, inOrder, LISTS, type Listed, listName, listOf, listPath, tagPath } from './tag-rows.ts'

type TagList = {
  list: TagListName
  tags: EditableTags[TagListName]
  manifest: Awaited<ReturnType<typeof readManifestState>>
}

export function tagPages(pages: Pages): void {
  formPage<TagList>(pages, {
    path: `${PATHS.operatorTags}/:list`,
    name: 'operateTags',
    api: 'getEditableTags resetGames resetLoaders resetCategories resetGameVersions resetLoaderFields resetLicenses resetLinkPlatforms readGameVersions',
    options: { role: 'admin' },
    load: loadTags,
    show: showTags,
    commands: {
      place: (request, data, state) => move(request, data, state, () => Number(state.text('place')) || 0),
      up: (request, data, state) => move(request, data, state, (place) => place - 1),
      down: (request, data, state) => move(request, data, state, (place) => place + 1),
      read: readManifest,
      reset: confirmFirst(askReset, resetList),
    },
  })
  pages.own('GET', PATHS.operatorTags, 'operateTagLists', async (request) => request.redirect(listPath(LISTS[0])), {
    role: 'admin',
    shows: false,
  })
}

async function loadTags({ deps, param }: OwnRequest): Promise<TagList> {
  const list = listOf(param)
  return { list, tags: (await readEditableTags(deps))[list], manifest: await readManifestState(deps.db) }
}

/** Moves the tag that the button names to another position of its group. */
async function move(
  { deps, viewer, field }: OwnRequest,
  { list, tags }: TagList,
  { argument: id }: FormState,
  to: (place: number) => number,
): Promise<Outcome> {
  const groups = groupsOf(list, tags.rows)
  const place = groups.map(({ rows }) => rows.findIndex((row) => idOf(row as TagRow) === id)).find((at) => at !== -1)
  if (place === undefined) throw invalidInput('The list does not contain this tag any more')
  const patch = { position: Math.max(0, to(place)), revision: Number(field('revision')) }
  await changeTag(deps, actorOf(viewer), { list, id, patch })
  return { done: 'tag-moved', fragment: `tag-${id}` }
}

async function readManifest({ deps, viewer }: OwnRequest): Promise<Outcome> {
  const added = await readGameVersions(deps, actorOf(viewer))
  return { done: 'tags-read', with: { count: String(added.length) } }
}

function askReset({ t }: OwnRequest) {
  const title = t('ops.tags.reset.title')
  return { title, consequences: [t('ops.tags.reset.effect'), t('operate.recorded')], button: t('ops.tags.reset') }
}

async function resetList({ deps, viewer }: OwnRequest, { list }: TagList): Promise<Outcome> {
  await updateTagList(deps, actorOf(viewer), { list, rows: null, seen: undefined } as ListEdit)
  return { done: 'tags-reset' }
}

function showTags(request: OwnRequest, data: TagList, state: FormState) {
  const { page, t, query } = request
  const { list, tags } = data
  const items = LISTS.map((name) => ({
    href: pathTo(page, listPath(name)),
    label: listName(page, name),
    isCurrent: name === list,
  }))
  const text = query('q').trim()
  const isFiltered = text !== ''
  const found = inOrder(list, tags.rows).filter((row) => matches(row, text))
  return showOperator(request, {
    section: PATHS.operatorTags,
    heading: t('ops.tags'),
    text: t('ops.tags.text'),
    action: html`<a class="button main" href="${pathTo(page, `${listPath(list)}/new`)}">${icon(page, 'plus')}${t('ops.tags.add')}</a>`,
    form: state,
    notice: { count: Number(query('count')) || 0 },
    body: [
      html`<div class="part">${segments(t('ops.tags'), items)}</div>`,
      list === 'game_versions' && manifestPart(request, data),
      (tags.rows.length > SEARCHED_MIN || isFiltered) && searchPart(page, list, text),
      isOrdered(list) && !isFiltered
        ? orderedRows(page, data)
        : tagTable(page, { list, rows: found, text, current: pageNumber(request) }),
      sourcePart(page, data),
    ],
  })
}

const matches = (row: Listed, text: string): boolean =>
  [nameOf(row as TagRow), 'name' in row ? (row.name ?? '') : ''].some((name) =>
    name.toLowerCase().includes(text.toLowerCase()),
  )

function formOf(page: PageContext, { list, tags }: TagList, content: Part): Markup {
  return form(page, {
    action: pathTo(page, listPath(list)),
    content: html`${hiddenField('revision', String(tags.revision))}${content}`,
  })
}

/** Lists that are longer have a search field. */
const SEARCHED_MIN = 15
const ROWS = 50

function searchPart(page: PageContext, list: TagListName, text: string): Markup {
  const { t } = page.language
  const field = textField(page, {
    name: 'q',
    id: 'find-tag',
    label: t('ops.tags.search'),
    type: 'search',
    value: text,
    maxLength: 64,
    isOptional: true,
    isUnmarked: true,
  })
  const content = html`<form method="get" action="${pathTo(page, listPath(list))}" role="search" class="stack">${field}<div class="line"><button>${t('ops.tags.find')}</button></div></form>`
  return sheetPart({ id: 'search', content })
}

function tagTable(
  page: PageContext,
  { list, rows, text, current }: { list: TagListName; rows: readonly Listed[]; text: string; current: number },
): Part {
  const { t } = page.language
  if (rows.length === 0) return emptyState(page, { icon: 'tags', title: t('ops.tags.none') })
  const columns = [
    { label: t('ops.tags.name') },
    { label: t('ops.tags.details'), room: 'far' },
    { label: t('ops.tags.uses'), isNumber: true },
  ] as const
  const shown = rows.slice((current - 1) * ROWS, current * ROWS).map((row) => {
    const details = detailsOf(page, row)
    const href = pathTo(page, tagPath(list, idOf(row as TagRow)))
    const name = nameCell({ href, name: nameOf(row as TagRow), details: hiddenNote(page, row), near: details })
    return { cells: [name, details, wholeNumber(page.language, row.uses)] }
  })
  const path = withQuery(listPath(list), { q: text })
  return [
    listTable(page, { caption: listName(page, list), columns, rows: shown }),
    pager(page, {
      current,
      last: Math.ceil(rows.length / ROWS),
      href: (number) => pathTo(page, withQuery(path, { page: String(number) })),
    }),
  ]
}

const hiddenNote = (page: PageContext, { hidden }: Listed): Part =>
  hidden && status(page, { icon: 'eye-off', label: page.language.t('ops.tags.hidden') })

/** Renders the tags with the buttons that move them. Dragging sends the same form. */
function orderedRows(page: PageContext, data: TagList): Part {
  const { list, tags } = data
  return groupsOf(list, tags.rows).map(({ title, rows }, index) => {
    const items = rows.map((row, place) => orderedRow(page, { list, row, place, count: rows.length }))
    const content = html`<div class="entries-box"><ol class="entries places" data-order="place">${items}</ol></div>`
    return sheetPart({
      id: `group-${index}`,
      title: title ?? listName(page, list),
      ...(index === 0 ? { text: page.language.t('ops.tags.order') } : {}),
      content: formOf(page, data, content),
    })
  })
}

type Place = { list: TagListName; row: Listed; place: number; count: number }

function orderedRow(page: PageContext, { list, row, place, count }: Place): Markup {
  const { t } = page.language
  const [id, name] = [idOf(row as TagRow), nameOf(row as TagRow)]
  const button = (command: string, symbol: IconName, label: string, isShown: boolean) =>
    isShown &&
    html`<button class="tight" name="do" value="${command}.${id}" title="${label}">${icon(page, symbol)}<span class="vh">${label}: ${name}</span></button>`
  return html`<li data-item="${id}" id="tag-${id}" tabindex="-1"><span class="who"><span><a href="${pathTo(page, tagPath(list, id))}"><bdi>${name}</bdi></a> <small>${detailsOf(page, row)} ${hiddenNote(page, row)}</small></span></span>
<span class="set small soft">${t('ops.tags.used', { count: row.uses })}</span>
<span class="act line">${button('up', 'arrow-up', t('ops.tags.up'), place > 0)}${button('down', 'arrow-down', t('ops.tags.down'), place < count - 1)}</span></li>
`
}

function sourcePart(page: PageContext, data: TagList): Part {
  const { t } = page.language
  const isEdited = data.tags.source === 'operator'
  const reset = isEdited && html`<button class="plain" name="do" value="reset">${t('ops.tags.reset')}</button>`
  const json = html`<a class="button plain" href="${pathTo(page, `${listPath(data.list)}/json`)}">${t('ops.tags.json')}</a>`
  return html`<div class="part"><p>${isEdited ? t('ops.tags.edited') : t('ops.tags.from-files')}</p>${formOf(page, data, html`<div class="line">${json}${reset}</div>`)}</div>`
}

/** Renders when the manifest was read, and the button that reads it. */
function manifestPart({ page, t, deps, language }: OwnRequest, data: TagList): Part {
  const { versionManifestUrl: url } = deps.config
  const { readAt, failingSince, reason } = data.manifest
  if (url === undefined)
    return html`<div class="part"><p>${language.rich('ops.tags.manifest.none', { name: html`<code>GAME_VERSIONS_URL</code>` })}</p></div>`
  const ago = (at: Date) => timeAgo(language, at, page.now)
  const state =
    failingSince !== null
      ? html`${icon(page, 'alert')} ${language.rich('ops.tags.manifest.failed', { since: ago(failingSince), reason: reason ?? '' })}`
      : readAt === null
        ? t('ops.tags.manifest.never')
        : language.rich('ops.tags.manifest.read', { at: ago(readAt) })
  const button = html`<div class="line"><button name="do" value="read">${t('ops.tags.manifest.now')}</button></div>`
  return sheetPart({
    id: 'manifest',
    title: t('ops.tags.manifest'),
    text: html`<code>${url}</code>`,
    content: html`<p>${state}</p><p class="soft">${t('ops.tags.manifest.rule')}</p>${formOf(page, data, button)}`,
  })
}
