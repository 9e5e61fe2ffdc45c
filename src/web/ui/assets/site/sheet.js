// Narrow windows show the filters of a list in a sheet over the page, with a button that names the number of results.
const filters = document.getElementById('filters')
const narrow = matchMedia('(max-width: 60rem)')

const setUp = () => {
  const [summary, form] = filters.children
  const title = summary.querySelector('span:not(.n)').textContent
  const dialog = document.createElement('dialog')
  dialog.className = 'drawer'
  dialog.setAttribute('aria-label', title)
  const head = document.createElement('p')
  head.className = 'drawer-head'
  const name = document.createElement('strong')
  name.textContent = title
  const shut = document.createElement('button')
  shut.type = 'button'
  shut.className = 'tight'
  shut.textContent = filters.dataset.close
  head.append(name, shut)
  const foot = document.createElement('p')
  foot.className = 'drawer-foot'
  const see = document.createElement('button')
  see.type = 'button'
  see.className = 'main'
  foot.append(see)
  dialog.append(head, foot)
  filters.after(dialog)
  const count = () => {
    see.textContent = document.getElementById('live')?.dataset.show ?? ''
  }
  document.addEventListener('swapped', count)
  summary.addEventListener('click', (event) => {
    if (!narrow.matches) return
    event.preventDefault()
    count()
    head.after(form)
    dialog.returnValue = ''
    dialog.showModal()
  })
  dialog.addEventListener('close', () => {
    filters.append(form)
    if (dialog.returnValue !== 'results') return summary.focus()
    const heading = document.getElementById('found')
    heading.tabIndex = -1
    heading.focus()
    document.getElementById('live').scrollIntoView()
  })
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
  shut.addEventListener('click', () => dialog.close())
  see.addEventListener('click', () => dialog.close('results'))
  // A window that has become wide has the filters next to the list.
  narrow.addEventListener('change', () => dialog.open && dialog.close())
}
if (filters !== null) setUp()
