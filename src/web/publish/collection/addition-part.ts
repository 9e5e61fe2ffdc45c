// New projects of a collection: by search, or by a list of URLs, IDs and slugs.
import { PROJECTS_MAX } from '#features/community/collections/requests.ts'
import { ApiError } from '#lib/errors.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { findHits } from '#web/site/lists/list-query.ts'
import { type ProjectRow, rowOfHit, tile } from '#web/site/lists/rows.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { textArea } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import type { ManagedCollection } from './managed-collection.ts'

/** Number of results of the search. */
const RESULTS = 8
/** Maximum length of the searched words. */
const WORDS_MAX = 256

export async function additionPart(
  request: OwnRequest,
  { view }: ManagedCollection,
  state: FormState,
): Promise<Markup> {
  const { page, t } = request
  const words = state.text('find', request.query('find')).trim().slice(0, WORDS_MAX)
  const input = attributes({
    type: 'search',
    id: 'find',
    name: 'find',
    value: words,
    maxlength: WORDS_MAX,
    autocomplete: 'off',
    'data-swap': 'found',
    'data-do': 'search',
  })
  const search = html`<div class="field"><label for="find">${t('collections.search')}</label><div class="with-button"><input${input}><button name="do" value="search" formnovalidate>${icon(page, 'search')}${t('collections.search.do')}</button></div></div>
<div id="found">${words !== '' && results(page, await find(request, words), new Set(view.projects))}</div>`
  const list = html`<details${attributes({ class: 'more', open: state.text('lines') !== '' })}><summary>${t('collections.paste')}</summary><div class="stack">${textArea(
    page,
    {
      name: 'lines',
      label: t('collections.lines'),
      hint: t('collections.lines-hint', { max: PROJECTS_MAX }),
      value: state.text('lines'),
      rows: 4,
      isCode: true,
      isOptional: true,
      errors: state.errors,
    },
  )}<div class="line"><button name="do" value="save">${icon(page, 'plus')}${t('collections.paste.do')}</button></div></div></details>`
  return sheetPart({ id: 'add', title: t('collections.add'), content: html`<div class="stack">${search}${list}</div>` })
}

/** Returns the projects that the index finds; undefined while it is unavailable. */
async function find({ deps, req }: OwnRequest, text: string): Promise<ProjectRow[] | undefined> {
  const query = { text, sort: 'relevance', page: 1, caller: callerOf(req) } as const
  try {
    return (await findHits(deps, query, normalize([]), RESULTS)).hits.map(rowOfHit)
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return undefined
    throw error
  }
}

function results(page: PageContext, rows: readonly ProjectRow[] | undefined, known: ReadonlySet<string>): Part {
  const { t } = page.language
  if (rows === undefined) return html`<p class="soft">${t('collections.search.unavailable')}</p>`
  if (rows.length === 0) return html`<p class="soft">${t('collections.search.none')}</p>`
  const items = rows.map((row) => {
    const details = [row.by?.name, t('publish.downloads', { count: row.downloads })].filter(Boolean).join(' · ')
    const button = known.has(row.id)
      ? html`<span class="soft small">${icon(page, 'check')} ${t('collections.added')}</span>`
      : html`<button class="tight" name="do" value="add.${row.id}">${icon(page, 'plus')}${t('collections.add.do')}<span class="vh"> ${row.name}</span></button>`
    return html`<li><span class="who">${tile(page, row, 36)}<span><a href="${pathTo(page, row.path)}"><bdi>${row.name}</bdi></a><small>${details}</small></span></span><span class="act">${button}</span></li>
`
  })
  return html`<div class="entries-box"><ul class="entries places">${items}</ul></div>`
}
