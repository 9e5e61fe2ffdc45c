// The script of all pages. `assets.ts` joins the files of this folder into one module: this file first, then the others,
// each in its own block. Every page works without it.

export const each = (selector, action, root = document) => {
  for (const element of root.querySelectorAll(selector)) action(element)
}

export const isTyping = ({ target }) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=button])'))

/** Where visitors turn off the shortcuts of single letters. The pages for publishers have the same setting. */
export const KEYS_OFF = 'depot-keys-off'

/** Whether a key event can be a shortcut of a single letter. */
export const isShortcut = (event) =>
  !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event) && localStorage.getItem(KEYS_OFF) !== 'yes'

/** Formats a number as the server does. */
export const numberText = (value) =>
  new Intl.NumberFormat(document.documentElement.lang, { numberingSystem: 'latn' }).format(value)
