// Changes of a list without a reload: filters, order, setup, and links to the same path load the list and replace `#live`.
// The list keeps its focus and the address is that of the shown list. Forms of other pages are sent as a whole.
import { each, isShortcut, numberText } from './base.js'

const find = (id) => document.getElementById(id)
const said = find('said')
const failed = find('failed')
/** URL of the list that was requested last, which the next change adds to. */
let wanted = new URL(location.href)
/** URL of the shown list. */
let shown = location.href
let control
let repeat

/** Finds the element that replaces the one with the focus. */
const focusKey = (element) => {
  if (element.id !== '') return `#${CSS.escape(element.id)}`
  const href = element.getAttribute('href')
  return href === null ? '#found' : `a[href="${CSS.escape(href)}"]`
}

const focusOn = (element, options) => {
  if (element === null) return
  if (element.tabIndex < 0) element.tabIndex = -1
  element.focus(options)
}

/** Shows the counts next to the filters and types. A `-` hides its value, and a `+` shows the link to all values. */
const showCounts = ({ counts, types, chosen, sort }) => {
  const groups = new Map(counts.split(/ (?=[a-z])/).map((text) => [text[0], text.slice(2)]))
  each('[data-facet]', (group) => {
    const text = groups.get(group.dataset.facet) ?? ''
    const numbers = text.replace('+', '').split(' ')
    group.querySelectorAll('li').forEach((item, index) => {
      item.hidden = numbers[index] === '-'
      if (!item.hidden) item.querySelector('.n').textContent = numberText(numbers[index])
    })
    group.hidden = numbers.every((number) => number === '-')
    group.querySelector('.more').hidden = !text.endsWith('+')
  })
  document.querySelector('#filters > summary .n').textContent = chosen
  const totals = types.split(' ')
  document.querySelectorAll('.types a .n').forEach((number, index) => {
    number.textContent = numberText(totals[index])
  })
  find('sort').value = sort
}

/** Makes the forms and links around the list those of the shown list. */
const showChoices = (setup) => {
  const query = wanted.searchParams
  each('[data-facet] input', (box) => (box.checked = query.getAll(box.name).includes(box.value)))
  each('[data-without]', (link) => {
    const { without, keep } = link.dataset
    const url = new URL(link.href)
    const own = url.searchParams.get(keep)
    url.search = query
    for (const name of without.split(' ')) url.searchParams.delete(name)
    if (keep !== undefined) own === null ? url.searchParams.delete(keep) : url.searchParams.set(keep, own)
    link.href = url.href
  })
  each('[data-facet] .more', (link) => {
    const url = new URL(wanted)
    url.searchParams.append('all', link.closest('[data-facet]').dataset.facet)
    link.href = url.href
  })
  const [version, loader] = (setup ?? '').split('|')
  const form = find('setup')
  if (setup !== undefined && form !== null) {
    form.elements.game_version.value = version
    form.elements.loader.value = loader
  }
  const own = `${wanted.pathname}${wanted.search}`
  const base = document.querySelector('.brand').pathname.replace(/\/$/, '')
  each('input[name=return]', (field) => (field.value = own.slice(base.length)))
  each('header a[href*="return="]', (link) => {
    link.search = new URLSearchParams({ return: own.slice(base.length) })
  })
}

/** Replaces the list, and the filters if the page contains them. Returns false if the filters lack values of the list. */
const show = (page, next, focus) => {
  const { url, title = page.title, values, setup } = next.dataset
  const before = find('live')
  if (values !== undefined && values !== find('choices').dataset.values) return false
  if (url !== undefined) wanted = new URL(url, location.href)
  const group = document.activeElement?.closest('[data-facet]')?.dataset.facet
  const key = before.contains(document.activeElement) ? focusKey(document.activeElement) : undefined
  if (values !== undefined) {
    showCounts(next.dataset)
    next.querySelector('h1').after(before.querySelector('.tools'))
  } else if (find('choices') !== null) {
    const [old, now] = [find('choices'), page.getElementById('choices')]
    const open = [...old.querySelectorAll('details[open]')].map((part) => part.dataset.facet)
    each('details', (part) => (part.open ||= open.includes(part.dataset.facet)), now)
    old.replaceChildren(...now.childNodes)
    old.dataset.values = now.dataset.values
    each('button', (button) => (button.hidden = true), old)
    const chosen = '#filters > summary .n'
    for (const part of [chosen, '.types']) document.querySelector(part).replaceWith(page.querySelector(part))
  }
  before.replaceWith(document.adoptNode(next))
  document.title = title
  showChoices(setup)
  said.textContent = find('found').textContent
  if (focus !== undefined) {
    focusOn(next.querySelector('h1'))
    next.scrollIntoView()
  } else if (key !== undefined) focusOn(find('live').querySelector(key) ?? find('found'), { preventScroll: true })
  else if (group !== undefined && document.activeElement?.closest('[data-facet] :not([hidden])') === null)
    document.querySelector(`[data-facet="${group}"] summary`)?.focus({ preventScroll: true })
  document.dispatchEvent(new CustomEvent('swapped', { detail: next }))
  return true
}

/** URL that answers with the list alone. Another text or view changes the tools of the list, and needs the whole page. */
const partOf = (url) => {
  const { part } = find('live').dataset
  const [own, last] = [new URL(url), new URL(shown)]
  own.hash = ''
  const isSame = ['q', 'view'].every((name) => own.searchParams.get(name) === last.searchParams.get(name))
  if (part !== undefined && isSame) own.searchParams.set('part', part)
  return own
}

