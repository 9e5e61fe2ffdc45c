// The settings of the pack that a visitor composes: game version, loader and name.
import { isLoaderVersion } from '#features/catalogue/resolve/requests.ts'
import { releasesOf } from '#features/reading/search/facet-counts.ts'
import { SETUP_TYPES, setupLoaders } from '#web/kit/cookies.ts'
import { errorsOf, type FormRefusal } from '#web/kit/forms/read-form.ts'
import { PATHS } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { type FormError, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { tagName } from '../names.ts'
import { type PackState, packPath } from './pack-state.ts'

/** Maximum number of links to versions of the loader. */
const LINKED_MAX = 3

/** Leads to the same page with other values. */
export function settingsForm(
  request: PageRequest,
  state: PackState,
  loaderVersions: readonly string[],
  refusal: FormRefusal | undefined,
): Markup {
  const { page, deps } = request
  const { language } = page
  const errors = [...errorsOf({ refusal }), ...ignoredValues(request, state)]
  const any = { value: '', label: language.t('site.setup.any') }
  const choose = (values: readonly string[], chosen: string, label: (value: string) => string) => [
    { ...any, isChosen: chosen === '' },
    ...values.map((value) => ({ value, label: label(value), isChosen: value === chosen })),
  ]
  const loaders = SETUP_TYPES.flatMap((type) => setupLoaders(deps.taxonomy, [type]))
  const name = (value: string) => tagName(language, value)
  return html`<form method="get" action="${pathTo(page, PATHS.pack)}" id="setup">
${hiddenField('projects', state.projects.join(','))}${state.pack !== '' && hiddenField('pack', state.pack)}
${selectField(page, { name: 'game_version', errors, label: language.t('site.setup.version'), choices: choose(releasesOf(deps.taxonomy), state.gameVersion, (value) => value) })}
${selectField(page, { name: 'loader', errors, label: language.t('site.setup.loader'), choices: choose([...new Set(loaders)], state.loader, name) })}
${textField(page, { name: 'loader_version', errors, label: language.t('site.pack.loader-version'), hint: loaderVersionHint(page, state, loaderVersions), value: state.loaderVersion, suggestions: loaderVersions, maxLength: 64, isOptional: state.loader === '' })}
${textField(page, { name: 'name', errors, label: language.t('site.pack.name'), hint: language.t('site.pack.name.hint'), value: state.name, maxLength: 128, isOptional: true, isUnmarked: true })}
<button>${language.t('site.pack.update')}</button>
</form>`
}

/** The values of the address or the form that the pack cannot have. */
function ignoredValues({ query, language }: PageRequest, state: PackState): FormError[] {
  const { t } = language
  const [loader, gameVersion] = [query('loader'), query('game_version')].map((value) => value.slice(0, 64))
  const errors: (FormError | false)[] = [
    state.loader === '' &&
      loader !== '' && { field: 'loader', message: t('site.pack.ignored.loader', { value: loader ?? '' }) },
    state.gameVersion === '' &&
      gameVersion !== '' && {
        field: 'game_version',
        message: t('site.pack.ignored.game-version', { value: gameVersion ?? '' }),
      },
    state.loaderVersion !== '' &&
      !isLoaderVersion(state.loaderVersion) && {
        field: 'loader_version',
        message: t('site.pack.ignored.loader-version', { value: state.loaderVersion }),
      },
  ]
  return errors.filter((error) => error !== false)
}

/** Links to the page with each proposed version of the loader, so that nobody has to know one. */
function loaderVersionHint(page: PageContext, state: PackState, versions: readonly string[]): Markup | string {
  const { language } = page
  const hint = language.t('site.pack.loader-version.hint')
  if (versions.length === 0) return hint
  const links = versions.slice(0, LINKED_MAX).map((loaderVersion, index) => {
    const href = pathTo(page, packPath({ ...state, loaderVersion }))
    return html`${index > 0 && ', '}<a href="${href}"><bdi>${loaderVersion}</bdi></a>`
  })
  return html`${hint} ${language.rich('site.pack.loader-version.used', { versions: html`${links}` })}`
}
