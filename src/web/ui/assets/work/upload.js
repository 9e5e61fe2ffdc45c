// The page that uploads a version: sends files in the background, at most three at a time, and fills in the proposals of the
// server. `send.js` sends each file, and the form of the page adds it to the draft.
import { ask, each, fill, later, say, swap, textsOf } from './base.js'
import {
  add,
  drop,
  fail,
  finish,
  form,
  hooks,
  idOf,
  isBusy,
  list,
  number,
  own,
  paused,
  root,
  showState,
  texts,
} from './rows.js'
import { deleteFile, keyOf, pause, sendFile } from './send.js'

/** Larger files are not hashed before the upload, because the browser needs the whole file in memory. */
const HASHED_BYTES_MAX = 256 * 1024 * 1024
/** How often the progress of files that another tab sends is loaded. */
const FOLLOWED_MS = 4000
/** Fields and groups that the server fills in, unless a person has edited them. */
const TEXT_FIELDS = ['version_number', 'name', 'environment']
const GROUPS = ['version_type', 'loaders', 'mrpack_loaders', 'game_versions']

/** Names of the fields that a person has edited. */
const edited = new Set()
/** The request that creates the draft, and the last hash: files are hashed one by one. */
let draft
let hashing = Promise.resolve()
/** The button that was pressed during uploads. */
let submitter

const parse = (text) => new DOMParser().parseFromString(text, 'text/html')
const errorOn = (page) =>
  page.querySelector('#files .bad .error, #files .error') ?? page.querySelector('#errors li, main h1')?.textContent

/** Shows why a file was not sent: a response that is final, or a file that cannot be read. */
const failBy = (row, problem) => {
  if (!(problem instanceof XMLHttpRequest))
    return fail(row, problem instanceof DOMException ? texts.unreadable : texts.failed)
  const { status, responseText } = problem
  const size = number(Math.ceil(row.file.size / 1024 / 1024))
  if (status === 413) return fail(row, fill(texts.tooLarge, { size }), { isFinal: true })
  if (status === 401) return fail(row, texts.signedOut)
  // Another tab has added or deleted the file.
  if (status === 404 && row.url !== undefined) return settle(row)
  fail(row, responseText.includes('"LimitReached"') ? texts.limit : texts.failed)
}

/** Asks the server for the files of the draft, and whether one of them has the name of the row. */
const settle = async (row) => {
  row.url = undefined
  update(parse(await (await fetch(form.action)).text()))
  const names = [...list().querySelectorAll('[data-hash] .name')].map(({ textContent }) => textContent)
  if (!names.includes(row.file.name)) return fail(row, texts.failed)
  finish(row)
}

const send = async (row) => {
  const { signal } = row
  showState(row, texts.checking)
  const known = row.isChecked ? undefined : await knownFile(row.file)
  row.isChecked = true
  if (signal.aborted) return
  if (known) return fail(row, known, { retry: 'anyway' })
  draft ??= openDraft()
  await draft.catch((error) => {
    draft = undefined
    throw error
  })
  await sendFile(row, {
    url: root.dataset.url,
    // The draft names the upload before its content is sent: a name that is refused costs nothing, and another tab can continue.
    onCreated: () => own.add(idOf(row)) && addToDraft(row),
    onWait: ({ status }) =>
      showState(row, status === 409 ? texts.elsewhere : navigator.onLine ? texts.lost : texts.offline),
  })
  showState(row, texts.reading)
  row.hold.hidden = true
  const page = await addToDraft(row)
  if (page === undefined || signal.aborted) return
  finish(row)
  update(page)
}

/** Names the upload of a row for the draft, which takes the file once it is complete. Returns the page, unless that fails. */
const addToDraft = async (row) => {
  let answer
  for (let tries = 0; answer === undefined; tries += 1) {
    row.signal.throwIfAborted()
    answer = await post(`add.${row.url.split('/').at(-1)}`).catch(() => undefined)
    if (answer === undefined || answer.status === 429 || answer.status >= 502) {
      showState(row, navigator.onLine ? texts.lost : texts.offline)
      await pause(Number(answer?.headers.get('retry-after')) || Math.min(2 ** tries, 30), row.signal)
      answer = undefined
    }
  }
  const page = parse(await answer.text())
  // A request whose response was lost has added the file.
  if (answer.status === 404) await settle(row)
  else if (answer.status >= 400) {
    drop(row)
    fail(row, errorOn(page) || texts.failed)
  }
  // A session that has ended leads to the sign-in page.
  else if (page.querySelector('[data-upload]') === null) fail(row, texts.signedOut)
  else {
    // If somebody has deleted or published the draft, the file is in another one.
    useDraft(answer.url)
    return page
  }
  row.control.abort()
}

