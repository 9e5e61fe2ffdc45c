// The preview of a text, its length, suggestions while typing, and an order that is changed by dragging.
import { ask, each, fill, later, swap, textsOf, write } from './base.js'

each('textarea[data-preview]', (area) => {
  const update = later(400, () => ask(area.form, 'preview', area.dataset.preview))
  area.addEventListener('input', update)
})

each('[data-count]', (field) => {
  const line = document.createElement('p')
  line.className = 'hint'
  const show = () => {
    write(line, fill(field.dataset.count, { count: field.value.length.toLocaleString(document.documentElement.lang) }))
  }
  const place = field.closest('.marks, .write')?.querySelector('.marks') ?? field.parentElement
  place.append(line)
  field.addEventListener('input', show)
  show()
})

// A search field whose results are in the element `data-swap`: `data-do` is the button of its form that searches.
document.addEventListener(
  'input',
  later(300, ({ target }) => {
    const id = target.dataset?.swap
    if (id === undefined) return
    const { form } = target
    if (form.method === 'post') return ask(form, target.dataset.do, id)
    const url = `${location.pathname}?${textsOf(form)}`
    history.replaceState(null, '', url)
    return swap(id, url)
  }),
)

// A field with `data-users` offers the users whose names begin with its text.
each('[data-users]', (field) => {
  const offer = later(200, async () => {
    const text = field.value.trim()
    if (text.length < 2) return
    const url = `${field.dataset.users}?${new URLSearchParams({ query: text })}`
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok !== true) return
    const users = await answer.json()
    field.list.replaceChildren(...users.map(({ username }) => new Option('', username)))
  })
  field.addEventListener('input', offer)
})

// Moving an item sends the same form as its buttons: `move.KEY` with the new place. The texts of the form are saved too.
each('[data-order]', (list) => {
  let moved
  for (const item of list.children) {
    if (item.dataset.item === undefined) continue
    item.draggable = true
    item.addEventListener('dragstart', (event) => {
      if (event.target !== item) return event.preventDefault()
      moved = item
      event.dataTransfer.effectAllowed = 'move'
    })
    item.addEventListener('dragover', (event) => {
      if (moved === undefined) return
      event.preventDefault()
      const { top, height } = item.getBoundingClientRect()
      if (item !== moved) list.insertBefore(moved, event.clientY > top + height / 2 ? item.nextSibling : item)
    })
    item.addEventListener('dragend', () => {
      const form = list.closest('form')
      const add = (name, value) => {
        const field = document.createElement('input')
        field.type = 'hidden'
        field.name = name
        field.value = value
        form.append(field)
      }
      add('do', `${list.dataset.order}.${moved.dataset.item}`)
      add('place', [...list.children].filter((each) => each.dataset.item !== undefined).indexOf(moved))
      moved = undefined
      form.requestSubmit()
    })
    // Links and images can be dragged themselves, which would not move the item.
    each('a, img', (element) => (element.draggable = false), item)
    // Text in fields is selected by the mouse, not dragged with its item.
    each(
      'input, textarea',
      (field) => {
        field.addEventListener('focus', () => (item.draggable = false))
        field.addEventListener('blur', () => (item.draggable = true))
      },
      item,
    )
  }
})
