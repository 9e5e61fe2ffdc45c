// The page that uploads a version: sends files in the background, at most three at a time, and fills in the proposals of the
// server. Each file is sent by the form of the page, so that the server has one way to receive it.
import { ask, each, fill, later, say, swap, textsOf } from './base.js'

const MAX_PARALLEL = 3
/** Larger files are not hashed before the upload, because the browser needs the whole file in memory. */
const HASHED_BYTES_MAX = 256 * 1024 * 1024
const MEASURED_MS = 5000
const MEGABYTE = 1e6
/** Fields and groups that the server fills in, unless a person has edited them. */
const TEXT_FIELDS = ['version_number', 'name', 'environment']
const GROUPS = ['version_type', 'loaders', 'mrpack_loaders', 'game_versions']

const root = document.querySelector('[data-upload]')
const form = root?.querySelector('form')
const texts = JSON.parse(root?.dataset.texts ?? '{}')
const list = () => form.querySelector('[data-files]')
/** Names of the fields that a person has edited. */
const edited = new Set()
const waiting = []
const running = new Set()
/** The request that creates the draft, and the last hash: files are hashed one by one. */
let draft
let hashing = Promise.resolve()
/** The button that was pressed during uploads. */
let submitter

const isBusy = () => running.size + waiting.length > 0

const number = (value, digits = 1) =>
  value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: digits })

/** A file with its row: the name, progress, facts and two buttons. */
const add = (file) => {
  const item = root.querySelector('[data-row]').content.firstElementChild.cloneNode(true)
  const [again, away] = ['[data-again]', '[data-away]'].map((name) => item.querySelector(name))
  const row = { file, item, again, away, bar: item.querySelector('progress'), facts: item.querySelector('.facts') }
  item.querySelector('.name').textContent = file.name
  row.bar.setAttribute('aria-label', file.name)
  again.addEventListener('click', () => queue(row))
  away.addEventListener('click', () => (running.has(row) || waiting.includes(row) ? cancel(row) : item.remove()))
  list().append(item)
  const size = Math.ceil(file.size / 1024 / 1024)
  if (file.size > Number(root.dataset.max))
    return fail(row, fill(texts.tooLarge, { size: number(size) }), { isFinal: true })
  queue(row)
}

const name = (button, text, row) => button.setAttribute('aria-label', fill(texts[text], { name: row.file.name }))

const queue = (row) => {
  row.item.classList.remove('bad')
  row.item.querySelector('.error')?.remove()
  row.isCancelled = false
  row.announced = 0
  row.bar.hidden = false
  row.bar.value = 0
  row.facts.textContent = texts.waiting
  row.again.hidden = true
  name(row.away, 'cancel', row)
  waiting.push(row)
  next()
}

const cancel = (row) => {
  row.isCancelled = true
  if (waiting.includes(row)) waiting.splice(waiting.indexOf(row), 1)
  row.request?.abort()
  fail(row, texts.cancelled)
}

/** `problem` is a text, or the error of the page that the server has sent. */
const fail = (row, problem, { isFinal = false, retry = 'retry' } = {}) => {
  running.delete(row)
  row.bar.hidden = true
  row.facts.textContent = ''
  row.item.classList.add('bad')
  let line = problem
  if (typeof problem === 'string') {
    line = document.createElement('p')
    line.className = 'error'
    line.textContent = problem
  }
  row.facts.after(line)
  say(`${row.file.name}: ${line.textContent}`)
  row.again.hidden = isFinal
  name(row.again, retry, row)
  name(row.away, 'remove', row)
  next()
}

const next = () => {
  while (running.size < MAX_PARALLEL && waiting.length > 0) {
    const row = waiting.shift()
    running.add(row)
    send(row).catch(() => row.isCancelled || fail(row, texts.lost))
  }
  if (!isBusy() && submitter !== undefined) {
    const button = submitter
    submitter = undefined
    form.requestSubmit(button)
  }
}

const parse = (text) => new DOMParser().parseFromString(text, 'text/html')
const errorOn = (page) =>
  page.querySelector('#files .bad .error, #files .error') ?? page.querySelector('#errors li, main h1')?.textContent

