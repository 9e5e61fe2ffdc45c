import { hiddenField } from '#platform/html/forms.ts'
import { attributes, html, type Markup } from '#platform/html/html.ts'
import { icon, pathTo } from '#platform/html/page-context.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import { SETUP_PATH, setupLoaders, setupVersions } from '#web/kit/setup.ts'
import { tagName } from './names.ts'

/** Where a visitor says what they play. It carries no token, so that pages for everybody stay the same for everybody. */
export function setupForm({ page, deps, setup }: Pick<SiteRequest, 'page' | 'deps' | 'setup'>): Markup {
  const { language } = page
  const any = language.t('site.setup.any')
  const option = (value: string, name: string, chosen: string) =>
    html`<option${attributes({ value, selected: value === chosen })}>${name}</option>`
  const versions = setupVersions(deps.taxonomy).map((version) => option(version, version, setup.gameVersion))
  const loaders = setupLoaders(deps.taxonomy).map((loader) => option(loader, tagName(loader), setup.loader))
  return html`<form class="setup" id="setup" method="post" action="${pathTo(page, SETUP_PATH)}" aria-labelledby="setup-head" data-send>${hiddenField('return', page.address)}<h2 id="setup-head">${icon(page, 'joystick')}${language.t('site.setup')}<button class="tight">${language.t('site.setup.set')}</button></h2><div class="pair"><label>${language.t('site.setup.version')}<select name="game_version">${option('', any, setup.gameVersion)}${versions}</select></label><label>${language.t('site.setup.loader')}<select name="loader">${option('', any, setup.loader)}${loaders}</select></label></div><p class="small">${language.t('site.setup.text')}</p></form>`
}
