// The page that uploads a version: sends files in the background, at most three at a time, and fills in the proposals of the
// server. Without this script, the form sends the files. Each file is sent by the same form, so that the server has one way
// to receive it.

const MAX_PARALLEL = 3
const HASHED_BYTES_MAX = 64 * 1024 * 1024
const MEASURED_MS = 5000
const MEGABYTE = 1e6
/** Fields that the server fills in, unless a person has edited them. */
const TEXT_FIELDS = ['version_number', 'name', 'environment']
const GROUPS = ['version_type', 'loaders', 'mrpack_loaders', 'game_versions']

const root = document.querySelector('[data-upload]')
const form = root?.querySelector('form')
const list = root?.querySelector('[data-files]')
const said = root?.querySelector('[data-said]')
const texts = JSON.parse(root?.dataset.texts ?? '{}')
/** Names of the fields that a person has edited. */
const edited = new Set()
const waiting = []
const running = new Set()
/** The request that creates the draft. */
let draft
/** The button that was pressed during uploads. */
let submitter
if (root !== null) start()

function start() {
  const input = form.querySelector('input[type=file]')
  form.addEventListener('input', ({ target }) => edited.add(target.name))
  input.addEventListener('change', () => {
    for (const file of input.files) add(file)
    // The files are sent by the script and must not be sent again with the form.
    input.value = ''
  })
  form.addEventListener('submit', (event) => {
    if (!isBusy() || event.submitter?.value === 'discard') return
    event.preventDefault()
    submitter = event.submitter
  })
  window.addEventListener('beforeunload', (event) => {
    if (isBusy() && submitter === undefined) event.preventDefault()
  })
  document.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey) return
    const command = event.key === 's' ? 'save' : event.key === 'Enter' ? 'publish' : undefined
    if (command === undefined) return
    event.preventDefault()
    form.querySelector(`.save button[value=${command}]`).click()
  })
  chooseSchedule()
}

function isBusy() {
  return running.size + waiting.length > 0
}

/** Replaces the texts in braces. */
function text(name, values) {
  return texts[name].replace(/\{(\w+)\}/g, (_all, key) => values[key])
}

function add(file) {
  const row = drawRow(file)
  list.append(row.item)
  waiting.push(row)
  next()
}

function drawRow(file) {
  const item = document.createElement('li')
  const icon = document.createElement('span')
  const middle = document.createElement('div')
  const name = document.createElement('p')
  const bar = document.createElement('progress')
  const facts = document.createElement('p')
  const act = document.createElement('div')
  const button = document.createElement('button')
  name.className = 'name'
  name.dir = 'auto'
  name.textContent = file.name
  bar.max = 1
  bar.value = 0
  bar.setAttribute('aria-label', file.name)
  facts.className = 'facts'
  facts.textContent = texts.waiting
  button.type = 'button'
  button.className = 'tight'
  middle.append(name, bar, facts)
  act.append(button)
  item.append(icon, middle, act)
  const row = { file, item, bar, facts, button, request: undefined, announced: 0 }
  offer(row, 'cancel', () => cancel(row))
  return row
}

function offer(row, name, act) {
  row.button.textContent = name === 'cancel' ? '×' : '↻'
  row.button.setAttribute('aria-label', text(name, { name: row.file.name }))
  row.button.onclick = act
}

function cancel(row) {
  const index = waiting.indexOf(row)
  if (index >= 0) waiting.splice(index, 1)
  row.isCancelled = true
  row.request?.abort()
  fail(row, texts.cancelled)
}

function fail(row, message) {
  running.delete(row)
  row.facts.textContent = message
  row.item.classList.add('bad')
  said.textContent = `${row.file.name}: ${message}`
  offer(row, 'retry', () => {
    row.item.classList.remove('bad')
    row.isCancelled = false
    row.isChecked = true
    row.announced = 0
    row.facts.textContent = texts.waiting
    offer(row, 'cancel', () => cancel(row))
    waiting.push(row)
    next()
  })
  next()
}

function next() {
  while (running.size < MAX_PARALLEL && waiting.length > 0) {
    const row = waiting.shift()
    running.add(row)
    send(row).catch(() => fail(row, texts.failed))
  }
  if (running.size === 0 && waiting.length === 0 && submitter !== undefined) {
    const button = submitter
    submitter = undefined
    form.requestSubmit(button)
  }
}