/**
 * Loads the list and shows it, unless another one was requested in the meantime. `past`: the browser has already changed
 * the address. `focus`: moves to the heading, for another page of the list.
 */
const load = async (url, { past = false, focus, setup } = {}) => {
  control?.abort()
  const own = new AbortController()
  control = own
  wanted = new URL(url)
  repeat = () => load(url, { past, focus, setup })
  find('live').setAttribute('aria-busy', 'true')
  try {
    const options = { signal: own.signal, headers: { accept: 'text/html' } }
    const read = async (answer) => {
      if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText)
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      return { page, next: page.getElementById('live') }
    }
    let { page, next } = await read(setup === undefined ? await fetch(partOf(url), options) : await setup(options))
    if (own.signal.aborted) return
    if (next !== null && !show(page, next, focus)) {
      ;({ page, next } = await read(await fetch(wanted, options)))
      if (own.signal.aborted) return
      if (next !== null) show(page, next, focus)
    }
    if (next === null) return location.assign(url)
    failed.hidden = true
    if (!past && wanted.href !== shown) history.pushState(null, '', wanted)
    shown = past ? location.href : wanted.href
  } catch {
    if (own.signal.aborted) return
    failed.hidden = false
  }
  find('live').removeAttribute('aria-busy')
}

/** URL of the list with the visible fields of a form. Its hidden fields can be older than what was requested last. */
const urlOf = (form) => {
  const url = new URL(wanted)
  const names = new Set(['page'])
  for (const { name, type } of form.elements) if (name !== '' && type !== 'hidden') names.add(name)
  for (const name of names) url.searchParams.delete(name)
  for (const [name, value] of new FormData(form))
    if (names.has(name) && value !== '') url.searchParams.append(name, value)
  return url
}

/** Sends the setup, which leads on to the list. */
const sendSetup = (form) => {
  const body = new URLSearchParams(new FormData(form))
  const base = document.querySelector('.brand').pathname.replace(/\/$/, '')
  const url = new URL(wanted)
  url.searchParams.delete('setup')
  url.searchParams.delete('page')
  const { pathname, search } = partOf(url)
  body.set('return', `${pathname}${search}`.slice(base.length))
  return load(url, { setup: (options) => fetch(form.action, { ...options, method: 'POST', body }) })
}

const isLive = (element) => find('live') !== null && element.closest('main') !== null

const send = (form) => {
  if (!isLive(form)) return form.requestSubmit()
  return form.method === 'post' ? sendSetup(form) : load(urlOf(form))
}

// A select that has the focus changes with each arrow key: such a change waits for Enter or for the next field. A form
// that leaves the page shows its button instead.
let key
document.addEventListener('keydown', (event) => {
  key = event.altKey || event.key === ' ' ? undefined : event.key
})
document.addEventListener('pointerdown', () => {
  key = undefined
})
const buttonsOf = (form) =>
  [...form.elements].filter(({ localName, type }) => localName === 'button' && type === 'submit')

const ready = new WeakSet()

const setUp = (form) => {
  if (ready.has(form)) return
  ready.add(form)
  let isWaiting = false
  const sendNow = () => {
    isWaiting = false
    send(form)
  }
  for (const button of buttonsOf(form)) button.hidden = true
  form.addEventListener('change', ({ target }) => {
    // A value is either wanted or excluded.
    const item = target.closest('[data-facet] li')
    if (target.checked && item !== null) each('input', (box) => (box.checked = box === target), item)
    isWaiting = target.localName === 'select' && key !== undefined && key !== 'Enter'
    if (!isWaiting) return sendNow()
    if (!isLive(form)) for (const button of buttonsOf(form)) button.hidden = false
  })
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !isWaiting) return
    event.preventDefault()
    sendNow()
  })
  form.addEventListener('focusout', () => isWaiting && isLive(form) && sendNow())
  form.addEventListener('submit', (event) => {
    if (!isLive(form)) return
    event.preventDefault()
    sendNow()
  })
}
each('form[data-send]', setUp)
document.addEventListener('swapped', ({ detail }) => each('form[data-send]', setUp, detail))

if (find('live') !== null) {
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('main a[href]')
    if (link === null || link === undefined || event.defaultPrevented || event.button !== 0) return
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target !== '') return
    const url = new URL(link.href)
    if (url.origin !== location.origin || url.pathname !== location.pathname || url.hash !== '') return
    event.preventDefault()
    void load(url, { focus: link.closest('.pages') === null ? undefined : 'heading' })
  })
  addEventListener('popstate', () => {
    if (location.href.split('#')[0] !== shown.split('#')[0]) void load(location.href, { past: true })
  })
  failed.querySelector('button').addEventListener('click', () => repeat?.())
}

// J and K move through the results.
document.addEventListener('keydown', (event) => {
  const by = { j: 1, k: -1 }[event.key]
  if (by === undefined || !isShortcut(event)) return
  const links = [...document.querySelectorAll('.hit :is(h2, h3) > a, .card h2 > a')]
  const current = links.findIndex((link) => link.closest('li').contains(document.activeElement))
  links[Math.max(current + by, 0)]?.focus()
})
