// The fields of a tag of each list: their controls, and the values that they send to the API.
import type { TagRow } from '#features/basics/tags/edit/tag-row.ts'
import { TAG_LISTS, type TagListName, type TagLists } from '#taxonomy/tag-lists.ts'
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { numberOf } from '#web/kit/forms/fields.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { tagName, termName } from '#web/site/names.ts'
import { html, type Part } from '#web/ui/html.ts'
import { messageOr } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { chips } from '#web/ui/parts/choices.ts'
import { checkbox, type InputField, selectField, textArea, textField } from '#web/ui/parts/fields.ts'
import { iconField } from './tag-icon.ts'

/** `row`: the present tag, undefined for a new one. */
export type Drawn = { page: PageContext; taxonomy: Taxonomy; state: FormState; row: TagRow | undefined }
type Values = Record<string, unknown>
/** `row` has the fields that the form does not show. */
type Read = { state: FormState; row: TagRow | undefined; nowMs: number }

/** Names of the fields at the beginning of error messages. */
export const LABELS = {
  value: 'The version',
  name: 'The name',
  slug: 'The name in URLs',
  id: 'The identifier',
  created: 'The date',
  type: 'The type',
  header: 'The header',
  project_type: 'The project type',
  project_types: 'The project types',
  games: 'The games',
  fields: 'The fields',
  icon: 'The icon',
  icon_file: 'The icon',
  banner: 'The banner',
  options: 'The values',
  default: 'The default',
  min: 'The lower limit',
  max: 'The upper limit',
  to: 'The new name',
  into: 'The other tag',
  rows: 'The list',
} as const

const FIELD_TYPES = TAG_LISTS.loader_fields.items.properties.type.enum
const VERSION_TYPES = ['release', 'snapshot', 'beta', 'alpha'] as const
const isEnum = (type: string): boolean => type === 'enum' || type === 'array_enum'
const present = <List extends TagListName>(row: TagRow | undefined) => (row ?? {}) as Partial<TagLists[List][number]>
const isOn = (state: FormState, name: string): boolean => state.list(name).includes('yes')

function text({ page, state }: Drawn, field: Omit<InputField, 'value' | 'errors'>, current = ''): Part {
  return textField(page, { ...field, value: state.text(field.name, current), errors: state.errors })
}

/** Renders a checkbox. Forms do not send an empty one, so a submitted form says that it contains it. */
function box({ page, state }: Drawn, name: string, current: boolean, key: BoxKey): Part {
  const { t } = page.language
  const isChecked = state.isSubmitted ? isOn(state, name) : current
  return checkbox({ name, value: 'yes', isChecked, label: t(`ops.tags.${key}`), hint: t(`ops.tags.${key}.hint`) })
}
type BoxKey = 'major' | 'offered' | 'donations' | 'optional'

const offered = (of: Drawn): Part => {
  const { hidden } = (of.row ?? {}) as { hidden?: boolean }
  return box(of, 'offered', hidden !== true, 'offered')
}

function group(
  of: Drawn,
  field: { name: string; legend: string; options: Iterable<string>; current: readonly string[] },
) {
  const { page, state } = of
  const chosen = new Set(state.isSubmitted ? state.list(field.name) : field.current)
  const error = state.errors.find(({ field: name }) => name === field.name)
  return chips(page, {
    legend: field.legend,
    name: field.name,
    error: error !== undefined && html`<p class="error"><span>${error.message}</span></p>`,
    options: [...field.options].map((value) => ({ value, label: termName(value), isChosen: chosen.has(value) })),
  })
}

type Fields = { draw(of: Drawn): Part | Promise<Part>; read(of: Read): Values }

const hiddenOf = (state: FormState): Values => (isOn(state, 'offered') ? { hidden: false } : { hidden: true })

/** Returns the time of a day: now for today, the stored time of the same day, otherwise noon. */
function instantOf(day: string, { row, nowMs }: Read): string {
  const { created } = present<'game_versions'>(row)
  const now = new Date(nowMs).toISOString()
  for (const time of [created, now]) if (time?.slice(0, 10) === day) return time
  const noon = `${day}T12:00:00.000Z`
  // The check of the API names the field.
  return Number.isNaN(Date.parse(noon)) ? day : noon
}

