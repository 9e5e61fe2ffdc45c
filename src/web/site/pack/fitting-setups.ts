// The setups that fit all projects of a pack, or most of them, as links that choose them.
import { findCompatibility } from '#features/catalogue/resolve/compatibility.ts'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { setupName } from '../names.ts'
import { type PackState, packPath, type ShownPack } from './pack-state.ts'

/** Number of setups that the page names. */
const SHOWN_MAX = 8

/** Renders the setups. Without two projects, there is nothing to compare. */
export async function fittingSetups(request: PageRequest, { state, projects }: ShownPack): Promise<Part> {
  const { deps, page, language } = request
  const ids = [...new Set(state.projects.flatMap((name) => idsNamed(projects, name)))]
  if (ids.length < 2) return null
  const { setups, nearest } = await findCompatibility(deps, ids)
  const releases = new Set(releasesOf(deps.taxonomy))
  const shown = [...setups.filter((each) => releases.has(each.game_version)), ...setups]
  const link = (setup: { game_version: string; loader: string | null }) => {
    const next = { ...state, gameVersion: setup.game_version, loader: setup.loader ?? state.loader, loaderVersion: '' }
    const name = setupName(language, { gameVersion: setup.game_version, loader: setup.loader ?? '' })
    const isCurrent = isChosen(state, setup)
    return html`<a class="button tight" href="${pathTo(page, packPath(next))}"${isCurrent && html` aria-current="true"`}>${name}</a>`
  }
  if (shown.length > 0)
    return html`<section class="needed"><h2>${language.t('site.pack.fits')}</h2>
<div class="acts">${[...new Set(shown)].slice(0, SHOWN_MAX).map(link)}</div></section>`
  if (nearest.length === 0) return null
  const items = nearest.map(({ missing, ...setup }) => {
    const names = missing.map((id) => projects.get(id)?.name ?? id)
    const without = language.t('site.pack.fits.without', { names: new Intl.ListFormat(language.tag).format(names) })
    return html`<li>${link(setup)} <span class="soft">${without}</span></li>`
  })
  return html`<section class="needed"><h2>${language.t('site.pack.fits.nearest')}</h2>
<ul class="stack">${items}</ul></section>`
}

const isChosen = (state: PackState, setup: { game_version: string; loader: string | null }): boolean =>
  state.gameVersion === setup.game_version && (setup.loader === null || setup.loader === state.loader)

/** Returns the project with an ID or slug. The address can name deleted projects. */
function idsNamed(projects: ShownPack['projects'], name: string): string[] {
  if (projects.has(name)) return [name]
  return [...projects.values()].filter(({ slug }) => slug.toLowerCase() === name.toLowerCase()).map(({ id }) => id)
}
