// The editor of Markdown texts: toolbar with shortcuts, images that are pasted, dropped or chosen, and a preview that scrolls
// along. Only pages with such an editor, and the form of the gallery, load this script.

const SIDE_KEY = 'depot-editor-below'
const IMAGES = /^image\/(png|jpeg|gif|webp)$/
/** Windows that are wide enough for a preview of the height of the text. The style sheet has the same width. */
const WIDE = matchMedia('(min-width: 1100px)')

const fill = (text, name) => text.replaceAll('{name}', name)

/**
 * Replaces a part of the text, and selects a part of it. `insertText` is the only command that browsers can undo; a browser
 * without it changes the text without undo.
 */
const replace = (area, [start, end], text, [from, to] = [start + text.length, start + text.length]) => {
  area.focus()
  area.setSelectionRange(start, end)
  const isDone = document.execCommand(text === '' ? 'delete' : 'insertText', false, text)
  if (!isDone) {
    area.setRangeText(text, start, end, 'end')
    area.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
  area.setSelectionRange(from, to)
}

/** Puts marks around the selection, or removes them. Without a selection, the caret is between the marks. */
const wrap = (area, before, after = before) => {
  const { value, selectionStart: start, selectionEnd: end } = area
  const text = value.slice(start, end)
  const [outer, size] = [value.slice(start - before.length, end + after.length), before.length + after.length]
  if (start >= before.length && outer === before + text + after)
    return replace(area, [start - before.length, end + after.length], text, [
      start - before.length,
      end - before.length,
    ])
  if (text.length >= size && text.startsWith(before) && text.endsWith(after))
    return replace(area, [start, end], text.slice(before.length, -after.length), [start, end - size])
  return replace(area, [start, end], before + text + after, [start + before.length, end + before.length])
}

/** Returns the lines that the selection touches. */
const linesOf = ({ value, selectionStart, selectionEnd }) => {
  const start = value.lastIndexOf('\n', selectionStart - 1) + 1
  // A selection that ends before the first character of a line does not touch this line.
  const last = selectionEnd > selectionStart && value[selectionEnd - 1] === '\n' ? selectionEnd - 1 : selectionEnd
  const end = value.indexOf('\n', last)
  return { start, end: end === -1 ? value.length : end }
}

/**
 * Puts a mark before each selected line, or removes it if every line has it. `own` finds the mark, and `others` the marks that it
 * replaces.
 */
const mark = (area, markOf, own, others = own) => {
  const { start, end } = linesOf(area)
  const isEmpty = area.selectionStart === area.selectionEnd
  const lines = area.value.slice(start, end).split('\n')
  const isMarked = lines.every((line) => own.test(line))
  const text = lines.map((line, index) => (isMarked ? '' : markOf(index)) + line.replace(others, '')).join('\n')
  const caret = Math.max(start, area.selectionEnd + text.length - (end - start))
  replace(area, [start, end], text, isEmpty ? [caret, caret] : [start, start + text.length])
}

/** Inserts separate lines, with an empty line around them. `part` is selected. */
const block = (area, text, part) => {
  const { value, selectionStart, selectionEnd } = area
  const [before, after] = [value.slice(0, selectionStart), value.slice(selectionEnd)]
  const above = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n'
  const below = after.startsWith('\n\n') ? '' : after.startsWith('\n') || after === '' ? '\n' : '\n\n'
  const at = selectionStart + above.length + Math.max(0, text.lastIndexOf(part))
  replace(area, [selectionStart, selectionEnd], above + text + below, [at, at + part.length])
}

const link = (area, before) => {
  const { value, selectionStart: start, selectionEnd: end } = area
  const text = value.slice(start, end)
  const isUrl = /^https?:\/\/\S+$/.test(text)
  const [label, url] = isUrl ? ['', text] : [text, 'https://']
  const atLabel = start + before.length
  const atUrl = atLabel + label.length + 2
  // The part that is still missing is selected.
  const selected = isUrl ? [atLabel, atLabel] : [atUrl, atUrl + url.length]
  replace(area, [start, end], `${before}${label}](${url})`, selected)
}

const code = (area) => {
  const text = area.value.slice(area.selectionStart, area.selectionEnd)
  return text.includes('\n') ? block(area, `\`\`\`\n${text}\n\`\`\``, text) : wrap(area, '`')
}

const LIST = /^(?:[-*] \[[ xX]\] |[-*] |\d+\. )/
const TOOLS = {
  bold: (area) => wrap(area, '**'),
  italic: (area) => wrap(area, '_'),
  heading: (area) => mark(area, () => '## ', /^#{1,6} /),
  link: (area) => link(area, '['),
  image: (area) => link(area, '!['),
  list: (area) => mark(area, () => '- ', /^[-*] (?!\[[ xX]\] )/, LIST),
  numbers: (area) => mark(area, (index) => `${index + 1}. `, /^\d+\. /, LIST),
  tasks: (area) => mark(area, () => '- [ ] ', /^[-*] \[[ xX]\] /, LIST),
  quote: (area) => mark(area, () => '> ', /^> /),
  code,
  table: (area, { column }) => block(area, `| ${column} 1 | ${column} 2 |\n| --- | --- |\n|  |  |`, `${column} 1`),
  spoiler: (area, { spoiler }) => {
    const text = area.value.slice(area.selectionStart, area.selectionEnd)
    if (!text.includes('\n')) return wrap(area, '||')
    block(area, `<details>\n<summary>${spoiler}</summary>\n\n${text}\n\n</details>`, text)
  },
  alert: (area) => {
    const { start, end } = linesOf(area)
    // A part of a line cannot be an alert.
    if (area.selectionStart !== area.selectionEnd) area.setSelectionRange(start, end)
    const text = area.value.slice(area.selectionStart, area.selectionEnd).replaceAll('\n', '\n> ')
    block(area, `> [!NOTE]\n> ${text}`, text)
  },
}

const ITEM = /^(\s*)(?:([-*+] )(\[[ xX]\] )?|(\d{1,9})([.)] ))/

/** Begins the next item of a list, or ends the list at an empty item. Returns whether the caret is in a list. */
const nextItem = (area) => {
  const { value, selectionStart: at } = area
  const { start, end } = linesOf(area)
  const [mark, indent, bullet, task, number, dot] = ITEM.exec(value.slice(start, end)) ?? []
  if (mark === undefined || at !== area.selectionEnd || at < start + mark.length) return false
  if (value.slice(start + mark.length, end).trim() === '') replace(area, [start, end], '')
  else replace(area, [at, at], `\n${indent}${bullet ?? Number(number) + 1 + dot}${task ? '[ ] ' : ''}`)
  return true
}

/** Only one button of the toolbar is reached by Tab; the arrow keys move between the buttons. */
const moveBetween = (bar, buttons) => {
  const focus = (button) => {
    for (const each of buttons) each.tabIndex = each === button ? 0 : -1
    button.focus()
  }
  bar.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(event.target)
    const forward = document.dir === 'rtl' ? -1 : 1
    const to = { ArrowRight: at + forward, ArrowLeft: at - forward, Home: 0, End: buttons.length - 1 }[event.key]
    if (at === -1 || to === undefined) return
    event.preventDefault()
    focus(buttons.at(to % buttons.length))
  })
}

