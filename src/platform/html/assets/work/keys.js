// Single-letter shortcuts: the key in `data-key` clicks or focuses its element. They do nothing in fields, `?` lists them,
// and a checkbox in the list turns them off.
import { isTyping } from './base.js'

const OFF = 'depot-keys-off'
const list = document.querySelector('[data-keys]')
const isOff = () => localStorage.getItem(OFF) === 'yes'

const use = (element) => {
  if (element.matches('input, textarea, select, h2, h3, [data-focus]')) {
    if (element.matches('[type=radio], [type=checkbox]')) element.click()
    if (element.matches('h2, h3')) element.tabIndex = -1
    element.focus()
    element.scrollIntoView({ block: 'nearest' })
  } else element.click()
}

/** Moves through rows or sections: `data-step` is on each of them. */
const step = (by) => {
  const items = [...document.querySelectorAll('[data-step]')]
  const here = items.findIndex((item) => item.contains(document.activeElement))
  const next = items[Math.min(Math.max(here + by, 0), items.length - 1)]
  if (next === undefined) return
  const target = next.querySelector('h2, h3, a, button') ?? next
  if (target.matches('h2, h3')) target.tabIndex = -1
  target.focus()
}

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
  if ((key === 'j' || key === 'k') && document.querySelector('[data-step]') !== null) {
    event.preventDefault()
    return step(key === 'j' ? 1 : -1)
  }
  if (key === 'x') {
    const box = document.activeElement?.closest('[data-step]')?.querySelector('.pick')
    if (box) return box.click()
  }
  const element = [...document.querySelectorAll('[data-key]')].find((each) => each.dataset.key.toLowerCase() === key)
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
