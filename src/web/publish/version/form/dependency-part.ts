// Draws the dependencies of a version: a row for each with its type and version, a search for those without a project, and
// the field that adds one.
import { DEPENDENCY_TYPES } from '#features/catalogue/versions/kinds.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { projectPath } from '#web/kit/paths.ts'
import { tile } from '#web/site/lists/rows.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { hiddenField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { searchField } from './dependency-commands.ts'
import type { DependencyData, DependencySearch } from './dependency-data.ts'
import { errorsOfPart } from './file-errors.ts'
import { sourceText } from './source-text.ts'
import type { ProposalsOf } from './upload-data.ts'
import { type DependencyRow, isOpen } from './version-values.ts'

type Drawn = {
  data: DependencyData
  proposals?: ProposalsOf | undefined
  /** The version whose dependencies can be copied. */
  previous?: VersionView | undefined
  state: FormState
}

export function dependencyPart(request: OwnRequest, of: Drawn): Markup {
  const { page, t } = request
  const { data, previous, state } = of
  const items = data.rows.map((row, index) => dependencyItem(request, row, { ...of, index }))
  const heads = ['project', 'type', 'version', 'source'] as const
  const head = html`<li class="heads" aria-hidden="true">${heads.map((name) => html`<span>${t(`upload.dependency.${name}`)}</span>`)}<span></span></li>`
  const copy =
    previous !== undefined &&
    previous.dependencies.length > 0 &&
    html`<button name="do" value="copy" formnovalidate data-now>${t('upload.dependency.copy', { number: previous.version_number })}</button>`
  const content = html`${errorsOfPart(page, state, 'dependencies')}
<div class="entries-box">${items.length === 0 ? html`<p class="hint">${t('upload.dependency.none')}</p>` : html`<ul class="entries">${head}${items}</ul>`}</div>
${data.rows.map((row, index) => isOpen(row) && openSearch(request, row, { ...of, index }))}
<div class="line low"><div class="grow">${textField(page, { name: 'dep_find', label: t('upload.dependency.find'), hint: t('upload.dependency.find.hint'), isOptional: true, isUnmarked: true, isName: true, maxLength: 256, value: state.text('dep_find'), errors: state.errors })}</div><button name="do" value="find" formnovalidate data-now>${icon(page, 'plus')}${t('upload.dependency.add')}</button>${copy}</div>
${searchResults(request, data.search, 'new')}`
  return sheetPart({ id: 'dependencies', title: t('upload.dependencies'), content })
}

function dependencyItem(
  request: OwnRequest,
  row: DependencyRow,
  { index, data, proposals }: Drawn & { index: number },
): Markup {
  const { page, t } = request
  const { declared, project, file, type } = row
  const proposed = proposals?.dependencies.find(({ declared_id, project_id }) =>
    declared === '' ? project !== '' && project_id === project : declared_id === declared,
  )
  const name = data.projects.get(project)?.name ?? (file || declared || project)
  const labels = {
    required: t('upload.dependency.required'),
    optional: t('upload.dependency.optional'),
    incompatible: t('upload.dependency.incompatible'),
    embedded: t('upload.dependency.embedded'),
  }
  const options = DEPENDENCY_TYPES.map(
    (value) => html`<option${attributes({ value, selected: value === type })}>${labels[value]}</option>`,
  )
  const subject = isOpen(row)
    ? html`<span class="who"><span><code dir="auto">${declared}</code><small class="error">${icon(page, 'warning')} ${t('upload.dependency.unresolved')}</small></span></span>`
    : knownSubject(request, row, data)
  return html`<li>${hiddenField('dep_declared', declared)}${hiddenField('dep_project', project)}${hiddenField('dep_file', file)}${subject}
<span class="set"><label for="dep-type-${index}">${t('upload.dependency.type')}<span class="vh">, ${name}</span></label><select id="dep-type-${index}" name="dep_type">${options}</select></span>
${versionChoice(request, row, { index, name, data })}
<span class="why">${proposed !== undefined && sourceText(request, proposed.source)}</span>
<span class="act"><button class="tight" name="do" value="drop.${index}" formnovalidate data-now>${icon(page, 'x')}<span class="vh">${t('upload.remove', { name })}</span></button></span></li>
`
}

function knownSubject({ page }: OwnRequest, { project, file }: DependencyRow, { projects }: DependencyData): Markup {
  const view = projects.get(project)
  if (view === undefined) {
    const small = file !== '' && html`<small>${page.language.t('upload.dependency.is-external')}</small>`
    return html`<span class="who"><span class="tile">${icon(page, 'file')}</span><span><b dir="auto">${file || project}</b>${small}</span></span>`
  }
  const image = tile(page, { iconUrl: view.icon_url, rawUrl: view.raw_icon_url }, 27)
  return html`<span class="who">${image}<span><a href="${pathTo(page, projectPath(view))}"><bdi>${view.name}</bdi></a><small dir="auto">${view.slug}</small></span></span>`
}

function versionChoice(
  { page }: OwnRequest,
  { project, version }: DependencyRow,
  { index, name, data }: { index: number; name: string; data: DependencyData },
): Markup {
  const { t } = page.language
  if (project === '') return html`<span class="set">${hiddenField('dep_version', '')}</span>`
  const known = data.versions.get(project) ?? []
  // A version that the viewer cannot see remains chosen.
  const hidden = version !== '' && !known.some(({ id }) => id === version)
  const choices = [...(hidden ? [{ id: version, version_number: version }] : []), ...known]
  const options = choices.map(
    ({ id, version_number: number }) =>
      html`<option${attributes({ value: id, selected: id === version })}>${number}</option>`,
  )
  return html`<span class="set"><label for="dep-version-${index}">${t('upload.dependency.version')}<span class="vh">, ${name}</span></label><select id="dep-version-${index}" name="dep_version"><option value="">${t('upload.dependency.any')}</option>${options}</select></span>`
}

/** The search for the project of a dependency that the manifest names, and the choice to keep it as external. */
function openSearch(request: OwnRequest, row: DependencyRow, { index, data, state }: Drawn & { index: number }) {
  const { page, t } = request
  const field = textField(page, {
    name: searchField(index),
    label: t('upload.dependency.find-for', { name: row.declared }),
    isOptional: true,
    isUnmarked: true,
    isName: true,
    maxLength: 256,
    value: state.text(searchField(index)),
    errors: state.errors,
  })
  return html`<div class="stack close"><div class="line low"><div class="grow">${field}</div><button name="do" value="search.${index}" formnovalidate data-now>${icon(page, 'search')}${t('upload.dependency.search')}<span class="vh">: ${row.declared}</span></button><button name="do" value="external.${index}" formnovalidate data-now>${t('upload.dependency.external')}<span class="vh">: ${row.declared}</span></button></div>
${searchResults(request, data.search, index)}</div>`
}

function searchResults({ page }: OwnRequest, search: DependencySearch | undefined, row: number | 'new'): Part {
  if (search?.row !== row) return false
  const { t } = page.language
  const buttons = search.hits.map(
    ({ project_id: id, name, author }) =>
      html`<button class="tight" name="do" value="choose.${row}.${id}" formnovalidate data-now>${t('upload.dependency.use', { name })}<small class="soft"> ${t('upload.dependency.by', { name: author })}</small></button>`,
  )
  return html`<div class="stack close" role="status"><p class="hint">${t('upload.dependency.results', { text: search.text })}</p><div class="line">${buttons}</div></div>`
}
