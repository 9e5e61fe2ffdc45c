// Actions of the pages for publishers, moderators and operators: the save bar, notices with Undo, confirmation pages.

import { attributes, html, type Markup, type Part } from '../html.ts'
import { icon, type PageContext, pathTo } from '../page-context.ts'
import { buttonForm, type FormErrors, form, textField } from './fields.ts'
import { sheetPart } from './frame.ts'
import { note } from './lists.ts'

/**
 * Renders the save bar, the last child of its form. The script shows the unsaved changes in it. `command` is the value of
 * the button `do`.
 */
export function saveBar(
  page: PageContext,
  of: { text?: Part; save?: string; command?: string; discard?: string; more?: Part } = {},
): Markup {
  const { t } = page.language
  return html`<div class="save" data-save${saveBarTexts(page)}><p role="status">${of.text}</p>${of.more}<a class="button" href="${of.discard ?? '?'}" data-discard>${t('work.discard')}</a><button class="main" name="do" value="${of.command ?? 'save'}">${of.save ?? t('work.save')}</button></div>`
}

/** Renders a form with a part for its fields, or several parts, and the save bar. */
export function saveForm(
  page: PageContext,
  of: { path: string } & ({ id: string; content: Part } | { parts: Part }),
): Markup {
  const parts = 'parts' in of ? of.parts : sheetPart(of)
  return form(page, { action: pathTo(page, of.path), content: [parts, saveBar(page)] })
}

/** Renders a part of a sheet with its own form. */
export function formPart(
  page: PageContext,
  { path, content, ...of }: { path: string; id: string; title?: string; text?: Part; content: Part },
): Markup {
  return sheetPart({ ...of, content: form(page, { action: pathTo(page, path), className: 'stack', content }) })
}

/** Returns the texts of the script for an element with `data-save`. */
export function saveBarTexts({ language: { t } }: PageContext): Markup {
  return attributes({
    'data-one': t('work.changes.one', { names: '{names}' }),
    'data-many': t('work.changes.many', { count: '{count}', names: '{names}' }),
    'data-draft': t('work.draft', { day: '{day}' }),
    'data-restore': t('work.draft.restore'),
    'data-drop': t('work.draft.drop'),
  })
}

/** Reverse of an action: the form of the button Undo. */
export type Undo = { action: string; fields: Readonly<Record<string, string>> }

/** Renders the message after an action. It stays until the next page. */
export function doneNote(page: PageContext, text: Part, undo?: Undo): Markup {
  const button =
    undo !== undefined &&
    buttonForm(page, { action: undo.action, text: page.language.t('work.undo'), kind: 'plain', fields: undo.fields })
  return note(page, 'good', html`${text} ${button}`, { role: 'status' })
}

export type Confirmation = {
  title: string
  /** Consequences, with numbers. */
  consequences: readonly Part[]
  /** Path of the form. */
  action: string
  /** Label of the button, with the name of the subject. */
  button: string
  /** URL of Cancel. */
  cancel: string
  isDanger?: boolean
  /** The safer alternative, which is offered first. */
  instead?: { text: Part; href: string; label: string }
  /** Name that the user types to confirm. The field is `name`. */
  typed?: string
  /** The fields in which the user proves that the account is theirs. */
  proof?: Part
  /** More fields, such as a reason. */
  fields?: Part
  command?: string
  errors?: FormErrors
}

/** Renders a confirmation page: consequences, the safer alternative, typed name, Cancel and the button. */
export function confirmation(page: PageContext, of: Confirmation): Markup {
  const { t } = page.language
  const { errors = [], typed, instead } = of
  const content = html`${of.fields}
${typed !== undefined && textField(page, { name: 'name', label: t('work.type-name', { name: typed }), autocomplete: 'off', isName: true, errors })}
${of.proof}
<div class="line"><a class="button" href="${of.cancel}">${t('work.cancel')}</a><button class="${of.isDanger === false ? 'main' : 'danger'}" name="do" value="${of.command ?? 'confirm'}">${of.button}</button></div>`
  return html`<div class="slip sheet">
<h1>${of.title}</h1>
${of.consequences.length > 0 && html`<ul>${of.consequences.map((item) => html`<li>${item}</li>`)}</ul>`}
${
  instead !== undefined &&
  html`<p>${instead.text}</p><div class="line"><a class="button" href="${instead.href}">${instead.label}</a></div>
`
}${form(page, { action: of.action, content })}
</div>`
}

/**
 * Renders the line that members see who lack a permission, with who can grant it: the page has no controls, with `isToSee`
 * no content.
 */
export function viewOnly(
  page: PageContext,
  of: { permission: string; ask: readonly string[]; isToSee?: boolean },
): Markup {
  const { t, rich } = page.language
  const permission = html`<em>${of.permission}</em>`
  const text =
    of.ask.length === 0
      ? rich(of.isToSee === true ? 'work.hidden.nobody' : 'work.view-only.nobody', { permission })
      : rich(of.isToSee === true ? 'work.hidden' : 'work.view-only', { permission, names: listOf(page, of.ask) })
  return html`<div class="note" role="note" aria-label="${t('work.view-only.label')}">${icon(page, 'eye')}<div><p>${text}</p></div></div>`
}

/** Returns names as a list in the language of the page: "ida, nils or hollis". */
function listOf(page: PageContext, names: readonly string[]): Markup {
  const parts = new Intl.ListFormat(page.language.tag, { type: 'disjunction' }).formatToParts(names)
  return html`${parts.map(({ type, value }) => (type === 'element' ? html`<bdi>${value}</bdi>` : value))}`
}