async function send(row) {
  row.facts.textContent = texts.checking
  const known = row.isChecked ? undefined : await knownVersion(row.file)
  if (row.isCancelled) return
  if (known !== undefined) return fail(row, text('duplicate', { number: known }))
  draft ??= openDraft()
  await draft.catch((error) => {
    draft = undefined
    throw error
  })
  if (row.isCancelled) return
  const answer = await post(row, (event) => showProgress(row, event))
  if (row.isCancelled) return
  const page = new DOMParser().parseFromString(answer.responseText, 'text/html')
  const problem = page.querySelector('#files .error')
  if (answer.status >= 400) return fail(row, (problem ?? page.querySelector('#errors li'))?.textContent ?? texts.failed)
  running.delete(row)
  row.item.remove()
  update(page)
  said.textContent = text('said', { name: row.file.name, percent: 100 })
  next()
}

/** Creates the draft once, so that files that are sent at the same time are added to the same draft. */
async function openDraft() {
  if (new URL(form.action).searchParams.has('draft')) return
  const answer = await post()
  if (answer.status >= 400) throw new Error(answer.statusText)
  form.action = answer.responseURL
  history.replaceState(null, '', answer.responseURL)
}

function post(row, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const body = new FormData()
    body.append('_csrf', form.elements._csrf.value)
    body.append('do', 'upload')
    if (row !== undefined) {
      body.append('files', row.file)
      row.request = request
      row.samples = []
    }
    if (onProgress !== undefined) request.upload.onprogress = onProgress
    request.onload = () => resolve(request)
    request.onerror = () => reject(new Error('The connection failed'))
    request.onabort = () => resolve(request)
    request.open('POST', form.action)
    request.send(body)
  })
}

function showProgress(row, { loaded, total }) {
  const now = performance.now()
  row.samples.push({ at: now, loaded })
  row.samples = row.samples.filter(({ at }) => now - at <= MEASURED_MS)
  const rate = medianRate(row.samples)
  const percent = Math.floor((100 * loaded) / total)
  row.bar.value = loaded / total
  const parts = [text('sending', { percent, rate: (rate / MEGABYTE).toFixed(1) })]
  if (rate > 0) parts.push(text('left', { seconds: Math.ceil((total - loaded) / rate) }))
  row.facts.textContent = parts.join(' · ')
  const quarter = Math.floor(percent / 25) * 25
  if (quarter > row.announced && quarter < 100) {
    row.announced = quarter
    said.textContent = text('said', { name: row.file.name, percent: quarter })
  }
}

/** Shows the stored files and the proposals of the page that the server has sent. */
function update(page) {
  for (const item of page.querySelectorAll('[data-files] > [data-hash]')) {
    if (list.querySelector(`[data-hash="${item.dataset.hash}"]`) === null) list.prepend(item)
  }
  for (const name of TEXT_FIELDS) {
    const field = form.elements[name]
    const filled = page.querySelector(`[name=${name}]`)
    if (field && filled && !edited.has(name)) field.value = filled.value
    copy(page, `${name}-hint`)
  }
  for (const name of GROUPS) if (!edited.has(name)) copy(page, name)
  const isEdited = [...edited].some((name) => name.startsWith('dep_'))
  if (!isEdited) form.querySelector('[data-dependencies]').replaceWith(page.querySelector('[data-dependencies]'))
}

function copy(page, id) {
  const next = page.getElementById(id)
  if (next !== null) document.getElementById(id)?.replaceWith(next)
}

/** Returns bytes per second: the median of the rates between two measurements. */
function medianRate(samples) {
  const rates = samples
    .slice(1)
    .map(({ at, loaded }, index) => (1000 * (loaded - samples[index].loaded)) / Math.max(1, at - samples[index].at))
    .sort((a, b) => a - b)
  return rates[Math.floor(rates.length / 2)] ?? 0
}

/** Returns the number of the public version that contains the file. Does not hash large files, which take much memory. */
async function knownVersion(file) {
  if (crypto.subtle === undefined || file.size > HASHED_BYTES_MAX) return undefined
  try {
    const digest = await crypto.subtle.digest('SHA-512', await file.arrayBuffer())
    const hash = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const base = new URL(root.dataset.api, location.href)
    const answer = await fetch(new URL(hash, base), { credentials: 'omit' })
    return answer.ok ? (await answer.json()).version_number : undefined
  } catch {
    return undefined
  }
}

/** The main button has the label of the choice, and the time zone is that of the browser. */
function chooseSchedule() {
  const button = form.querySelector('button[value=publish]')
  const now = button.textContent
  const show = () => {
    button.textContent = form.elements.when.value === 'at' ? button.dataset.at : now
  }
  form.addEventListener('change', show)
  show()
  const { zone } = form.elements
  if (zone.value === 'UTC') zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone
}
