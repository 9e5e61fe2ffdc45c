// The projects of a collection in their order: position, buttons, and whether each fits the setup of the viewer.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listUpdates } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { readVersionsInOrder } from '#features/catalogue/versions/lookup/version-cache.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { isSet, type Setup } from '#web/kit/cookies.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS, projectPath } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { setupName } from '#web/site/names.ts'
import { setupFilter } from '#web/site/project/offer.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, pager } from '#web/ui/parts/lists.ts'
import { type ManagedCollection, shownIds } from './managed-collection.ts'

type ListedRow = {
  id: string
  name: string
  path: string
  tile: Markup
  /** Number of the newest version that fits the setup; null if none fits, undefined without a setup. */
  version: string | null | undefined
}

/** One page of the projects. */
export type Listed = {
  rows: readonly ListedRow[]
  setup: Setup
  /** Number of projects on the pages before. */
  start: number
  pages: Parameters<typeof pager>[1]
}

/** Loads the projects with these IDs, with a constant number of statements. */
export async function loadListed(
  { deps, viewer, page, setup }: OwnRequest,
  ids: readonly string[],
  where: Omit<Listed, 'rows' | 'setup'>,
): Promise<Listed> {
  const views = (ids.length === 0 ? [] : await listVisibleProjects(deps, viewer, ids)).map(viewOf)
  const checks = views.map((view) => ({
    projectId: view.id,
    filter: setupFilter(deps.taxonomy, setup, view.project_types),
  }))
  const versions = isSet(setup) ? await readVersionsInOrder(deps, await listUpdates(deps, checks)) : []
  const rows = views.map((view, index) => {
    const version = versions[index]
    return {
      id: view.id,
      name: view.name,
      path: projectPath(view),
      tile: tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 36, index < 5),
      version: !isSet(setup) ? undefined : version === undefined ? null : viewOf(version).version_number,
    }
  })
  return { ...where, rows, setup }
}

export function projectsPart(
  page: PageContext,
  { data, state, listed }: { data: ManagedCollection; state: FormState; listed: Listed },
): Markup {
  const { t } = page.language
  const entered = new Set(shownIds(state))
  const rows = listed.rows.map((row, index) =>
    entry(page, row, { state, entered, place: listed.start + index + 1, count: data.view.projects.length }),
  )
  const content =
    rows.length === 0
      ? emptyState(page, { icon: 'bookmark', title: t('collections.empty') })
      : html`<div class="entries-box"><ol class="entries places" data-order="place" start="${listed.start + 1}">${rows}</ol></div>
${pager(page, listed.pages)}`
  return sheetPart({
    id: 'projects',
    title: t('publish.projects'),
    ...(rows.length === 0 ? {} : { text: setupText(page, listed.setup) }),
    content,
  })
}

/** Renders the setup that the projects are compared with, with a link to change it. */
function setupText(page: PageContext, setup: Setup): Part {
  const { t } = page.language
  const change = html`<a href="${pathTo(page, PATHS.setup)}">${t('reports.follows.change-setup')}</a>`
  if (!isSet(setup)) return html`${t('collections.order')} ${t('collections.no-setup')} ${change}`
  return html`${t('collections.order')} ${t('collections.setup', { setup: setupName(page.language, setup) })} ${change}`
}

type Entry = { state: FormState; entered: ReadonlySet<string>; place: number; count: number }

function entry(page: PageContext, row: ListedRow, { state, entered, place, count }: Entry): Markup {
  const { t } = page.language
  const { id, name } = row
  const field = `place.${id}`
  const error = state.errors.find((each) => each.field === field)
  // Projects that came to this page since the form was loaded have no entered position.
  const value = entered.has(id) ? state.text(field, String(place)) : String(place)
  const input = attributes({
    type: 'number',
    id: field,
    name: field,
    value,
    min: 1,
    max: count,
    'aria-invalid': error !== undefined && 'true',
    'aria-describedby': error !== undefined && `${field}-e`,
  })
  const button = (command: string, symbol: IconName, label: string, isShown: boolean) =>
    isShown &&
    html`<button class="tight" name="do" value="${command}.${id}" title="${label}">${icon(page, symbol)}<span class="vh">${label}: ${name}</span></button>`
  return html`<li data-item="${id}"><span class="who">${row.tile}<span><a href="${pathTo(page, row.path)}"><bdi>${name}</bdi></a>${fits(page, row)}</span></span>
<span class="set"><label for="${field}">${t('collections.place')}<span class="vh"> ${name}</span></label><input${input}></span>
<span class="act line">${button('earlier', 'arrow-up', t('collections.earlier'), place > 1)}${button('later', 'arrow-down', t('collections.later'), place < count)}${button('remove', 'x', t('people.remove'), true)}</span>${error !== undefined && html`<small class="error why" id="${field}-e"${attributes({ lang: error.lang })}>${error.message}</small>`}</li>
`
}

/** Whether the project fits the setup. */
function fits(page: PageContext, { version }: ListedRow): Part {
  const { t } = page.language
  if (version === undefined) return null
  if (version === null) return html`<small>${icon(page, 'warning')}${t('collections.fits.no')}</small>`
  return html`<small>${icon(page, 'check')}${t('collections.fits', { version })}</small>`
}
