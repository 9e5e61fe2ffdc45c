// The rows of the files that the upload page sends, at most three at a time: progress, pause, and what went wrong.
import { fill, say } from './base.js'
import { deleteFile } from './send.js'

const MAX_PARALLEL = 3
const MEASURED_MS = 5000
const MEBIBYTE = 1024 * 1024

export const root = document.querySelector('[data-upload]')
export const form = root?.querySelector('form')
export const texts = JSON.parse(root?.dataset.texts ?? '{}')
export const list = () => form.querySelector('[data-files]')
const waiting = []
const running = new Set()
/** Files that a person has paused. */
export const paused = new Set()
/** IDs of the rows of this page's uploads, which the server lists too. */
export const own = new Set()
/** What `upload.js` does: sends a row, shows why a row has failed, and continues when no row is left. */
export const hooks = { send: undefined, failed: undefined, idle: undefined }

export const isBusy = () => running.size + waiting.length > 0

export const number = (value, digits = 1) =>
  value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: digits })

/** A file with its row: the name, progress, facts and three buttons. `before`: the row of the upload that it continues. */
export const add = (file, before) => {
  const item = root.querySelector('[data-row]').content.firstElementChild.cloneNode(true)
  const [again, hold, away] = ['[data-again]', '[data-hold]', '[data-away]'].map((name) => item.querySelector(name))
  const row = {
    file,
    item,
    again,
    hold,
    away,
    bar: item.querySelector('progress'),
    facts: item.querySelector('.facts'),
  }
  row.onSent = (sent) => showProgress(row, sent)
  item.querySelector('.name').textContent = file.name
  row.bar.setAttribute('aria-label', file.name)
  again.addEventListener('click', () => queue(row))
  hold.addEventListener('click', () => (paused.has(row) ? queue(row) : stop(row)))
  away.addEventListener('click', () => (item.classList.contains('bad') ? item.remove() : cancel(row)))
  if (before) {
    before.replaceWith(item)
    row.url = before.dataset.waiting
    row.isChecked = true
    own.add(idOf(row))
  } else list().append(item)
  const size = Math.ceil(file.size / 1024 / 1024)
  if (file.size > Number(root.dataset.max))
    return fail(row, fill(texts.tooLarge, { size: number(size) }), { isFinal: true })
  queue(row)
}

const name = (button, text, row) => button.setAttribute('aria-label', fill(texts[text], { name: row.file.name }))
export const idOf = ({ url }) => `upload-${url?.split('/').at(-1)}`

/** Shows facts about a row, and whether it can be paused or continued. */
export const showState = (row, ...facts) => {
  const isPaused = paused.has(row)
  row.hold.hidden = !isPaused && !running.has(row)
  name(row.hold, isPaused ? 'resume' : 'pause', row)
  for (const [index, icon] of [...row.hold.children].entries())
    icon.toggleAttribute('hidden', isPaused === (index === 0))
  row.facts.replaceChildren(
    ...facts.map((text) => {
      const part = document.createElement('span')
      part.textContent = text
      return part
    }),
  )
}

const queue = (row) => {
  row.item.classList.remove('bad')
  row.item.querySelector('.error')?.remove()
  paused.delete(row)
  row.control = new AbortController()
  row.signal = row.control.signal
  row.offset = undefined
  row.announced ??= 0
  row.samples = []
  row.bar.hidden = false
  row.again.hidden = true
  showState(row, texts.waiting)
  name(row.away, 'cancel', row)
  waiting.push(row)
  next()
}

/** Ends the requests of a row. */
const end = (row) => {
  if (waiting.includes(row)) waiting.splice(waiting.indexOf(row), 1)
  running.delete(row)
  paused.delete(row)
  row.control.abort()
}

const stop = (row) => {
  end(row)
  paused.add(row)
  showState(row, texts.paused)
  say(`${row.file.name}: ${texts.paused}`)
  next()
}

const cancel = (row) => {
  end(row)
  drop(row)
  fail(row, texts.cancelled)
}

/** Deletes the upload of a row, so that it does not count against the limits of the account. */
export const drop = (row) => {
  if (row.url !== undefined) void deleteFile(row.url)
  row.url = undefined
}

/** `problem` is a text, or the error of the page that the server has sent. */
export const fail = (row, problem, { isFinal = false, retry = 'retry' } = {}) => {
  running.delete(row)
  row.bar.hidden = true
  showState(row)
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
    const { signal } = row
    running.add(row)
    // A row that was paused or cancelled shows that already.
    hooks.send(row).catch((problem) => signal.aborted || hooks.failed(row, problem))
  }
  if (!isBusy()) hooks.idle()
}

export const finish = (row) => {
  running.delete(row)
  own.delete(idOf(row))
  row.item.remove()
  say(fill(texts.said, { name: row.file.name, percent: 100 }))
  next()
}

const showProgress = (row, loaded) => {
  const total = row.file.size
  const now = performance.now()
  row.samples = [...row.samples, { at: now, loaded }].filter(({ at }) => now - at <= MEASURED_MS)
  const rate = medianRate(row.samples)
  const percent = Math.floor((100 * loaded) / total)
  row.bar.value = loaded / total
  const sizes = { sent: number(loaded / MEBIBYTE), total: number(total / MEBIBYTE) }
  const facts = [fill(texts.sending, { percent, ...sizes })]
  if (rate > 0 && loaded < total)
    facts.push(
      fill(texts.rate, { rate: number(rate / MEBIBYTE) }),
      fill(texts.left, { seconds: number(Math.ceil((total - loaded) / rate), 0) }),
    )
  showState(row, ...facts)
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
