// Choices with explanations, chips, and fields for files.

import { attributes, html, type Markup, type Part } from '../html.ts'
import { assetHref, icon, type PageContext } from '../page-context.ts'
import { sizeLimit } from './fields.ts'

export type Option = {
  value: string
  label: string
  /** Effect of the choice. */
  text?: Part
  isChosen?: boolean
  /** `no`: red, `hold`: amber. */
  kind?: 'no' | 'hold'
  /** Key that chooses the option. */
  hotkey?: string
}

/** Renders radio buttons as cards. Each card states the effect of its choice. */
export function optionCards(of: { legend: Part; name: string; options: readonly Option[]; error?: Part }): Markup {
  return html`<fieldset class="stack close" id="${of.name}"><legend>${of.legend}</legend>${of.error}<div class="options">
${of.options.map((option) => {
  const input = attributes({
    type: 'radio',
    name: of.name,
    value: option.value,
    checked: option.isChosen === true,
    'data-key': option.hotkey,
  })
  const key = option.hotkey === undefined ? html`<span></span>` : html`<kbd class="hotkey">${option.hotkey}</kbd>`
  return html`<label class="${['option', option.kind].filter(Boolean).join(' ')}"><input${input}><b>${option.label}</b>${key}${option.text !== undefined && html`<small>${option.text}</small>`}</label>
`
})}</div></fieldset>`
}

/** Renders checkboxes as chips. */
export function chips(
  page: PageContext,
  of: {
    legend: Part
    name: string
    hint?: Part
    error?: Part
    options: readonly { value: string; label: string; isChosen: boolean; isNew?: boolean }[]
  },
): Markup {
  const { t } = page.language
  const items = of.options.map(({ value, label, isChosen, isNew }) => {
    const input = attributes({ type: 'checkbox', name: of.name, value, checked: isChosen })
    return html`<label class="chip"><input${input}>${icon(page, 'check')}${label}${isNew === true && html` <span class="new">${t('work.new')}</span>`}</label>`
  })
  return html`<fieldset class="stack close" id="${of.name}"><legend>${of.legend}</legend>${of.hint !== undefined && html`<p class="hint">${of.hint}</p>`}${of.error}<div class="chips">${items}</div></fieldset>`
}

/** Renders the field for files. The input covers the zone, so that dropping works without scripts. */
export function dropZone(
  page: PageContext,
  of: {
    id: string
    name: string
    label: string
    text: Part
    accept: string
    isMultiple?: boolean
    isRequired?: boolean
    /** Maximum size of each file, for images. */
    maxBytes?: number
    /** Label of the button that removes a chosen image. The script shows the chosen images. Default: they are not shown */
    remove?: string
  },
): Markup {
  const input = attributes({
    type: 'file',
    id: of.id,
    name: of.name,
    accept: of.accept,
    multiple: of.isMultiple === true,
    required: of.isRequired === true,
    ...(of.maxBytes === undefined ? {} : sizeLimit(page, of.maxBytes)),
    ...(of.remove === undefined ? {} : { 'data-chosen': of.remove, 'data-script': assetHref(page, 'editor.js') }),
  })
  return html`<div class="drop">${icon(page, 'upload')}<label for="${of.id}">${of.label}</label><p>${of.text}</p><input${input}></div>`
}

/** Renders the progress of an upload. A line with `role="status"` outside it announces it. */
export function uploadProgress(of: { label: string; value: number; max: number; isWaiting?: boolean }): Markup {
  const percent = of.max === 0 ? 100 : Math.floor((100 * of.value) / of.max)
  const more = attributes({
    value: of.value,
    max: of.max,
    'aria-label': of.label,
    class: of.isWaiting === true && 'wait',
  })
  return html`<progress${more}>${percent}%</progress>`
}
