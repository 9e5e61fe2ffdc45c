// Small controls: search key, copying, sharing, the gallery, checkboxes, passwords, tabs and menus.
import { each, isShortcut, KEYS_OFF } from './base.js'

const HIDDEN = 'depot-announcement'

// The / key moves to the search field.
document.addEventListener('keydown', (event) => {
  const search = document.querySelector('.find input')
  if (event.key !== '/' || search === null || !isShortcut(event)) return
  event.preventDefault()
  search.focus()
  search.select()
})

// Turns the shortcuts of single letters off, because they disturb users of speech input.
each('label.keys', (label) => {
  const box = document.createElement('input')
  box.type = 'checkbox'
  box.checked = localStorage.getItem(KEYS_OFF) !== 'yes'
  label.prepend(box)
  label.hidden = false
  label.addEventListener('change', (event) => {
    event.stopPropagation()
    localStorage.setItem(KEYS_OFF, box.checked ? 'no' : 'yes')
  })
})

// Copies the text of a field to the clipboard and confirms it briefly.
const offerCopies = (root) => {
  for (const button of root.querySelectorAll('[data-copy]')) {
    const field = document.getElementById(button.dataset.copy)
    const label = [...button.childNodes]
    button.hidden = false
    button.addEventListener('click', async () => {
      field.select?.()
      await navigator.clipboard.writeText(field.dataset.text ?? field.value ?? field.textContent)
      button.textContent = button.dataset.done
      setTimeout(() => button.replaceChildren(...label), 2000)
    })
  }
}
if (navigator.clipboard !== undefined) {
  offerCopies(document)
  document.addEventListener('swapped', ({ detail }) => offerCopies(detail))
}

// Shares the URL of the page, or copies it.
each('[data-share]', (button) => {
  const said = button.querySelector('[role=status]')
  const url = document.querySelector('link[rel=canonical]')?.href ?? location.href
  if (navigator.share === undefined && navigator.clipboard === undefined) return
  button.hidden = false
  button.addEventListener('click', async () => {
    const { share: title, shared, done } = button.dataset
    try {
      await (navigator.share === undefined ? navigator.clipboard.writeText(url) : navigator.share({ title, url }))
    } catch {
      // The person has closed the dialog, or does not allow the page to copy.
      return
    }
    said.textContent = button.title = navigator.share === undefined ? done : shared
    said.classList.remove('vh')
  })
})

// Moves between the images of a gallery: arrow keys, swiping, and Escape for all images.
each('[data-steps]', (viewer) => {
  const go = (rel) => viewer.querySelector(`[rel=${rel}]`)?.click()
  const [left, right] = document.dir === 'rtl' ? ['next', 'prev'] : ['prev', 'next']
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, select, textarea')) return
    go({ ArrowLeft: left, ArrowRight: right, Escape: 'up' }[key] ?? 'none')
  })
  let start
  viewer.addEventListener('touchstart', ({ touches }) => {
    start = touches.length === 1 ? touches[0] : undefined
  })
  viewer.addEventListener('touchend', ({ changedTouches: [end] }) => {
    if (start === undefined) return
    const across = end.clientX - start.clientX
    if (Math.abs(across) > 50 && Math.abs(across) > 2 * Math.abs(end.clientY - start.clientY)) {
      go(across < 0 ? right : left)
    }
  })
})

// Selects all checkboxes of a group, or none if all are selected.
each('[data-tick-all]', (button) => {
  const all = button.textContent
  const boxes = [...button.closest('fieldset').querySelectorAll('input[type=checkbox]')]
  const isAll = () => boxes.every((box) => box.checked)
  const show = () => {
    button.textContent = isAll() ? button.dataset.tickAll : all
  }
  button.hidden = false
  button.addEventListener('click', () => {
    const tick = !isAll()
    for (const box of boxes) box.checked = tick
    show()
  })
  for (const box of boxes) box.addEventListener('change', show)
  show()
})

// Shows the typed password.
each('[data-reveal]', (button) => {
  const field = document.getElementById(button.dataset.reveal)
  button.hidden = false
  button.addEventListener('click', () => {
    const isHidden = field.type === 'password'
    field.type = isHidden ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isHidden))
    field.focus()
  })
})

// Rates a new password after a pause in typing, with the words that the server knows about the user.
each('[data-rate]', (field) => {
  const said = document.getElementById(`${field.id}-strength`)
  let timer
  let control
  const rate = async () => {
    const own = new AbortController()
    control = own
    const typed = new FormData(field.form)
    const body = new URLSearchParams({ password: field.value })
    for (const name of ['_csrf', 'username', 'email', 'flow']) body.set(name, typed.get(name) ?? '')
    try {
      const answer = await fetch(field.dataset.rate, { method: 'POST', body, signal: own.signal })
      const shown = new DOMParser().parseFromString(answer.ok ? await answer.text() : '', 'text/html')
      if (!own.signal.aborted) said.replaceChildren(...shown.body.children)
    } catch {
      // The form rates the password again.
    }
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    control?.abort()
    if (field.value === '') return said.replaceChildren()
    timer = setTimeout(rate, 400)
  })
})

// Loads the script of an element that few pages have.
each('[data-script]', ({ dataset: { script } }) => import(script))

// Scrolls to the current tab if the row of tabs is wider than the window.
each('.tabs [aria-current]', (tab) => tab.scrollIntoView({ block: 'nearest', inline: 'center' }))

// Hides the announcement in this browser. The server then needs no variant of the page.
each('[data-hide]', (aside) => {
  const { hide } = aside.dataset
  if (localStorage.getItem(HIDDEN) === hide) return aside.remove()
  aside.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault()
    localStorage.setItem(HIDDEN, hide)
    aside.remove()
  })
})

// Closes the account menu by a click elsewhere or by Escape.
const closeMenus = (target) =>
  each('details.menu[open]', (menu) => {
    menu.open = menu.contains(target)
  })
document.addEventListener('click', ({ target }) => closeMenus(target))
document.addEventListener('keydown', ({ key }) => key === 'Escape' && closeMenus(null))

// Replaces the card of a video by its player. Until then, nothing is loaded from the host of the video.
document.addEventListener('click', (event) => {
  const card = event.target.closest?.('[data-video]')
  if (!card || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  const player = Object.assign(document.createElement('iframe'), {
    src: card.dataset.video,
    className: 'video',
    title: card.textContent,
    allow: 'autoplay; fullscreen; picture-in-picture',
    referrerPolicy: 'strict-origin-when-cross-origin',
  })
  card.replaceWith(player)
  player.focus()
})
