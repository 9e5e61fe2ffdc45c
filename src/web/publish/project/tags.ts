// Project settings: categories and the licence.

import { CATEGORIES_MAX, OTHER_NAMES_MAX } from '#features/catalogue/projects/fields.ts'
import { validationError } from '#lib/errors.ts'
import { listLicenses } from '#taxonomy/licenses.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { conflictNote, editBase } from '#web/kit/forms/edits.ts'
import { factList } from '#web/kit/forms/fields.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { tagName, tagNames } from '#web/site/names.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { saveForm } from '#web/ui/parts/actions.ts'
import { chips } from '#web/ui/parts/choices.ts'
import { selectField, textField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { type ManagedProject, may, saveFields } from './managed-project.ts'
import { projectForm, showProjectSettings } from './settings-frame.ts'

const LABELS = {
  categories: 'The featured tags',
  additional_categories: 'The additional tags',
  license_id: 'The licence',
  license_url: 'The URL of the licence',
  other_names: 'The other names',
}

const ALL_RIGHTS_RESERVED = 'LicenseRef-All-Rights-Reserved'
/** Value of the list that leads to the field for an expression. */
const OTHER = 'other'
const EXPRESSION = 'licence_expression'

export function tagPages(pages: Pages, taxonomy: Taxonomy): void {
  projectForm(pages, taxonomy, {
    below: '/settings/tags',
    name: 'manageTags',
    shows: 'Categories, other names and licence',
    api: 'getLicense',
    show: showTags,
    commands: { save },
    labels: LABELS,
  })
}

const editable = ({ view }: ManagedProject) => ({
  categories: view.categories,
  additional_categories: view.additional_categories,
  license_id: view.license.id,
  license_url: view.license.url ?? '',
  other_names: view.other_names.join(', '),
})

async function save(request: OwnRequest, data: ManagedProject, state: FormState): Promise<Outcome> {
  const { license_id, license_url, other_names, ...others } = state.edited(editable(data))
  if (state.list('categories').length > CATEGORIES_MAX)
    throw validationError('categories', `must be at most ${CATEGORIES_MAX}`)
  await saveFields(request, data, {
    ...others,
    ...(other_names === undefined ? {} : { other_names: namesIn(other_names) }),
    ...(license_id === undefined
      ? {}
      : { license_id: license_id === OTHER ? state.text(EXPRESSION).trim() : license_id }),
    ...(license_url === undefined ? {} : { license_url: license_url === '' ? null : license_url }),
  })
  return { done: 'saved' }
}

const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

function showTags(request: OwnRequest, data: ManagedProject, state: FormState) {
  const { page, t } = request
  const isEditable = may(data, 'EDIT_DETAILS') || state.isSubmitted
  return showProjectSettings(request, data, {
    section: '/tags',
    heading: t('manage.tags'),
    text: t('manage.tags.text'),
    needs: 'EDIT_DETAILS',
    form: state,
    body: isEditable ? tagsForm(request, data, state) : facts(page, data),
  })
}

/** Returns the categories of the project's types, or of all types before the first version. */
function categoriesFor({ deps }: OwnRequest, { view }: ManagedProject): string[] {
  const { categoriesByType } = deps.taxonomy
  const types = view.project_types.filter((type) => categoriesByType.has(type))
  const shown = types.length === 0 ? [...categoriesByType.keys()] : types
  const names = shown.flatMap((type) => [...(categoriesByType.get(type)?.keys() ?? [])])
  return [...new Set([...names, ...view.categories, ...view.additional_categories])].sort()
}

function tagsForm(request: OwnRequest, data: ManagedProject, state: FormState): Markup {
  const { page, t } = request
  const { errors } = state
  const current = editable(data)
  const names = categoriesFor(request, data)
  const labels = {
    categories: t('manage.tags.featured'),
    additional_categories: t('manage.tags.more'),
    license_id: t('manage.licence'),
    license_url: t('manage.licence.url'),
    other_names: t('manage.other-names'),
  }
  const group = (name: 'categories' | 'additional_categories', hint: string): Part => {
    const chosen = new Set(state.list(name, current[name]))
    const error = errors.find(({ field }) => field === name)
    return chips(page, {
      legend: labels[name],
      name,
      hint,
      error: error !== undefined && html`<p class="error"><span>${error.message}</span></p>`,
      options: names.map((value) => ({ value, label: tagName(page.language, value), isChosen: chosen.has(value) })),
    })
  }
  const tags = html`${editBase(state, current)}${conflictNote(page, state, labels)}
${group('categories', t('manage.tags.featured.hint', { count: CATEGORIES_MAX }))}
${group('additional_categories', t('manage.tags.more.hint'))}
${textField(page, { name: 'other_names', label: labels.other_names, hint: t('manage.other-names.hint', { count: OTHER_NAMES_MAX }), value: state.text('other_names', current.other_names), isOptional: true, errors })}`
  return saveForm(page, {
    path: `${data.settings}/tags`,
    parts: [
      sheetPart({ id: 'tags', content: tags }),
      sheetPart({ id: 'licences', title: t('manage.licence'), content: licenceFields(request, data, state) }),
    ],
  })
}

function licenceFields({ page, t, deps }: OwnRequest, { view }: ManagedProject, state: FormState): Part {
  const { errors } = state
  const { licenses: first } = deps.taxonomy
  const listed = listLicenses(first)
  const isListed = view.license.id === ALL_RIGHTS_RESERVED || listed.some(({ short }) => short === view.license.id)
  const chosen = state.text('license_id', isListed ? view.license.id : OTHER)
  const names = new Map(listed.map(({ short, name }) => [short, name]))
  const choice = (value: string, label: string) => ({ value, label, isChosen: value === chosen })
  const choices = [
    choice(ALL_RIGHTS_RESERVED, t('site.licence.all-rights')),
    choice(OTHER, t('manage.licence.other')),
    ...[...first.keys()].map((id) => choice(id, `${id}: ${names.get(id) ?? id}`)),
    ...listed
      .filter(({ short }) => !first.has(short))
      // The names of hundreds of licences would be most of the page.
      .map(({ short }) => choice(short, short)),
  ]
  const expression = chosen === OTHER ? state.text(EXPRESSION, view.license.id) : ''
  return html`${selectField(page, { name: 'license_id', label: t('manage.licence'), choices, errors })}
${textField(page, { name: EXPRESSION, label: t('manage.licence.expression'), hint: t('manage.licence.expression.hint'), value: expression, maxLength: 2048, isCode: true, isOptional: true })}
${textField(page, { name: 'license_url', label: t('manage.licence.url'), value: state.text('license_url', view.license.url ?? ''), type: 'url', maxLength: 2048, isOptional: true, errors })}`
}
function facts(page: PageContext, { view }: ManagedProject): Markup {
  const { language } = page
  const { t } = language
  const content = factList(page, [
    [t('manage.tags.featured'), tagNames(language, view.categories).join(', ')],
    [t('manage.tags.more'), tagNames(language, view.additional_categories).join(', ')],
    [t('manage.other-names'), view.other_names.join(', ')],
    [t('manage.licence'), view.license.name === '' ? view.license.id : view.license.name],
  ])
  return sheetPart({ id: 'tags', content })
}
