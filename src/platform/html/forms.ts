// Forms: fields with label, hint and error, the summary of what is wrong, the token against forged posts.
import { type AttributeValue, attributes, html, type Markup, type Part } from './html.ts'
import { icon, type PageContext } from './page-context.ts'

/** What is wrong with a form. `field` names the field it is about, where it is about one. */
export type FormError = {
  field: string | undefined
  message: string
  /** The language of the message, where it is not that of the page: refusals of the API are English. */
  lang?: string
}

export type FormErrors = readonly FormError[]

type Field = {
  name: string
  label: string
  /** What stands under the label. */
  hint?: Part
  errors?: FormErrors
  /** Fields are required unless this says otherwise; others are marked as optional. */
  isOptional?: boolean
  /** The ID of its element, where it is not the name. */
  id?: string
}

/** The token that shows that the form came from a page of ours. */
export function csrfField(page: PageContext): Markup {
  return html`<input type="hidden" name="_csrf" value="${page.csrfToken()}">`
}

export function hiddenField(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

/** A form that posts to a path of ours, with the token in it. */
export function form(
  page: PageContext,
  of: { action: string; content: Part; className?: string; hasFile?: boolean },
): Markup {
  const more = attributes({ class: of.className, enctype: of.hasFile === true && 'multipart/form-data' })
  return html`<form method="post" action="${of.action}"${more}>
${csrfField(page)}
${of.content}
</form>`
}

export type ButtonKind = 'main' | 'plain' | 'danger'

/** A form that is one button, such as the one that revokes a token. */
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

type InputField = Field & {
  value?: string
  type?: 'text' | 'email' | 'url' | 'search' | 'number'
  minLength?: number
  maxLength?: number
  autocomplete?: string
  placeholder?: string
  /** Letters of one width, and no spelling or capitals of the browser's own. */
  isCode?: boolean
  /** Names, which no dictionary should correct. */
  isName?: boolean
  hasFocus?: boolean
  inputMode?: 'numeric' | 'decimal'
}

/** A line of text. */
export function textField(page: PageContext, of: InputField): Markup {
  const input = attributes({
    type: of.type ?? 'text',
    class: of.isCode === true && 'mono',
    ...common(of),
    value: of.value ?? '',
    minlength: of.minLength,
    maxlength: of.maxLength,
    autocomplete: of.autocomplete,
    placeholder: of.placeholder,
    inputmode: of.inputMode,
    autofocus: of.hasFocus === true,
    ...(of.isCode === true || of.isName === true ? { autocapitalize: 'none', spellcheck: 'false' } : {}),
  })
  return field(page, of, html`<input${input}>`)
}

type PasswordField = Field & { autocomplete: 'current-password' | 'new-password' }

/** A password, with a button that shows it where scripts run. What was typed is never shown again. */
export function passwordField(page: PageContext, of: PasswordField): Markup {
  const { language } = page
  const input = attributes({ type: 'password', ...common(of), maxlength: 256, autocomplete: of.autocomplete })
  return field(
    page,
    of,
    html`<div class="with-button"><input${input}><button type="button" data-reveal="${idOf(of)}" aria-pressed="false" hidden>${language.t('form.show')}</button></div>`,
  )
}

/** Several lines of text. */
export function textArea(
  page: PageContext,
  of: Field & { value: string; maxLength?: number; rows?: number; isCode?: boolean },
): Markup {
  const area = attributes({
    class: of.isCode === true && 'mono',
    ...common(of),
    maxlength: of.maxLength,
    rows: of.rows,
    spellcheck: of.isCode === true ? 'false' : null,
  })
  // Browsers leave out the first line break, so that one of the text's own stays.
  return field(
    page,
    of,
    html`<textarea${area}>
${of.value}</textarea>`,
  )
}

export type Choice = { value: string; label: string; isChosen?: boolean; isDisabled?: boolean }

/** One of several, in a list that opens. */
export function selectField(page: PageContext, of: Field & { choices: readonly Choice[] }): Markup {
  const options = of.choices.map(
    (choice) =>
      html`<option${attributes({ value: choice.value, selected: choice.isChosen === true, disabled: choice.isDisabled === true })}>${choice.label}</option>`,
  )
  return field(page, of, html`<select${attributes(common(of))}>${options}</select>`)
}

/** A file of the person's own. */
export function fileField(page: PageContext, of: Field & { accept: string }): Markup {
  return field(page, of, html`<input${attributes({ type: 'file', ...common(of), accept: of.accept })}>`)
}

/** A box to tick, with its words beside it. */
export function checkbox(of: { name: string; value: string; isChecked: boolean; label: Part; hint?: Part }): Markup {
  const box = attributes({ type: 'checkbox', name: of.name, value: of.value, checked: of.isChecked })
  return html`<label class="choice"><input${box}><span>${of.label}${of.hint !== undefined && html`<small>${of.hint}</small>`}</span></label>`
}

/** Fields that answer one question together. */
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
 * What is wrong with the form, with a link to each field it is about. It has the focus when the page appears, and stays
 * until the form is sent again. Nothing when nothing is wrong.
 */
export function errorSummary(page: PageContext, errors: FormErrors): Part {
  if (errors.length === 0) return null
  const { language } = page
  const items = errors.map(({ field, message, lang }) => {
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
  return html`<div class="field">
<label for="${id}">${of.label}${of.isOptional === true && html` <span class="optional">${language.t('form.optional')}</span>`}</label>
${
  of.hint !== undefined &&
  html`<p class="hint" id="${id}-hint">${of.hint}</p>
`
}${error !== undefined && errorText(page, id, error)}${control}
</div>`
}

function errorText(page: PageContext, id: string, { message, lang }: FormError): Markup {
  const foreign = attributes({ lang: lang !== page.language.tag && lang })
  return html`<p class="error" id="${id}-error"${foreign}>${icon(page, 'warning')}<span>${message}</span></p>
`
}

function idOf({ id, name }: Field): string {
  return id ?? name
}

function errorOf({ name, errors = [] }: { name: string; errors?: FormErrors }): FormError | undefined {
  return errors.find(({ field }) => field === name)
}

/** Attributes that every control has. */
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
  }
}
