// Draws the dependencies of a version: a row for each, and the field that adds one.
import { DEPENDENCY_TYPES } from '#features/catalogue/versions/kinds.ts'
import { hiddenField, textField } from '#platform/html/forms.ts'
import { attributes, html, type Markup } from '#platform/html/html.ts'
import { icon } from '#platform/html/page-context.ts'
import { sheetPart } from '#platform/html/work/frame.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import type { FormState } from '#web/kit/work/form-page.ts'
import { sourceText } from './source-text.ts'
import type { ProposalsOf } from './upload-data.ts'
import type { DependencyRow } from './upload-form.ts'

type Drawn = {
  rows: readonly DependencyRow[]
  names: ReadonlyMap<string, string>
  proposals: ProposalsOf | undefined
  state: FormState
  /** Whether rows cannot be added and removed. Default: false */
  isFixed?: boolean
}

export function dependencyPart(request: OwnRequest, { rows, names, proposals, state, isFixed = false }: Drawn): Markup {
  const { page } = request
  const { t } = page.language
  const items = rows.map((row, index) => dependencyItem(request, row, { index, names, proposals, isFixed }))
  const errors = state.errors.filter(({ field }) => field === 'dependencies')
  const add = html`<div class="line">${textField(page, { name: 'dep_find', label: t('upload.dependency.find'), hint: t('upload.dependency.find.hint'), isOptional: true, isName: true, maxLength: 256, value: state.text('dep_find'), errors: state.errors })}<button name="do" value="find" formnovalidate>${icon(page, 'plus')}${t('upload.dependency.add')}</button></div>`
  const content = html`${errors.map(({ message, lang }) => html`<p class="error"${attributes({ lang: lang !== page.language.tag && lang })}>${icon(page, 'warning')}<span>${message}</span></p>`)}
<div class="entries-box" data-dependencies>${items.length === 0 ? html`<p class="hint">${t('upload.dependency.none')}</p>` : html`<ul class="entries">${items}</ul>`}</div>
${!isFixed && add}`
  return sheetPart({ id: 'dependencies', title: t('upload.dependencies'), content })
}

function dependencyItem(
  request: OwnRequest,
  { declared, project, file, version, type, isResolved }: DependencyRow,
  {
    index,
    names,
    proposals,
    isFixed,
  }: { index: number; names: ReadonlyMap<string, string>; proposals: ProposalsOf | undefined; isFixed: boolean },
): Markup {
  const { page } = request
  const { t } = page.language
  const source = proposals?.dependencies.find(({ declared_id }) => declared !== '' && declared_id === declared)?.source
  const name = names.get(project) ?? (file || declared || project)
  const isOpen = project === '' && (file === '' || !isResolved)
  const labels = {
    required: t('upload.dependency.required'),
    optional: t('upload.dependency.optional'),
    incompatible: t('upload.dependency.incompatible'),
    embedded: t('upload.dependency.embedded'),
  }
  const options = DEPENDENCY_TYPES.map(
    (value) => html`<option${attributes({ value, selected: value === type })}>${labels[value]}</option>`,
  )
  const unresolved = html`<div class="across"><code dir="auto">${declared}</code><p class="error">${icon(page, 'warning')}<span>${t('upload.dependency.unresolved')}</span></p><label class="hint" for="dep-file-${index}">${t('upload.dependency.external')}</label><input type="text" id="dep-file-${index}" name="dep_file" value="${file}" maxlength="255" autocapitalize="none" spellcheck="false"></div>`
  const resolved = html`<span class="who"><span><b dir="auto">${name}</b>${file !== '' && html`<small>${t('upload.dependency.is-external')}</small>`}</span></span>${hiddenField('dep_file', file)}`
  return html`<li>${hiddenField('dep_declared', declared)}${hiddenField('dep_project', project)}${hiddenField('dep_version', version)}${hiddenField('dep_resolved', isOpen ? '0' : '1')}${isOpen ? unresolved : resolved}
<span class="set"><label for="dep-type-${index}">${t('upload.dependency.type')}<span class="vh">, ${name}</span></label><select id="dep-type-${index}" name="dep_type">${options}</select></span>
<span class="why">${source !== undefined && sourceText(request, source)}</span>
<span class="act">${!isFixed && html`<button class="tight" name="do" value="drop.${index}" formnovalidate>${icon(page, 'x')}<span class="vh">${t('upload.remove', { name })}</span></button>`}</span></li>
`
}
