// Single-letter shortcuts: the key in `data-key` clicks or focuses its element. They do nothing in fields, `?` lists them,
// and a checkbox in the list turns them off.
import { isTyping } from './base.js'

const OFF = 'depot-keys-off'
const list = document.querySelector('[data-keys]')
const isOff = () => localStorage.getItem(OFF) === 'yes'
/** The row or section with the focus; after a form, the row that the URL names. */
const here = () => document.activeElement?.closest('[data-step]') ?? document.querySelector('[data-step]:target')

const focus = (element) => {
  if (element.matches('h2, h3, li')) element.tabIndex = -1
  element.focus()
  element.scrollIntoView({ block: 'nearest' })
}

const use = (element) => {
  if (!element.matches('input, textarea, select, h2, h3, [data-focus]')) return element.click()
  if (element.matches('[type=radio], [type=checkbox]')) element.click()
  focus(element)
}

/** Moves through elements in the order of the page. */
const step = (selector, by) => {
  const items = [...document.querySelectorAll(selector)]
  const current = here()
  const index = items.findIndex((item) => item === current || item.contains(document.activeElement))
  const next = items[Math.min(Math.max(index + by, 0), items.length - 1)]
  if (next === undefined) return
  next.closest('details')?.setAttribute('open', '')
  focus(next.querySelector('h2, h3, a, button') ?? next)
}

const MOVES = { j: ['[data-step]', 1], k: ['[data-step]', -1], d: ['[data-finding]', 1] }

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event)) return
  if (event.key === '?' && list !== null) {
    event.preventDefault()
    list.open = !list.open
    list.querySelector('summary').focus()
    return
  }
  if (isOff()) return
  const key = event.key.toLowerCase()
  const move = MOVES[key]
  if (move !== undefined && document.querySelector(move[0]) !== null) {
    event.preventDefault()
    return step(...move)
  }
  const current = here()
  if (key === 'x') return current?.querySelector('.pick')?.click()
  const ofKey = (element) => element.dataset.key.toLowerCase() === key
  // The keys of a row belong to the row with the focus.
  const element =
    [...(current?.querySelectorAll('[data-key]') ?? [])].find(ofKey) ??
    [...document.querySelectorAll('[data-key]')].find((each) => ofKey(each) && each.closest('tr') === null)
  if (element === undefined) return
  event.preventDefault()
  use(element)
})

if (list !== null) {
  const box = list.querySelector('[type=checkbox]')
  if (box !== null) {
    box.closest('label').hidden = false
    box.checked = isOff()
    box.addEventListener('change', () => localStorage.setItem(OFF, box.checked ? 'yes' : 'no'))
  }
}