const gameVersion: Fields = {
  draw: (of) => {
    const { page, state, row } = of
    const { t } = page.language
    const { metadata, created } = present<'game_versions'>(row)
    const today = new Date(page.now).toISOString().slice(0, 10)
    const type = state.text('type', row === undefined ? 'release' : (metadata?.type ?? ''))
    const types = VERSION_TYPES.map((value) => ({
      value,
      label: messageOr(page.language, `ops.tags.type.${value}`, value),
      isChosen: value === type,
    }))
    const none = { value: '', label: t('ops.tags.type.none'), isChosen: type === '' }
    return html`${row === undefined && text(of, { name: 'value', label: t('ops.tags.version'), hint: t('ops.tags.version.hint'), maxLength: 64, isCode: true, hasFocus: true, autocomplete: 'off' })}
${text(of, { name: 'created', label: t('ops.tags.date'), hint: t('ops.tags.date.hint'), type: 'date' }, created?.slice(0, 10) ?? today)}
${selectField(page, { name: 'type', label: t('ops.tags.type'), choices: [...types, none], errors: state.errors })}
${box(of, 'major', metadata?.major === true, 'major')}
${offered(of)}`
  },
  read: (of) => {
    const { state, row } = of
    const type = state.text('type')
    const { major: _, type: __, ...rest } = present<'game_versions'>(row).metadata ?? {}
    return {
      ...(row === undefined ? { value: state.text('value').trim() } : {}),
      created: instantOf(state.text('created').trim(), of),
      metadata: { ...rest, ...(type === '' ? {} : { type }), major: isOn(state, 'major') },
      ...hiddenOf(state),
    }
  },
}

const loader: Fields = {
  draw: async (of) => {
    const { page, taxonomy, state, row } = of
    const { t } = page.language
    const {
      project_types = [],
      games = ['minecraft-java'],
      fields = ['game_versions'],
      icon = '',
    } = present<'loaders'>(row)
    return html`${row === undefined && nameField(of)}
${group(of, { name: 'project_types', legend: t('ops.tags.project-types'), options: taxonomy.projectTypes, current: project_types })}
${group(of, { name: 'games', legend: t('ops.tags.games'), options: taxonomy.games.keys(), current: games })}
${group(of, { name: 'fields', legend: t('ops.tags.loader-fields'), options: taxonomy.fields.keys(), current: fields })}
${await iconField(page, state.text('icon', icon), state.errors)}
${offered(of)}`
  },
  read: ({ state, row }) => ({
    ...(row === undefined ? { name: state.text('name').trim(), metadata: {} } : {}),
    project_types: state.list('project_types'),
    games: state.list('games'),
    fields: state.list('fields'),
    icon: state.text('icon'),
    ...hiddenOf(state),
  }),
}

const nameField = (of: Drawn): Part => {
  const { t } = of.page.language
  const shown = { label: t('ops.tags.name'), hint: t('ops.tags.name.hint'), isCode: true, hasFocus: true }
  return text(of, { name: 'name', maxLength: 64, autocomplete: 'off', ...shown })
}

const category: Fields = {
  draw: async (of) => {
    const { page, taxonomy, state, row } = of
    const { t } = page.language
    const { header = '', icon = '' } = present<'categories'>(row)
    const type = state.text('project_type', taxonomy.projectTypes[0])
    const choices = taxonomy.projectTypes.map((value) => ({ value, label: termName(value), isChosen: value === type }))
    const suggestions = [...new Set(taxonomy.categories.map((each) => each.header))]
    return html`${row === undefined && nameField(of)}
${row === undefined && selectField(page, { name: 'project_type', label: t('ops.tags.project-type'), choices, errors: state.errors })}
${text(of, { name: 'header', label: t('ops.tags.header'), hint: t('ops.tags.header.hint'), maxLength: 64, suggestions }, header === '' ? suggestions[0] : header)}
${await iconField(page, state.text('icon', icon), state.errors)}
${offered(of)}`
  },
  read: ({ state, row }) => ({
    ...(row === undefined
      ? { name: state.text('name').trim(), project_type: state.text('project_type'), ordering: 0 }
      : {}),
    header: state.text('header').trim(),
    icon: state.text('icon'),
    ...hiddenOf(state),
  }),
}

