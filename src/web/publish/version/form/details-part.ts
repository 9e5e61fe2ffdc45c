// Draws the details of a version: number, title, channel, loaders, game versions and environment, with the sources of the
// proposals.

import { VERSION_TYPES } from '#features/catalogue/versions/kinds.ts'
import { versionFields } from '#features/catalogue/versions/publish/requests.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { fieldsOf, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { limitsOf } from '#web/kit/forms/fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { fieldTexts } from '#web/site/lists/rows.ts'
import { environmentText, tagName, termName } from '#web/site/names.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon } from '#web/ui/page-context.ts'
import { chips, optionCards } from '#web/ui/parts/choices.ts'
import { selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import type { ManagedProject } from '../../project/managed-project.ts'
import { errorsOfPart } from './file-errors.ts'
import { sourceText } from './source-text.ts'
import type { ProposalsOf } from './upload-data.ts'
import type { VersionValues } from './version-values.ts'

/** Number of releases that are shown; older versions and snapshots are in a list that opens. */
const RECENT_RELEASES = 12

type Details = ManagedProject & { proposals?: ProposalsOf | undefined; previous?: VersionView | undefined }
type Drawn = { state: FormState; values: VersionValues }
type Field = Exclude<keyof ProposalsOf, 'file' | 'unreadable_manifests' | 'dependencies'>

export function detailsPart(
  request: OwnRequest,
  data: Details,
  { state, values, text }: Drawn & { text?: string },
): Markup {
  const { page, deps, t } = request
  const { errors } = state
  const from = (field: Field): Part => proposalHint(request, data.proposals, field)
  const { previous } = data
  const numberHint = html`${t('upload.number.hint')}${previous !== undefined && html` ${t('upload.number.latest', { number: previous.version_number })}`}`
  const content = html`<div class="pair">${textField(page, { name: 'version_number', label: t('upload.number'), from: from('version_number'), hint: numberHint, value: state.text('version_number', values.version_number), ...limitsOf(versionFields.version_number), isCode: true, errors })}
${textField(page, { name: 'name', label: t('upload.name'), from: from('name'), hint: t('upload.name.hint'), value: state.text('name', values.name), ...limitsOf(versionFields.name), errors })}</div>
${channelCards(request, { chosen: state.text('version_type', values.version_type), hint: from('version_type') })}
${loaderChips(request, data, { state, values, hint: from('loaders'), packHint: from('mrpack_loaders') })}
${gameVersionChips(request, { state, values, previous, hint: from('game_versions') })}
${environmentField(request, deps.taxonomy, { state, values, hint: from('environment') })}`
  return sheetPart({ id: 'details', title: t('upload.details'), text, content })
}

/** Says where the value comes from, or offers the values of sources that disagree. */
function proposalHint(request: OwnRequest, proposals: ProposalsOf | undefined, field: Field): Part {
  const list = proposals?.[field].proposals ?? []
  const { t } = request
  return list.map(({ value, source }) => {
    const shown = list.length > 1 ? html`${t('upload.offered', { value: [value].flat().join(', ') })} ` : ''
    return html`${shown}<span data-from="${field}">${sourceText(request, source)}</span> `
  })
}

function channelCards({ page }: OwnRequest, { chosen, hint }: { chosen: string; hint: Part }): Markup {
  const { t } = page.language
  const labels = {
    release: [t('upload.channel.release'), t('upload.channel.release.text')],
    beta: [t('upload.channel.beta'), t('upload.channel.beta.text')],
    alpha: [t('upload.channel.alpha'), t('upload.channel.alpha.text')],
  } as const
  const options = VERSION_TYPES.map((value) => ({
    value,
    label: labels[value][0],
    text: labels[value][1],
    isChosen: value === chosen,
  }))
  return optionCards({ legend: html`${t('upload.channel')} ${hint}`, name: 'version_type', options })
}

/** Offers the loaders of the project's types; a project without versions has none, so all loaders are offered. */
function loaderChips(
  request: OwnRequest,
  { view }: ManagedProject,
  { state, values, hint, packHint }: Drawn & { hint: Part; packHint: Part },
): Markup {
  const { page, deps, t } = request
  const chosen = state.list('loaders', values.loaders)
  const types = view.project_types
  const offered = [...deps.taxonomy.loaders.values()].filter(
    ({ name, project_types }) =>
      types.length === 0 || chosen.includes(name) || project_types.some((type) => types.includes(type)),
  )
  const options = offered.map(({ name }) => ({
    value: name,
    label: tagName(page.language, name),
    isChosen: chosen.includes(name),
  }))
  const pack = deps.taxonomy.fields.get('mrpack_loaders')?.enumValues
  const packChosen = state.list('mrpack_loaders', values.mrpack_loaders)
  const isPack = options.some(({ value }) => value === 'mrpack')
  return html`${chips(page, { legend: t('upload.loaders'), name: 'loaders', hint, error: errorsOfPart(page, state, 'loaders'), options })}
${isPack && pack !== undefined && chips(page, { legend: t('upload.pack-loaders'), name: 'mrpack_loaders', hint: packHint, error: errorsOfPart(page, state, 'mrpack_loaders'), options: [...pack.keys()].map((name) => ({ value: name, label: tagName(page.language, name), isChosen: packChosen.includes(name) })) })}`
}

function gameVersionChips(
  request: OwnRequest,
  { state, values, previous, hint }: Drawn & { previous: VersionView | undefined; hint: Part },
): Markup {
  const { page, deps, t } = request
  const chosen = new Set(state.list('game_versions', values.game_versions))
  const all = [...(deps.taxonomy.fields.get('game_versions')?.enumValues?.values() ?? [])].toSorted(
    (a, b) => b.rank - a.rank,
  )
  const recent = all.filter(({ metadata }) => metadata?.['type'] === 'release').slice(0, RECENT_RELEASES)
  const isRecent = new Set(recent.map(({ value }) => value))
  const older = all.filter(({ value }) => !isRecent.has(value))
  const before = new Set(previous === undefined ? [] : fieldTexts(previous, 'game_versions'))
  const isNew = (value: string): boolean => before.size > 0 && chosen.has(value) && !before.has(value)
  const option = ({ value }: { value: string }) => ({
    value,
    label: value,
    isChosen: chosen.has(value),
    isNew: isNew(value),
  })
  const shown = [...recent, ...older.filter(({ value }) => chosen.has(value))]
  const rest = older
    .filter(({ value }) => !chosen.has(value))
    .map(({ value }) => {
      const box = attributes({ type: 'checkbox', name: 'game_versions', value })
      return html`<label class="chip"><input${box}>${icon(page, 'check')}${value}</label>`
    })
  return html`${chips(page, { legend: t('upload.game-versions'), name: 'game_versions', hint, error: errorsOfPart(page, state, 'game_versions'), options: shown.map(option) })}
<details class="more"><summary>${t('upload.older')}</summary><div class="chips">${rest}</div></details>`
}

function environmentField({ page }: OwnRequest, taxonomy: Taxonomy, { state, values, hint }: Drawn & { hint: Part }) {
  const { t } = page.language
  const chosen = state.list('loaders', values.loaders)
  if (chosen.length > 0 && !fieldsOf(taxonomy, chosen).includes('environment')) return false
  const known = [...(taxonomy.fields.get('environment')?.enumValues?.keys() ?? [])]
  const current = state.text('environment', values.environment)
  return selectField(page, {
    name: 'environment',
    label: t('upload.environment'),
    from: hint,
    hint: t('upload.environment.hint'),
    isOptional: true,
    errors: state.errors,
    choices: [
      { value: '', label: t('upload.environment.none'), isChosen: current === '' },
      ...known.map((value) => ({
        value,
        label: environmentText(page.language, [], value) ?? termName(value),
        isChosen: value === current,
      })),
    ],
  })
}
