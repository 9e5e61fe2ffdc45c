// Forms: fields with label, hint and error, the error summary, and the CSRF token.
import { fileSize } from '../format.ts'
import { type AttributeValue, attributes, html, type Markup, type Part } from '../html.ts'
import { icon, type PageContext } from '../page-context.ts'
import { translateError } from '../refusals.ts'

/** Error of a form. `field` is the name of the field, or undefined. */
export type FormError = {
  field: string | undefined
  message: string
  /** Language of the message if it differs from the page: errors of the API are in English. */
  lang?: string | undefined
  /** The message without the prefix that names the field. */
  reason?: string
  /** Link or text after the message next to the field. */
  more?: Part
}

export type FormErrors = readonly FormError[]

type Field = {
  name: string
  label: string
  /** Hint below the label. */
  hint?: Part
  /** Source of the value, at the end of the line of the label. */
  from?: Part
  errors?: FormErrors
  /** Whether the field is optional. Default: false */
  isOptional?: boolean
  /** Whether the label of an optional field says nothing about that. */
  isUnmarked?: boolean
  /** Key that moves to the field. */
  hotkey?: string
  /** ID of the element. Default: the name */
  id?: string
}

/** Renders the CSRF token. */
export function csrfField(page: PageContext): Markup {
  return html`<input type="hidden" name="_csrf" value="${page.csrfToken()}">`
}