const lines = (typed: string): string[] =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const loaderField: Fields = {
  draw: (of) => {
    const { page, taxonomy, state, row } = of
    const { t } = page.language
    const { type = 'text', optional = true, name = '', min, max, ...field } = present<'loader_fields'>(row)
    const chosen = state.text('type', type)
    const choices = FIELD_TYPES.map((value) => ({ value, label: value, isChosen: value === chosen }))
    const values = [...(taxonomy.fields.get(name)?.enumValues?.keys() ?? [])].join('\n')
    const hasValues = (row === undefined || isEnum(type)) && name !== 'game_versions'
    const number = (field: 'min' | 'max', label: string, current: number | undefined) =>
      text(
        of,
        { name: field, label, inputMode: 'numeric', isOptional: true },
        current === undefined ? '' : String(current),
      )
    return html`${row === undefined && nameField(of)}
${row === undefined && selectField(page, { name: 'type', label: t('ops.tags.field-type'), hint: t('ops.tags.field-type.hint'), choices, errors: state.errors })}
${hasValues && textArea(page, { name: 'options', label: t('ops.tags.options'), hint: t('ops.tags.options.hint'), value: state.text('options', values), rows: 6, isCode: true, errors: state.errors, ...{ isOptional: row === undefined } })}
${hasValues && text(of, { name: 'default', label: t('ops.tags.default'), hint: t('ops.tags.default.hint'), isOptional: true, maxLength: 64, isCode: true }, field.default)}
<div class="row">${number('min', t('ops.tags.min'), min)}${number('max', t('ops.tags.max'), max)}</div>
${box(of, 'optional', optional, 'optional')}`
  },
  read: ({ state, row, nowMs }) => {
    const { type = state.text('type'), name } = present<'loader_fields'>(row)
    const hasValues = isEnum(type) && name !== 'game_versions'
    const numbers = (['min', 'max'] as const).map((field) => {
      const typed = state.text(field).trim()
      return [field, typed === '' ? null : numberOf(typed)] as const
    })
    return {
      ...(row === undefined ? { name: state.text('name').trim(), type, created: new Date(nowMs).toISOString() } : {}),
      optional: isOn(state, 'optional'),
      ...(hasValues ? { options: lines(state.text('options')), default: state.text('default').trim() || null } : {}),
      ...Object.fromEntries(numbers),
    }
  },
}

const license: Fields = {
  draw: (of) => {
    const { page, row } = of
    const { t } = page.language
    const { name = '' } = present<'licenses'>(row)
    return html`${row === undefined && text(of, { name: 'id', label: t('ops.tags.licence'), hint: t('ops.tags.licence.hint'), maxLength: 64, isCode: true, hasFocus: true, autocomplete: 'off' })}
${text(of, { name: 'name', label: t('ops.tags.licence-name'), hint: t('ops.tags.licence-name.hint'), maxLength: 128, isOptional: true }, name)}`
  },
  read: ({ state, row }) => ({
    ...(row === undefined ? { id: state.text('id').trim() } : {}),
    name: state.text('name').trim() || null,
  }),
}

const linkPlatform: Fields = {
  draw: (of) =>
    html`${of.row === undefined && nameField(of)}
${box(of, 'donation', present<'link_platforms'>(of.row).donation === true, 'donations')}
${offered(of)}`,
  read: ({ state, row }) => ({
    ...(row === undefined ? { name: state.text('name').trim() } : {}),
    donation: isOn(state, 'donation'),
    ...hiddenOf(state),
  }),
}

const game: Fields = {
  draw: (of) => {
    const { t } = of.page.language
    const { name, icon, banner } = present<'games'>(of.row)
    const image = (field: 'icon' | 'banner', label: string, current: string | null | undefined) =>
      text(of, { name: field, label, hint: t('ops.tags.image.hint'), isOptional: true, maxLength: 2048 }, current ?? '')
    return html`${of.row === undefined && text(of, { name: 'slug', label: t('ops.tags.slug'), hint: t('ops.tags.name.hint'), maxLength: 64, isCode: true, hasFocus: true })}
${text(of, { name: 'name', label: t('ops.tags.display-name'), maxLength: 64 }, name)}
${image('icon', t('ops.tags.icon'), icon)}
${image('banner', t('ops.tags.banner'), banner)}
${offered(of)}`
  },
  read: ({ state, row }) => ({
    ...(row === undefined ? { slug: state.text('slug').trim() } : {}),
    name: state.text('name').trim(),
    icon: state.text('icon').trim() || null,
    banner: state.text('banner').trim() || null,
    ...hiddenOf(state),
  }),
}

export const TAG_FIELDS: Record<TagListName, Fields> = {
  game_versions: gameVersion,
  loaders: loader,
  categories: category,
  loader_fields: loaderField,
  licenses: license,
  link_platforms: linkPlatform,
  games: game,
}

/** Returns the heading of a tag: categories have the name in the language of the page. */
export const headingOf = (page: PageContext, row: TagRow, name: string): string =>
  'project_type' in row ? `${tagName(page.language, name)} (${termName(row.project_type)})` : name
