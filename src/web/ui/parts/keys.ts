// The list of single-letter shortcuts of a page.
import { html, type Markup } from '../html.ts'
import type { PageContext } from '../page-context.ts'

/** Renders the shortcuts. The key `?` opens the list, and its checkbox turns the shortcuts off in this browser. */
export function shortcuts(page: PageContext, keys: readonly { keys: readonly string[]; label: string }[]): Markup {
  const { t } = page.language
  const entries = keys.map(
    ({ keys: names, label }) =>
      html`<dt>${names.map((name) => html`<kbd class="hotkey">${name}</kbd>`)}</dt><dd>${label}</dd>`,
  )
  return html`<details class="more" data-keys><summary>${t('work.keys')} <kbd class="hotkey">?</kbd></summary><dl class="keys">${entries}</dl><label class="choice" hidden><input type="checkbox"><span>${t('work.keys.off')}</span></label></details>`
}