const post = (command) =>
  fetch(form.action, { method: 'POST', body: new URLSearchParams({ _csrf: form.elements._csrf.value, do: command }) })

/** Creates the draft once, so that files that are sent at the same time are added to the same draft. */
const openDraft = async () => {
  if (new URL(form.action).searchParams.has('draft')) return
  const answer = await post('upload')
  if (answer.status >= 400) throw new Error(answer.statusText)
  useDraft(answer.url)
}

const useDraft = (url) => {
  if (!new URL(url).searchParams.has('draft')) return
  form.action = url
  history.replaceState(null, '', url)
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

const ROWS = '[data-hash], [data-waiting]'

/** Shows the files of a page: those that the draft contains, and those that another tab sends. */
const showFiles = (page) => {
  const rows = [...page.querySelectorAll('[data-files] > :is([data-hash], [data-waiting])')].filter(
    ({ id }) => !own.has(id),
  )
  for (const item of list().querySelectorAll(ROWS)) if (!rows.some(({ id }) => id === item.id)) item.remove()
  for (const item of rows.reverse()) {
    const shown = document.getElementById(item.id)
    if (shown === null) list().prepend(item)
    else if (shown.dataset.waiting !== undefined && !shown.contains(document.activeElement)) shown.replaceWith(item)
  }
}

/** Shows the progress of files that another tab sends, and the page that has taken them. */
const follow = async () => {
  if (list().querySelector('[data-waiting]') === null || document.visibilityState === 'hidden') return
  const answer = parse(await (await fetch(form.action)).text())
  if (answer.querySelector('[data-upload]') === null) return
  const isNew = [...answer.querySelectorAll('[data-hash]')].some(({ id }) => document.getElementById(id) === null)
  isNew ? update(answer) : showFiles(answer)
}

/** Shows the stored files and the proposals of a page, and keeps what a person has edited. */
const update = (page) => {
  showFiles(page)
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
  const begun = button.closest('[data-waiting]')
  if (value.startsWith('forget.') && begun) {
    await deleteFile(begun.dataset.waiting)
    begun.remove()
    return document.getElementById('add-files').focus()
  }
  const answer = await fetch(form.action, { method: 'POST', body: textsOf(form, value) })
  const page = parse(await answer.text())
  if (page.querySelector('[data-upload]') === null) {
    // The page shows why: the session or the project has ended.
    button.removeAttribute('data-now')
    return form.requestSubmit(button)
  }
  if (/^(remove|add)\./.test(value)) {
    update(page)
    for (const item of page.querySelectorAll('[data-files] > .bad')) list().append(item)
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
  hooks.send = send
  hooks.failed = failBy
  hooks.idle = () => {
    const button = submitter
    submitter = undefined
    if (button !== undefined) form.requestSubmit(button)
  }
  form.addEventListener('input', ({ target }) => target !== form && edited.add(target.name))
  form.addEventListener('change', ({ target }) => {
    if (target.type === 'file') {
      const begun = [...list().querySelectorAll('[data-waiting]')]
      for (const file of target.files)
        add(
          file,
          begun.find(({ dataset }) => dataset.key === keyOf(file)),
        )
      // The script sends the files: they must not be sent again with the form, and are no unsaved change.
      target.value = ''
      form.dispatchEvent(new Event('input'))
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
      } else if (button?.value === 'publish' && paused.size > 0) {
        event.preventDefault()
        const [row] = paused
        showState(row, texts.paused, texts.held)
        row.hold.focus()
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
  setInterval(() => follow().catch(() => {}), FOLLOWED_MS)
}

// A part of a page that changes by itself, such as a running scan: it is loaded again while it has the attribute.
each('[data-refresh]', () => {
  const timer = setInterval(async () => {
    const part = document.querySelector('[data-refresh]')
    if (part === null) return clearInterval(timer)
    if (document.visibilityState === 'visible') swap(part.id, location.href).catch(() => {})
  }, 4000)
})
