// A whole list of tags as JSON: export and import.
import { actorOf } from '#features/basics/audit/actor.ts'
import { nameOf, type TagRow } from '#features/basics/tags/edit/tag-row.ts'
import { type ListEdit, updateTagList } from '#features/basics/tags/edit/update-tag-list.ts'
import { type EditableTags, readEditableTags } from '#features/basics/tags/edit/views.ts'
import { validationError } from '#lib/errors.ts'
import { TAG_LISTS, type TagListName } from '#taxonomy/tag-lists.ts'
import { confirmFirst } from '#web/kit/forms/confirm.ts'
import { type FormState, formPage, type Outcome } from '#web/kit/forms/form-page.ts'
import { checkValues } from '#web/kit/forms/read-form.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html } from '#web/ui/html.ts'
import type { Language } from '#web/ui/languages.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { form, hiddenField, textArea } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { showOperator } from '../sections.ts'
import { type Listed, listName, listOf, listPath, sendable } from './tag-rows.ts'

type ListPage = { list: TagListName; tags: EditableTags[TagListName] }

export function tagJsonPages(pages: Pages): void {
  formPage<ListPage>(pages, {
    path: `${PATHS.operatorTags}/:list/json`,
    name: 'operateTagsJson',
    api: 'updateGames updateLoaders updateCategories updateGameVersions updateLoaderFields updateLicenses updateLinkPlatforms',
    options: { role: 'admin' },
    load: loadList,
    show: showJson,
    commands: { save: confirmFirst(askImport, importRows) },
    labels: { rows: 'The list' },
  })
  pages.own('GET', `${PATHS.operatorTags}/:list/export.json`, 'operateTagsExport', sendJson, {
    role: 'admin',
    shows: 'The list as a file',
  })
}

async function loadList({ deps, param }: OwnRequest): Promise<ListPage> {
  const list = listOf(param)
  return { list, tags: (await readEditableTags(deps))[list] }
}

/** One row per line, as in the data files. */
const jsonOf = ({ tags }: ListPage): string =>
  `[\n${sendable(tags.rows as Listed[])
    .map((row) => `  ${JSON.stringify(row)}`)
    .join(',\n')}\n]\n`

async function sendJson(request: OwnRequest) {
  const data = await loadList(request)
  return request.reply
    .type('application/json; charset=utf-8')
    .header('content-disposition', `attachment; filename="${data.list.replaceAll('_', '-')}.json"`)
    .header('cache-control', 'private, no-cache')
    .send(jsonOf(data))
}

/** @throws ApiError naming `rows` */
function readRows(list: TagListName, text: string): readonly object[] {
  let rows: unknown
  try {
    rows = JSON.parse(text)
  } catch {
    throw validationError('rows', 'must be JSON: a list of objects, such as [{"name": "…"}]')
  }
  return checkValues(TAG_LISTS[list], rows) as readonly object[]
}

function askImport({ t, language }: OwnRequest, { list, tags }: ListPage, state: FormState) {
  const rows = readRows(list, state.text('rows')) as readonly TagRow[]
  const names = new Set(rows.map(nameOf))
  const lost = new Set((tags.rows as readonly TagRow[]).map(nameOf)).difference(names)
  return {
    title: t('ops.tags.import.title'),
    consequences: [
      t('ops.tags.import.effect', { before: tags.rows.length, count: rows.length }),
      ...(lost.size === 0 ? [] : [lostText(language, [...lost])]),
      t('operate.recorded'),
    ],
    button: t('ops.tags.import'),
  }
}

/** A confirmation names at most this many tags. */
const NAMED_MAX = 20

function lostText({ t, tag }: Language, lost: readonly string[]): string {
  const names = new Intl.ListFormat(tag, { type: 'unit' }).format(lost.slice(0, NAMED_MAX))
  return t('ops.tags.import.lost', { names, more: Math.max(0, lost.length - NAMED_MAX) })
}

async function importRows({ deps, viewer, field }: OwnRequest, { list }: ListPage, state: FormState): Promise<Outcome> {
  const rows = readRows(list, state.text('rows'))
  await updateTagList(deps, actorOf(viewer), { list, rows, seen: Number(field('revision')) } as ListEdit)
  return { done: 'tags-imported', path: listPath(list) }
}

function showJson(request: OwnRequest, data: ListPage, state: FormState) {
  const { page, t } = request
  const { list, tags } = data
  // An error inside a row is an error of the only field.
  const errors = state.errors.map((error) => ({ ...error, field: 'rows' }))
  return showOperator(request, {
    section: PATHS.operatorTags,
    heading: t('ops.tags.json-of', { list: listName(page, list) }),
    text: html`<a href="${pathTo(page, listPath(list))}">${listName(page, list)}</a>`,
    action: html`<a class="button" href="${pathTo(page, `${listPath(list)}/export.json`)}" download>${t('ops.tags.export')}</a>`,
    form: { ...state, errors },
    body: sheetPart({
      id: 'json',
      content: form(page, {
        action: pathTo(page, `${listPath(list)}/json`),
        className: 'stack',
        content: html`${hiddenField('revision', String(tags.revision))}${textArea(page, { name: 'rows', label: t('ops.tags.rows'), hint: t('ops.tags.rows.hint'), value: state.text('rows', jsonOf(data)), rows: 20, isCode: true, errors })}
<div class="line"><button class="main" name="do" value="save">${t('ops.tags.import')}</button></div>`,
      }),
    }),
  })
}