/** Uploads images one after the other. A placeholder is in the text until its image is stored. */
const uploads = (area, options, say) => {
  const { texts, action, field } = options
  const waiting = []
  let isRunning = false
  /** Errors remain until the user adds other images. */
  let problems = []
  const report = (text) => say([...problems, text].filter(Boolean).join(' '), problems.length > 0)

  const put = (placeholder, text) => {
    const at = area.value.indexOf(placeholder)
    if (at === -1) return
    const { selectionStart, selectionEnd } = area
    const focused = document.activeElement
    const moved = (place) =>
      place >= at + placeholder.length ? place + text.length - placeholder.length : Math.min(place, at + text.length)
    replace(area, [at, at + placeholder.length], text, [moved(selectionStart), moved(selectionEnd)])
    if (focused !== area) focused?.focus?.()
  }

  /** Returns the Markdown of the stored image. Throws the reason as a text. */
  const send = async (file) => {
    const body = new FormData()
    body.set('_csrf', area.form.elements._csrf.value)
    body.set('do', 'image')
    body.set(field, '')
    const version = options.version ?? new URL(area.form.action).searchParams.get('draft')
    if (version !== null) body.set('version', version)
    body.set('image', file)
    const answer = await fetch(action, { method: 'POST', body, headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const text = page.querySelector(`textarea[name="${field}"]`)?.value.trim() ?? ''
    if (!answer.ok || text === '') throw page.querySelector('#errors li')?.textContent
    return text
  }

  const next = async () => {
    if (isRunning) return
    isRunning = true
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const { file, placeholder } = item
      try {
        put(placeholder, await send(file))
        report(fill(texts.uploaded, file.name))
      } catch (reason) {
        put(placeholder, '')
        problems.push(typeof reason === 'string' ? `${file.name}: ${reason}` : fill(texts.failed, file.name))
        report('')
      }
    }
    isRunning = false
  }

  area.form.addEventListener(
    'submit',
    (event) => {
      if (!isRunning || event.submitter?.value === 'preview') return
      event.preventDefault()
      event.stopImmediatePropagation()
      say(texts.wait)
    },
    true,
  )

  const refusalOf = ({ name, type, size }) => {
    if (!IMAGES.test(type)) return fill(texts.format, name)
    return size > options.maxBytes ? fill(texts.size, name) : undefined
  }

  return (files) => {
    if (options.needsDraft && !new URL(area.form.action).searchParams.has('draft')) return say(texts.draft, true)
    if (!isRunning) problems = []
    problems.push(...files.map(refusalOf).filter(Boolean))
    const accepted = files.filter((file) => refusalOf(file) === undefined)
    const added = []
    for (const file of accepted) {
      const name = file.name.replace(/[[\]\\]/g, ' ')
      let placeholder = `![${fill(texts.uploading, name)}]()`
      for (let number = 2; area.value.includes(placeholder) || added.includes(placeholder); number += 1)
        placeholder = `![${fill(texts.uploading, `${name} (${number})`)}]()`
      added.push(placeholder)
      waiting.push({ file, placeholder })
    }
    if (added.length > 0) replace(area, [area.selectionStart, area.selectionEnd], added.join('\n\n'))
    report(accepted.length === 0 ? '' : fill(texts.uploading, accepted.map(({ name }) => name).join(', ')))
    void next()
  }
}

/** Lets the user paste, drop and choose images; returns the function of the button. */
const takeImages = (area, upload) => {
  const picker = Object.assign(document.createElement('input'), {
    type: 'file',
    accept: '.png,.jpg,.jpeg,.gif,.webp',
    multiple: true,
  })
  picker.addEventListener('change', () => {
    upload([...picker.files])
    picker.value = ''
  })
  area.addEventListener('paste', (event) => {
    const { files, types } = event.clipboardData
    // Office programs also copy their text as an image.
    if (files.length === 0 || types.includes('text/plain')) return
    event.preventDefault()
    upload([...files])
  })
  area.addEventListener('dragover', (event) => {
    if (event.dataTransfer.types.includes('Files')) event.preventDefault()
  })
  area.addEventListener('drop', (event) => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    upload([...event.dataTransfer.files])
  })
  return () => picker.click()
}

