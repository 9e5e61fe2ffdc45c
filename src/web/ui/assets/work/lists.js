// Tables with checkboxes: the number of selected rows, a checkbox for all rows, and ranges with Shift.
import { each, fill } from './base.js'

const setUp = (form) => {
  const text = form.querySelector('[data-picked]')
  const boxes = [...form.querySelectorAll('tbody .pick')]
  if (text === null || boxes.length === 0) return
  const none = text.textContent
  const all = document.createElement('input')
  const show = () => {
    const count = boxes.filter((box) => box.checked).length
    text.textContent = count === 0 ? none : fill(text.dataset.picked, { count })
    all.checked = count === boxes.length
    all.indeterminate = count > 0 && count < boxes.length
  }
  const head = form.querySelector('thead .box')
  if (head !== null) {
    const label = document.createElement('label')
    label.className = 'pick-all'
    const name = document.createElement('span')
    name.className = 'vh'
    name.textContent = text.dataset.all
    all.type = 'checkbox'
    all.className = 'pick'
    label.append(name, all)
    head.replaceChildren(label)
    all.addEventListener('change', () => {
      for (const box of boxes) box.checked = all.checked
      show()
    })
  }
  let last
  for (const box of boxes)
    box.addEventListener('click', (event) => {
      const range = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b)
      if (event.shiftKey && last !== undefined) for (const each of boxes.slice(...range)) each.checked = box.checked
      last = box
      show()
    })
  form.addEventListener('change', show)
  show()
}
each('form:has(> .bulk)', setUp)
document.addEventListener('swapped', ({ detail }) => {
  const form = detail.closest('form:has(> .bulk)')
  if (form !== null) setUp(form)
})
