// The form for the visitor's setup: game version and loader. Lists then show compatible projects.
import type { FastifyReply } from 'fastify'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import { checkSetup, isSet, SETUP_TYPES, setupLoaders, writeChoice } from '#web/kit/cookies.ts'
import { ownPath, PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { attributes, html, type Markup } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'
import { tagName, typesName } from './names.ts'

/** The form has no token, so that pages that contain it can be cached. */
export function setupForm({ page, deps, setup }: Pick<PageRequest, 'page' | 'deps' | 'setup'>): Markup {
  const { language } = page
  const any = language.t('site.setup.any')
  const option = (value: string, name: string, chosen: string) =>
    html`<option${attributes({ value, selected: value === chosen })}>${name}</option>`
  const versions = releasesOf(deps.taxonomy).map((version) => option(version, version, setup.gameVersion))
  const loaders = SETUP_TYPES.map((type) => {
    const names = setupLoaders(deps.taxonomy, [type]).map((loader) =>
      option(loader, tagName(language, loader), setup.loader),
    )
    return names.length > 0 && html`<optgroup label="${typesName(language, type)}">${names}</optgroup>`
  })
  return html`<form class="setup" id="setup" method="post" action="${pathTo(page, PATHS.setup)}" aria-labelledby="setup-head" autocomplete="off" data-send>${hiddenField('return', page.address)}<h2 id="setup-head">${icon(page, 'joystick')}${language.t('site.setup')}<button class="tight">${language.t('site.setup.set')}</button></h2><div class="pair"><label>${language.t('site.setup.version')}<select name="game_version">${option('', any, setup.gameVersion)}${versions}</select></label><label>${language.t('site.setup.loader')}<select name="loader">${option('', any, setup.loader)}${loaders}</select></label></div><p class="small">${language.t('site.setup.text')}</p></form>`
}

export async function saveSetup({ deps, reply, field, redirect }: PageRequest): Promise<FastifyReply> {
  const setup = checkSetup(deps.taxonomy, { gameVersion: field('game_version'), loader: field('loader') })
  const value = isSet(setup) ? `${setup.gameVersion}|${setup.loader}` : ''
  writeChoice(reply, deps.config, { name: 'setup', value })
  // A list that ignored the previous setup shows the new one.
  return redirect(
    (ownPath(field('return')) ?? '/').replace(/([?&])setup=any(&|$)/, (_all, start, end) => (end === '' ? '' : start)),
  )
}
