// Suggestions below the search field while typing: a combobox with a list (WAI-ARIA Authoring Practices). The focus stays
// in the field. Without a chosen suggestion, Enter searches.
const field = document.querySelector('[data-suggest]')

/** Waits for a pause, so that typing a word costs few requests. */
const PAUSE_MS = 150
const ANSWERS_MAX = 50

const setUp = () => {
  const list = document.createElement('div')
  list.id = 'suggestions'
  list.className = 'suggestions'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', field.dataset.label)
  const said = document.createElement('span')
  said.className = 'vh'
  said.setAttribute('role', 'status')
  field.form.append(list, said)
  const states = { role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-expanded': 'false' }
  for (const [name, value] of Object.entries(states)) field.setAttribute(name, value)

  const answers = new Map()
  let control
  let timer
  let chosen
  const options = () => [...list.querySelectorAll('[role=option]')]
  const choose = (option) => {
    chosen?.setAttribute('aria-selected', 'false')
    chosen = option
    chosen?.setAttribute('aria-selected', 'true')
    chosen?.scrollIntoView({ block: 'nearest' })
    if (chosen === undefined) field.removeAttribute('aria-activedescendant')
    else field.setAttribute('aria-activedescendant', chosen.id)
  }
  const close = () => {
    clearTimeout(timer)
    control?.abort()
    choose(undefined)
    list.hidden = true
    said.textContent = ''
    field.setAttribute('aria-expanded', 'false')
  }
  const show = (page) => {
    if (document.activeElement !== field) return
    choose(undefined)
    list.replaceChildren(...[...page.body.children].map((part) => part.cloneNode(true)))
    list.hidden = options().length === 0
    said.textContent = list.firstElementChild?.dataset.count ?? ''
    field.setAttribute('aria-expanded', String(!list.hidden))
  }
  const ask = async () => {
    const text = field.value.trim()
    if (text.length < 2) return close()
    control?.abort()
    const own = new AbortController()
    control = own
    try {
      if (!answers.has(text)) {
        const url = `${field.dataset.suggest}?${new URLSearchParams({ q: text })}`
        const answer = await fetch(url, { signal: own.signal, headers: { accept: 'text/html' } })
        if (!answer.ok) return close()
        if (answers.size >= ANSWERS_MAX) answers.clear()
        answers.set(text, new DOMParser().parseFromString(await answer.text(), 'text/html'))
      }
      if (!own.signal.aborted) show(answers.get(text))
    } catch {
      // Without suggestions, the field searches as before.
      if (!own.signal.aborted) close()
    }
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(ask, PAUSE_MS)
  })
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return
    const all = options()
    if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault()
      return close()
    }
    if (event.key === 'Enter' && chosen !== undefined) {
      event.preventDefault()
      return chosen.click()
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    if (list.hidden) return ask()
    // The field itself is between the last option and the first one.
    const at = all.indexOf(chosen) + 1 + by
    choose(all[((at + all.length + 1) % (all.length + 1)) - 1])
  })
  // A click on a suggestion must come before the field loses its focus.
  list.addEventListener('pointerdown', (event) => event.preventDefault())
  field.addEventListener('blur', close)
}
if (field !== null) setUp()
