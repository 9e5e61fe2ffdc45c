// The script of the pages for publishers, moderators and operators. `assets.ts` joins the files of this folder into one
// module: this file first, then the others, each in its own block. Every page works without it.

export const each = (selector, action, root = document) => {
  for (const element of root.querySelectorAll(selector)) action(element)
}

/** Fills `{name}` in a text that the server rendered into a data attribute. */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_all, name) => values[name] ?? '')

/** Changes the text of an element. In Chromium, undo takes back a single letter if typing adds or removes a node. */
export const write = (element, text) => {
  const [node] = element.childNodes
  if (!(node instanceof Text) || element.childNodes.length > 1) element.textContent = text
  else if (node.data !== text) node.data = text
}

/** Announces a text to screen readers. */
export const say = (text) => {
  let line = document.getElementById('said')
  if (line === null) {
    line = document.createElement('p')
    line.id = 'said'
    line.className = 'vh'
    line.setAttribute('role', 'status')
    document.body.append(line)
  }
  line.textContent = text
}

/** Calls `action` when `wait` milliseconds have passed without another call. */
export const later = (wait, action) => {
  let timer
  return (...values) => {
    clearTimeout(timer)
    timer = setTimeout(() => action(...values), wait)
  }
}

const running = new Map()

/** Loads a page and replaces elements by those with the same IDs there. A later call for the elements wins. */
export const swap = async (ids, url, options = {}) => {
  running.get(ids)?.abort()
  const control = new AbortController()
  running.set(ids, control)
  try {
    const answer = await fetch(url, { ...options, signal: control.signal, headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    for (const id of ids.split(' ')) {
      const [before, after] = [document.getElementById(id), page.getElementById(id)]
      if (before === null || after === null) continue
      // What the user has expanded stays expanded.
      const open = [...before.querySelectorAll('details')].map((details) => details.open)
      each('details', (details) => (details.open ||= open.shift() ?? false), after)
      before.replaceWith(document.adoptNode(after))
      document.dispatchEvent(new CustomEvent('swapped', { detail: after }))
    }
  } catch (error) {
    if (error.name !== 'AbortError') throw error
  }
}

/** Returns the texts of a form, with the value of a button. */
export const textsOf = (form, command) => {
  const texts = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') texts.append(name, value)
  if (command !== undefined) texts.set('do', command)
  return texts
}

/** Sends a form in the background and replaces elements by those of the response. Nothing is saved by such commands. */
export const ask = (form, command, ids) => swap(ids, form.action, { method: 'POST', body: textsOf(form, command) })

export const isTyping = ({ target }) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=button])'))