const send = async (row) => {
  row.facts.textContent = texts.checking
  const known = row.isChecked ? undefined : await knownFile(row.file)
  row.isChecked = true
  if (row.isCancelled) return
  if (known) return fail(row, known, { retry: 'anyway' })
  draft ??= openDraft()
  await draft.catch((error) => {
    draft = undefined
    throw error
  })
  if (row.isCancelled) return
  const answer = await post(row)
  if (row.isCancelled) return
  const page = parse(answer.responseText)
  if (answer.status === 413)
    return fail(row, fill(texts.tooLarge, { size: number(Math.ceil(row.file.size / 1024 / 1024)) }), { isFinal: true })
  if (answer.status >= 400) return fail(row, errorOn(page) || texts.failed)
  // A session that has ended leads to the sign-in page.
  if (page.querySelector('[data-upload]') === null) return fail(row, texts.signedOut)
  running.delete(row)
  row.item.remove()
  // If somebody has deleted or published the draft, the file is in another one.
  useDraft(answer.responseURL)
  update(page)
  say(fill(texts.said, { name: row.file.name, percent: 100 }))
  next()
}

/** Creates the draft once, so that files that are sent at the same time are added to the same draft. */
const openDraft = async () => {
  if (new URL(form.action).searchParams.has('draft')) return
  const answer = await post()
  if (answer.status >= 400) throw new Error(answer.statusText)
  useDraft(answer.responseURL)
}

const useDraft = (url) => {
  if (!new URL(url).searchParams.has('draft')) return
  form.action = url
  history.replaceState(null, '', url)
}

const post = (row) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const body = new FormData()
    body.append('_csrf', form.elements._csrf.value)
    body.append('do', 'upload')
    if (row !== undefined) {
      body.append('files', row.file)
      row.request = request
      row.samples = []
      request.upload.onprogress = (event) => showProgress(row, event)
    }
    request.onload = () => resolve(request)
    request.onerror = () => reject(new Error('The connection failed'))
    request.onabort = () => resolve(request)
    request.open('POST', form.action)
    request.send(body)
  })

const showProgress = (row, { loaded, total }) => {
  const now = performance.now()
  row.samples = [...row.samples, { at: now, loaded }].filter(({ at }) => now - at <= MEASURED_MS)
  const rate = medianRate(row.samples)
  const percent = Math.floor((100 * loaded) / total)
  row.bar.value = loaded / total
  const sizes = { sent: number(loaded / MEGABYTE), total: number(total / MEGABYTE) }
  const facts = [loaded === total ? texts.reading : fill(texts.sending, { percent, ...sizes })]
  if (rate > 0 && loaded < total)
    facts.push(
      fill(texts.rate, { rate: number(rate / MEGABYTE) }),
      fill(texts.left, { seconds: number(Math.ceil((total - loaded) / rate), 0) }),
    )
  row.facts.replaceChildren(
    ...facts.map((text) => {
      const part = document.createElement('span')
      part.textContent = text
      return part
    }),
  )
  const quarter = Math.floor(percent / 25) * 25
  if (quarter > row.announced && quarter < 100) {
    row.announced = quarter
    say(fill(texts.said, { name: row.file.name, percent: quarter }))
  }
}

/** Returns bytes per second: the median of the rates between two measurements. */
const medianRate = (samples) => {
  const rates = samples
    .slice(1)
    .map(({ at, loaded }, index) => (1000 * (loaded - samples[index].loaded)) / Math.max(1, at - samples[index].at))
    .sort((a, b) => a - b)
  return rates[Math.floor(rates.length / 2)] ?? 0
}

/** A value differs from the page's if a person has typed it, or has restored it after leaving the page. */
const isEdited = (field) =>
  edited.has(field) ||
  [...form.querySelectorAll(`[name=${field}]`)].some(
    (control) =>
      control.checked !== control.defaultChecked || control.value !== (control.defaultValue ?? control.value),
  )

const replace = (before, after) => {
  if (before && after) before.replaceWith(document.adoptNode(after))
}

/** Shows the stored files and the proposals of a page, and keeps what a person has edited. */
const update = (page) => {
  const stored = [...page.querySelectorAll('[data-files] > [data-hash]')]
  for (const item of list().querySelectorAll('[data-hash]')) if (!stored.some(({ id }) => id === item.id)) item.remove()
  for (const item of stored.reverse()) if (document.getElementById(item.id) === null) list().prepend(item)
  for (const field of TEXT_FIELDS)
    if (!isEdited(field))
      replace(form.elements[field]?.closest('.field'), page.querySelector(`[name=${field}]`)?.closest('.field'))
  for (const group of GROUPS) if (!isEdited(group)) replace(document.getElementById(group), page.getElementById(group))
  if (![...edited].some((field) => field.startsWith('dep_'))) replaceDependencies(page)
  refresh()
}