export function hiddenField(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

/** Renders a form with the CSRF token that posts to a path of the instance. */
export function form(
  page: PageContext,
  of: { action: string; content: Part; id?: string; className?: string; hasFile?: boolean },
): Markup {
  const more = attributes({ id: of.id, class: of.className, enctype: of.hasFile === true && 'multipart/form-data' })
  return html`<form method="post" action="${of.action}"${more}>
${csrfField(page)}
${of.content}
</form>`
}

export type ButtonKind = 'main' | 'plain' | 'danger'

/** Renders a form with a single button, such as Revoke. */
export function buttonForm(
  page: PageContext,
  of: {
    action: string
    text: Part
    kind?: ButtonKind
    isTight?: boolean
    label?: string
    fields?: Readonly<Record<string, string>>
  },
): Markup {
  const { kind, isTight = false, fields = {} } = of
  const button = attributes({
    class: [kind, isTight && 'tight'].filter(Boolean).join(' ') || null,
    'aria-label': of.label,
  })
  const hidden = Object.entries(fields).map(([name, value]) => hiddenField(name, value))
  return form(page, { action: of.action, content: html`${hidden}<button${button}>${of.text}</button>` })
}

export type InputField = Field & {
  value?: string
  type?: 'text' | 'email' | 'url' | 'search' | 'number' | 'datetime-local' | 'date' | 'time'
  minLength?: number | undefined
  maxLength?: number | undefined
  /** Last day of a date field: `2026-01-31`. */
  max?: string
  autocomplete?: string
  placeholder?: string
  /** Monospaced, without spell checking and automatic capitals. */
  isCode?: boolean
  /** A name, without spell checking and automatic capitals. */
  isName?: boolean
  hasFocus?: boolean
  inputMode?: 'numeric' | 'decimal'
  /** Values that browsers offer. Others are possible. */
  suggestions?: readonly string[]
  /** URL that finds users by the beginning of their name, if scripts run. */
  usersFrom?: string
}

/** Renders a field for one line of text. */
export function textField(page: PageContext, of: InputField): Markup {
  const { suggestions = [], usersFrom } = of
  const hasList = suggestions.length > 0 || usersFrom !== undefined
  const listId = `${idOf(of)}-values`
  const list =
    hasList &&
    html`<datalist id="${listId}">${suggestions.map((value) => html`<option value="${value}"></option>`)}</datalist>`
  const input = attributes({
    type: of.type ?? 'text',
    class: of.isCode === true && 'mono',
    ...common(of),
    value: of.value ?? '',
    minlength: of.minLength,
    maxlength: of.maxLength,
    max: of.max,
    autocomplete: of.autocomplete,
    placeholder: of.placeholder,
    inputmode: of.inputMode,
    autofocus: of.hasFocus === true,
    list: hasList && listId,
    'data-users': usersFrom,
    ...(of.isCode === true || of.isName === true ? { autocapitalize: 'none', spellcheck: 'false' } : {}),
  })
  return field(page, of, html`<input${input}>${list}`)
}

type PasswordField = Field & {
  autocomplete: 'current-password' | 'new-password'
  /** URL that rates the password while the user types it, if scripts run. */
  ratedBy?: string
}

/** Renders a password field with a button that shows the password, if scripts run. Never contains the submitted value. */
export function passwordField(page: PageContext, of: PasswordField): Markup {
  const { language } = page
  const input = attributes({
    type: 'password',
    ...common(of),
    maxlength: 256,
    autocomplete: of.autocomplete,
    'data-rate': of.ratedBy,
  })
  return field(
    page,
    of,
    html`<div class="with-button"><input${input}><button type="button" data-reveal="${idOf(of)}" aria-pressed="false" hidden>${language.t('form.show')}</button></div>${of.ratedBy !== undefined && html`<div class="strength" id="${idOf(of)}-strength" role="status"></div>`}`,
  )
}

/** Renders a field for several lines of text. */
export function textArea(
  page: PageContext,
  of: Field & {
    value: string
    maxLength?: number | undefined
    rows?: number
    isCode?: boolean
    isReadOnly?: boolean
    /** ID of the element that the script renews while the user types, with the command `preview`. */
    preview?: string | undefined
  },
): Markup {
  const area = attributes({
    class: of.isCode === true && 'mono',
    ...common(of),
    maxlength: of.maxLength,
    rows: of.rows,
    readonly: of.isReadOnly === true,
    'data-preview': of.preview,
    spellcheck: of.isCode === true ? 'false' : null,
  })
  // Browsers remove the first line break, so the template adds one.
  return field(
    page,
    of,
    html`<textarea${area}>
${of.value}</textarea>`,
  )
}

export type Choice = { value: string; label: string; isChosen?: boolean; isDisabled?: boolean }

/**
 * Renders a select field. A choice with an empty value is a valid choice, unless it is disabled and only asks for one:
 * browsers refuse to send the empty value of a required field.
 */
export function selectField(page: PageContext, of: Field & { choices: readonly Choice[] }): Markup {
  const options = of.choices.map(
    (choice) =>
      html`<option${attributes({ value: choice.value, selected: choice.isChosen === true, disabled: choice.isDisabled === true })}>${choice.label}</option>`,
  )
  const isEmptyValid = of.choices.some(({ value, isDisabled }) => value === '' && isDisabled !== true)
  const select = attributes({ ...common(of), required: of.isOptional !== true && !isEmptyValid })
  return field(page, of, html`<select${select}>${options}</select>`)
}

/** Renders a file field. If it is for images of at most `maxBytes`, a script checks the size before the browser sends the file. */
export function fileField(page: PageContext, of: Field & { accept: string; maxBytes?: number }): Markup {
  const limit = of.maxBytes === undefined ? {} : sizeLimit(page, of.maxBytes)
  const input = { type: 'file', ...common(of), accept: of.accept, ...limit }
  return field(page, of, html`<input${attributes(input)}>`)
}

/** Returns the attributes by which a script checks the size of files. */
export function sizeLimit({ language }: PageContext, maxBytes: number): Record<string, AttributeValue> {
  const size = fileSize(language, maxBytes)
  return { 'data-max-bytes': maxBytes, 'data-too-large': language.t('refusal.image-size', { size }) }
}

/** Renders a checkbox with its label. */
export function checkbox(of: {
  name: string
  value: string
  isChecked: boolean
  label: Part
  hint?: Part
  /** Key that selects it. */
  hotkey?: string | undefined
  /** Present if the form needs the box to be selected. */
  required?: { page: PageContext; errors: FormErrors }
}): Markup {
  const { name, value, required } = of
  const error = required && errorOf({ name, errors: required.errors })
  const box = attributes({
    type: 'checkbox',
    name,
    value,
    checked: of.isChecked,
    'data-key': of.hotkey,
    id: required && name,
    required: required !== undefined,
    'aria-invalid': error !== undefined && 'true',
    'aria-describedby': error !== undefined && `${name}-error`,
  })
  return html`${required && error !== undefined && errorText(required.page, name, error)}<label class="choice"><input${box}><span>${of.label}${of.hint !== undefined && html`<small>${of.hint}</small>`}</span></label>`
}

/** Renders a group of related fields. */
export function fieldset(
  page: PageContext,
  of: { legend: Part; content: Part; name: string; errors?: FormErrors; className?: string },
): Markup {
  const error = errorOf(of)
  const more = attributes({
    class: of.className,
    id: of.name,
    tabindex: error !== undefined && '-1',
    'aria-describedby': error !== undefined && `${of.name}-error`,
  })
  return html`<fieldset${more}>
<legend>${of.legend}</legend>
${error !== undefined && errorText(page, of.name, error)}
${of.content}
</fieldset>`
}

/**
 * Renders the summary of errors with a link to each field. It has the focus when the page loads. Renders nothing without
 * errors.
 */
export function errorSummary(page: PageContext, errors: FormErrors): Part {
  if (errors.length === 0) return null
  const { language } = page
  const items = errors.map((error) => {
    const { field, message, lang } = translateError(language, error)
    const foreign = attributes({ lang: lang !== language.tag && lang })
    return field === undefined
      ? html`<li${foreign}>${message}</li>`
      : html`<li${foreign}><a href="#${field}">${message}</a></li>`
  })
  return html`<div class="note bad" id="errors" role="alert" tabindex="-1" autofocus>${icon(page, 'warning')}<div><p class="strong">${language.t('form.error-summary', { count: errors.length })}</p><ul>${items}</ul></div></div>`
}

function field(page: PageContext, of: Field, control: Markup): Markup {
  const { language } = page
  const error = errorOf(of)
  const id = idOf(of)
  const label = html`<label for="${id}">${of.label}${of.isOptional === true && of.isUnmarked !== true && html` <span class="optional">${language.t('form.optional')}</span>`}</label>`
  return html`<div class="field">
${of.from === undefined ? label : html`<span class="apart">${label}${of.from}</span>`}
${
  of.hint !== undefined &&
  html`<p class="hint" id="${id}-hint">${of.hint}</p>
`
}${error !== undefined && errorText(page, id, error)}${control}
</div>`
}

function errorText(page: PageContext, id: string, error: FormError): Markup {
  const { more } = error
  const { message, lang } = translateError(page.language, error)
  const foreign = attributes({ lang: lang !== page.language.tag && lang })
  if (more !== undefined)
    return html`<p class="error" id="${id}-error">${icon(page, 'warning')}<span><span${foreign}>${message}</span> ${more}</span></p>
`
  return html`<p class="error" id="${id}-error"${foreign}>${icon(page, 'warning')}<span>${message}</span></p>
`
}

function idOf({ id, name }: Field): string {
  return id ?? name
}

function errorOf({ name, errors = [] }: { name: string; errors?: FormErrors }): FormError | undefined {
  return errors.find(({ field }) => field === name)
}

/** Returns the attributes of every control. */
function common(of: Field): Record<string, AttributeValue> {
  const id = idOf(of)
  const isWrong = errorOf(of) !== undefined
  const described = [of.hint !== undefined && `${id}-hint`, isWrong && `${id}-error`].filter((part) => part !== false)
  return {
    id,
    name: of.name,
    required: of.isOptional !== true,
    'aria-invalid': isWrong && 'true',
    'aria-describedby': described.length > 0 && described.join(' '),
    'data-key': of.hotkey,
  }
}
