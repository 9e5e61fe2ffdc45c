// Fields of a form, declared once from the schema of the request: their names in error messages, their controls with the
// limits of the schema, the stored values that `editedFields` compares, the read-only facts, and the submitted values.
import type { Static, TObject, TSchema } from 'typebox'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { type InputField, textArea, textField } from '#web/ui/parts/fields.ts'
import { conflictNote, editBase } from './edits.ts'
import type { FormState } from './form-page.ts'
import { checkValues } from './read-form.ts'
import { wholeOf } from './typed.ts'

type Declared = Omit<InputField, 'name' | 'label' | 'hint' | 'value' | 'errors' | 'minLength' | 'maxLength'> & {
  label: MessageKey
  /** Name of the field at the beginning of error messages. Default: `The` and the name of the field */
  said?: string
  hint?: MessageKey
  /** Lines of a text area. Default: a field for one line */
  rows?: number
}

/** Properties of a control that depend on the request. `suggestion`: value of an empty field. `after`: content below. */
type Shown = Partial<Pick<InputField, 'hint' | 'from' | 'hasFocus' | 'isOptional' | 'id' | 'value'>> & {
  suggestion?: string
  after?: Part
  /** See `textArea`. */
  preview?: string
}
type More<Name extends string> = { readonly [Field in Name]?: Shown }
type Stored<Name extends string> = Readonly<Partial<Record<Name, string | number | null>>>

type TextSchema = { type?: string; minLength?: number; maxLength?: number }
const alternativesOf = (schema: TSchema): readonly TextSchema[] =>
  'anyOf' in schema ? (schema.anyOf as readonly TextSchema[]) : [schema]
const acceptsNull = (schema: TSchema): boolean => alternativesOf(schema).some(({ type }) => type === 'null')
const withoutNull = (schema: TSchema): TextSchema => alternativesOf(schema).find(({ type }) => type !== 'null') ?? {}

/** Returns the limits of a text that a schema accepts, as properties of a control. A required field is never empty. */
export function limitsOf(schema: TSchema): Pick<InputField, 'minLength' | 'maxLength'> {
  const { minLength, maxLength } = withoutNull(schema)
  return { minLength: minLength === 1 ? undefined : minLength, maxLength }
}

/** Returns a number, or the text as it is, which a schema refuses with its bounds. */
export function numberOf(text: string): number | string {
  const typed = wholeOf(text)
  return /^\d{1,7}$/.test(typed) ? Number(typed) : text
}

/** Declares the fields of a form. A field that is not `isOptional` is required, also if a patch can leave it out. */
export function fields<Schema extends TObject, Name extends keyof Schema['properties'] & string>(
  schema: Schema,
  declared: Readonly<Record<Name, Declared>>,
) {
  const entries = Object.entries(declared) as [Name, Declared][]
  const properties = schema.properties as Readonly<Record<Name, TSchema>>
  const each = <Value>(of: (name: Name, field: Declared) => Value) =>
    Object.fromEntries(entries.map(([name, field]) => [name, of(name, field)])) as Record<Name, Value>
  const labels = ({ language }: PageContext) => each((_name, { label }) => language.t(label))
  const stored = (view?: Stored<Name>) => each((name) => String(view?.[name] ?? ''))

  /** Checks the values. An empty optional field is null, or missing if the schema does not accept null. */
  const check = (texts: Partial<Record<Name, string>>, more: object = {}): Static<Schema> => {
    const values = entries.flatMap(([name, { isOptional = false }]): [Name, unknown][] => {
      const [text, property] = [texts[name], properties[name]]
      if (text === undefined) return []
      if (text === '' && isOptional) return acceptsNull(property) ? [[name, null]] : []
      return [[name, withoutNull(property).type === 'integer' ? numberOf(text) : text]]
    })
    return checkValues(schema, { ...Object.fromEntries(values), ...more })
  }

  const control = (
    page: PageContext,
    state: FormState,
    name: Name,
    { after, suggestion = '', preview, ...more }: Shown,
  ) => {
    const { label, said: _said, hint, rows, ...of }: Declared = declared[name]
    const { t } = page.language
    const shown = { ...(hint === undefined ? {} : { hint: t(hint) }), ...of, ...more, ...limitsOf(properties[name]) }
    const value = state.text(name, more.value) || suggestion
    const field = { ...shown, name, label: t(label), value, errors: state.errors }
    const drawn = rows === undefined ? textField(page, field) : textArea(page, { ...field, rows, preview })
    return after === undefined ? drawn : html`${drawn}\n${after}`
  }
  const controls = (page: PageContext, state: FormState, view?: Stored<Name>, more: More<Name> = {}): Markup => {
    const values = stored(view)
    const drawn = entries.map(([name]) => control(page, state, name, { value: values[name], ...more[name] }))
    return html`${drawn.map((field, index) => [index > 0 && '\n', field])}`
  }

  return {
    /** The names in error messages, for `labels` of a page. */
    said: each((name, { said = `The ${name.replaceAll('_', ' ')}` }) => said),
    labels,
    stored,
    controls,
    /** Renders the controls of stored values, with their fingerprints and the conflicts. */
    edit: (page: PageContext, state: FormState, view: Stored<Name>): Markup =>
      html`${editBase(state, stored(view))}${conflictNote(page, state, labels(page))}\n${controls(page, state, view)}`,
    /** Renders the stored values for members who cannot edit them. */
    facts: (page: PageContext, view: Stored<Name>): Markup =>
      factList(
        page,
        entries.map(([name]) => [labels(page)[name], stored(view)[name]]),
      ),
    /** Returns the fields that the user changed. @throws EditConflict */
    changes: (state: FormState, view: Stored<Name>): Static<Schema> => check(state.edited(stored(view))),
    /** Returns the submitted values with `more`. Lines are trimmed, except blank ones that are required: the API names the error. */
    read: (state: FormState, more?: object): Static<Schema> =>
      check(
        each((name, { rows, isOptional }) => {
          const text = state.text(name)
          return rows !== undefined || (isOptional !== true && text.trim() === '') ? text : text.trim()
        }),
        more,
      ),
  }
}

/** Renders names and values for members who cannot edit them. */
export function factList({ language }: PageContext, rows: readonly (readonly [string, Part])[]): Markup {
  return html`<dl class="pairs wide">${rows.map(([label, value]) => html`<dt>${label}</dt><dd dir="auto">${value === '' ? language.t('work.empty') : value}</dd>`)}</dl>`
}