const replaceDependencies = (page) =>
  replace(document.getElementById('dependencies'), page.getElementById('dependencies'))

/** The side of the page shows what the form contains. */
const refresh = later(400, () => ask(form, 'preview', 'aside'))

/** Runs a button that only changes the page, without loading it: uploads continue. */
const runNow = async (button) => {
  const { value } = button
  if (value === 'preview') return ask(form, value, 'preview aside')
  const answer = await fetch(form.action, { method: 'POST', body: textsOf(form, value) })
  const page = parse(await answer.text())
  if (page.querySelector('[data-upload]') === null) {
    // The page shows why: the session or the project has ended.
    button.removeAttribute('data-now')
    return form.requestSubmit(button)
  }
  if (value.startsWith('remove.')) {
    update(page)
    document.getElementById('add-files').focus()
  } else {
    edited.add('dep_')
    replaceDependencies(page)
    const field = value.startsWith('search.') && document.getElementById(`dep_query.${value.slice(7)}`)
    ;(field || document.getElementById('dep_find')).focus()
  }
  say(page.querySelector('#errors li')?.textContent ?? '')
  return refresh()
}

/** Returns the error of a file that the server already has. */
const knownFile = async (file) => {
  if (crypto.subtle === undefined || file.size > HASHED_BYTES_MAX) return undefined
  try {
    hashing = hashing.catch(() => undefined).then(async () => crypto.subtle.digest('SHA-512', await file.arrayBuffer()))
    const sha512 = [...new Uint8Array(await hashing)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const body = new URLSearchParams({ _csrf: form.elements._csrf.value, do: 'check', filename: file.name, sha512 })
    return parse(await (await fetch(form.action, { method: 'POST', body })).text()).querySelector('#files .bad .error')
  } catch {
    return undefined
  }
}

/** The main button has the label of the choice, and the time zone is that of the browser, with its offset at the time. */
const chooseSchedule = () => {
  const { zone, when, day, time } = form.elements
  const button = form.querySelector('button[value=publish]')
  const now = button.textContent
  const offset = form.querySelector('[data-offset]')
  const show = () => {
    button.textContent = when.value === 'at' ? button.dataset.at : now
    const at = Date.parse(`${day.value}T${time.value}`)
    const options = { timeZone: zone.value, timeZoneName: 'shortOffset' }
    try {
      const parts = new Intl.DateTimeFormat('en', options).formatToParts(Number.isNaN(at) ? Date.now() : at)
      const text = parts.find(({ type }) => type === 'timeZoneName').value.replace('GMT', 'UTC')
      offset.textContent = fill(texts.offset, { offset: text })
    } catch {
      offset.textContent = ''
    }
  }
  form.addEventListener('change', show)
  if (zone.value === 'UTC') {
    zone.defaultValue = Intl.DateTimeFormat().resolvedOptions().timeZone
    zone.value = zone.defaultValue
  }
  show()
}

if (root !== null) {
  form.addEventListener('input', ({ target }) => edited.add(target.name))
  form.addEventListener('change', ({ target }) => {
    if (target.type === 'file') {
      for (const file of target.files) add(file)
      // The script sends the files: they must not be sent again with the form.
      target.value = ''
    } else refresh()
  })
  // Before the listeners that expect the form to be sent.
  form.addEventListener(
    'submit',
    (event) => {
      const button = event.submitter
      if (button?.dataset.now !== undefined) {
        event.preventDefault()
        runNow(button).catch(() => say(texts.lost))
      } else if (isBusy() && button?.value !== 'discard') {
        event.preventDefault()
        submitter = button
      }
    },
    true,
  )
  addEventListener('beforeunload', (event) => {
    if (isBusy()) event.preventDefault()
  })
  chooseSchedule()
}

// A part of a page that changes by itself, such as a running scan: it is loaded again while it has the attribute.
each('[data-refresh]', () => {
  const timer = setInterval(async () => {
    const part = document.querySelector('[data-refresh]')
    if (part === null) return clearInterval(timer)
    if (document.visibilityState === 'visible') swap(part.id, location.href).catch(() => {})
  }, 4000)
})