/** The preview next to the text has its height, and scrolls with it. The button moves it below the text. */
const scrollAlong = (box, area, button) => {
  const follow = () => {
    const preview = box.querySelector('.prose')
    const range = area.scrollHeight - area.clientHeight
    const isAlong = WIDE.matches && !box.classList.contains('stacked')
    if (isAlong && range > 0)
      preview.scrollTop = (area.scrollTop / range) * (preview.scrollHeight - preview.clientHeight)
  }
  const show = (isBelow) => {
    box.classList.toggle('stacked', isBelow)
    button.setAttribute('aria-pressed', String(!isBelow))
    follow()
  }
  const showButton = () => {
    button.hidden = !WIDE.matches
  }
  box.classList.add('along')
  area.addEventListener('scroll', follow)
  document.addEventListener('swapped', follow)
  WIDE.addEventListener('change', showButton)
  button.addEventListener('click', () => {
    const isBelow = !box.classList.contains('stacked')
    localStorage.setItem(SIDE_KEY, isBelow ? 'yes' : 'no')
    show(isBelow)
  })
  showButton()
  show(localStorage.getItem(SIDE_KEY) === 'yes')
}

for (const box of document.querySelectorAll('[data-editor]')) {
  const options = JSON.parse(box.dataset.editor)
  const area = box.querySelector('textarea')
  const bar = box.querySelector('[role=toolbar]')
  const line = box.querySelector('[role=status]')
  const buttons = [...bar.children]
  const say = (text, isError = false) => {
    line.textContent = text
    line.classList.toggle('error', isError)
  }
  const chooseImages = options.action === undefined ? undefined : takeImages(area, uploads(area, options, say))
  const run = (name) => (name === 'image' && chooseImages ? chooseImages() : TOOLS[name](area, options.texts))
  for (const button of buttons) {
    // The text area keeps its focus and its selection.
    button.addEventListener('mousedown', (event) => event.preventDefault())
    button.addEventListener('click', () => run(button.dataset.tool))
  }
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.isComposing && nextItem(area))
      event.preventDefault()
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    const name = { b: 'bold', i: 'italic', k: 'link' }[event.key.toLowerCase()]
    if (name === undefined) return
    event.preventDefault()
    run(name)
  })
  moveBetween(bar, buttons)
  scrollAlong(box, area, box.querySelector('[data-side]'))
  bar.hidden = false
}
