// Unsaved changes: the save bar counts them, the browser stores them until they are saved, and leaving the page asks.
import { each, fill, later, say, write } from './base.js'

const PREFIX = 'depot-draft:'
const MONTH_MS = 30 * 86_400_000
const user = document.querySelector('.own .name')?.textContent ?? ''

const isKept = (control) =>
  control.name !== '' &&
  !['_csrf', 'was', 'do'].includes(control.name) &&
  !['hidden', 'password', 'file', 'search', 'submit', 'button'].includes(control.type) &&
  !/password|secret|token|(^|_)code$/i.test(control.name)

const isChanged = (control) => {
  if (control.type === 'checkbox' || control.type === 'radio') return control.checked !== control.defaultChecked
  if (control.type === 'file') return control.value !== ''
  if (control instanceof HTMLSelectElement) {
    const options = [...control.options]
    const byDefault = options.filter((option) => option.defaultSelected)
    const chosen = byDefault.length === 0 && !control.multiple ? options.slice(0, 1) : byDefault
    return options.some((option) => option.selected !== chosen.includes(option))
  }
  return control.value !== control.defaultValue
}

const labelOf = (control) => {
  const group = control.type === 'checkbox' || control.type === 'radio' ? control.closest('fieldset') : null
  const label = group?.querySelector('legend') ?? control.labels?.[0]
  return (label?.firstChild?.textContent ?? control.getAttribute('aria-label') ?? control.name).trim()
}

/** The first bar's form is the form that Ctrl+S saves. */
const forms = [...document.querySelectorAll('[data-save]')].map((bar) => ({ bar, form: bar.closest('form') }))
let isSending = false

for (const [index, { bar, form }] of forms.entries()) {
  const keyNow = () => {
    const { pathname, searchParams } = new URL(form.getAttribute('action'), location.href)
    return `${PREFIX}${user}:${pathname}:${searchParams.get('draft') ?? ''}${index}`
  }
  let key = keyNow()
  const line = bar.querySelector('p')
  const discard = bar.querySelector('[data-discard]')
  const given = line.textContent
  const controls = () => [...form.elements].filter((control) => control.name)
  const changed = () =>
    controls().filter((control) => (isKept(control) || control.type === 'file') && isChanged(control))
  // A form that was refused or restored contains values that are not saved.
  const isRefused = document.querySelector('#errors, [data-restored]') !== null

  const show = () => {
    const names = [...new Set(changed().map(labelOf))]
    const count = names.length
    const text = count === 1 ? bar.dataset.one : bar.dataset.many
    write(line, count === 0 ? given : fill(text, { count, names: names.join(', ') }))
    if (discard !== null) discard.hidden = count === 0 && !isRefused
    form.toggleAttribute('data-dirty', count > 0 || isRefused)
  }

  const store = later(500, () => {
    // The page can have created a draft.
    if (key !== keyNow()) localStorage.removeItem(key)
    key = keyNow()
    const fields = changed().filter(isKept)
    if (fields.length === 0) return localStorage.removeItem(key)
    const values = [...new Set(fields.map(({ name }) => name))].map((name) => [name, new FormData(form).getAll(name)])
    const was = form.elements.was?.value ?? ''
    localStorage.setItem(key, JSON.stringify({ at: Date.now(), was, values }))
  })

  const restore = ({ was, values }) => {
    for (const [name, texts] of values)
      for (const control of controls().filter((each) => each.name === name)) {
        if (control.type === 'checkbox' || control.type === 'radio') control.checked = texts.includes(control.value)
        else if (control.multiple) for (const option of control.options) option.selected = texts.includes(option.value)
        else control.value = texts[0] ?? ''
      }
    // The server compares with what the draft was made of.
    if (form.elements.was !== undefined && was !== '') form.elements.was.value = was
    form.dispatchEvent(new Event('input'))
    each('textarea', (area) => area.dispatchEvent(new Event('input', { bubbles: true })), form)
  }

  const offer = () => {
    const draft = JSON.parse(localStorage.getItem(key) ?? 'null')
    if (draft === null || isRefused) return
    if (Date.now() - draft.at > MONTH_MS || new URLSearchParams(location.search).has('done'))
      return localStorage.removeItem(key)
    const note = document.createElement('div')
    note.className = 'note warn'
    note.setAttribute('role', 'status')
    const text = document.createElement('div')
    const day = new Date(draft.at).toLocaleString(document.documentElement.lang, {
      dateStyle: 'long',
      timeStyle: 'short',
    })
    text.append(fill(bar.dataset.draft, { day }), ' ')
    const button = (label, action) => {
      const made = document.createElement('button')
      made.type = 'button'
      made.className = 'plain'
      made.textContent = label
      made.addEventListener('click', () => {
        note.remove()
        action()
      })
      text.append(made, ' ')
    }
    button(bar.dataset.restore, () => restore(draft))
    button(bar.dataset.drop, () => localStorage.removeItem(key))
    note.append(text)
    const place = document.createElement('div')
    place.className = 'part notices'
    place.append(note)
    form.before(place)
  }

  form.addEventListener('input', () => {
    show()
    store()
  })
  discard?.addEventListener('click', () => {
    localStorage.removeItem(key)
    isSending = true
  })
  form.addEventListener('submit', (event) => {
    isSending = !event.defaultPrevented
  })
  show()
  offer()
}

addEventListener('beforeunload', (event) => {
  if (!isSending && document.querySelector('form[data-dirty]') !== null) event.preventDefault()
})
// The browser can show the page again from its memory.
addEventListener('pageshow', () => {
  isSending = false
})
// Signing out removes what the browser stored.
each('.bar form[action$="sign-out"]', (form) =>
  form.addEventListener('submit', () => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key)
  }),
)

// Ctrl+S saves, Ctrl+Enter sends the form of the field.
addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  const isSave = event.key === 's'
  if (!isSave && event.key !== 'Enter') return
  const near = document.activeElement?.closest('form')
  const form = isSave || near === null ? (forms.find((each) => each.form === near) ?? forms[0])?.form : near
  if (form === undefined || form === null) return
  const button =
    (isSave && form.querySelector('button[data-saves]')) ||
    form.querySelector('button.main') ||
    form.querySelector('button:not([type=button])')
  if (button === null) return
  event.preventDefault()
  if (isSave) say(button.textContent)
  form.requestSubmit(button)
})
