// Shows the images of a gallery in the whole window: arrow keys and swiping move between them, Escape closes.
const list = document.querySelector('[data-gallery]')
const figures = [...list.querySelectorAll('figure')]
const IMAGE = 'a:not([data-video])'
const texts = JSON.parse(list.dataset.gallery)

const dialog = document.createElement('dialog')
dialog.className = 'screen'
const figure = document.createElement('figure')
const count = document.createElement('span')
count.className = 'num'
const button = (text, action) => {
  const made = Object.assign(document.createElement('button'), { type: 'button', textContent: text })
  made.addEventListener('click', action)
  return made
}
let shown = 0

const show = (number) => {
  shown = Math.min(Math.max(number, 0), figures.length - 1)
  const of = figures[shown].cloneNode(true)
  const image = of.querySelector('img')
  if (image !== null) {
    image.sizes = '100vw'
    image.loading = 'eager'
    of.querySelector(IMAGE)?.replaceWith(image)
  }
  figure.replaceChildren(...of.childNodes)
  count.textContent = texts.number[shown]
  dialog.setAttribute('aria-label', image?.alt || count.textContent)
  previous.disabled = shown === 0
  next.disabled = shown === figures.length - 1
}

const previous = button(texts.previous, () => show(shown - 1))
const next = button(texts.next, () => show(shown + 1))
const close = button(texts.close, () => dialog.close())
const bar = document.createElement('p')
bar.className = 'acts'
count.setAttribute('role', 'status')
bar.append(previous, count, next, close)
dialog.append(figure, bar)
document.body.append(dialog)

for (const [number, figure] of figures.entries())
  figure.querySelector(IMAGE)?.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    show(number)
    dialog.showModal()
    close.focus()
  })

dialog.addEventListener('close', () => {
  figure.replaceChildren()
  figures[shown].querySelector('a, iframe')?.focus()
})
dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
dialog.addEventListener('keydown', ({ key }) => {
  const forward = document.dir === 'rtl' ? -1 : 1
  const step = { ArrowRight: forward, ArrowLeft: -forward }[key]
  if (step !== undefined) show(shown + step)
})
let start
dialog.addEventListener('touchstart', ({ touches }) => {
  start = touches.length === 1 ? touches[0] : undefined
})
dialog.addEventListener('touchend', ({ changedTouches: [end] }) => {
  const across = start === undefined ? 0 : end.clientX - start.clientX
  if (Math.abs(across) > 50 && Math.abs(across) > 2 * Math.abs(end.clientY - start.clientY))
    show(shown + (across < 0 === (document.dir !== 'rtl') ? 1 : -1))
})
