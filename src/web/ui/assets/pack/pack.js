// The script of the page of a pack: remembers the pack in this browser, so that projects can be added one after the other. The
// page itself has the whole pack in its address.
const KEY = 'depot-pack'
const KEPT = ['projects', 'loader', 'game_version', 'name', 'loader_version', 'pack']

const stored = new URLSearchParams(localStorage.getItem(KEY) ?? '')
const url = new URL(location.href)
const added = url.searchParams.get('add')
const projects = (stored.get('projects') ?? '').split(',').filter((name) => name !== '')

if (url.searchParams.has('projects')) {
  const pack = new URLSearchParams()
  for (const key of KEPT) if (url.searchParams.has(key)) pack.set(key, url.searchParams.get(key))
  localStorage.setItem(KEY, String(pack))
} else if (url.pathname.endsWith('/pack') && (added !== null || projects.length > 0)) {
  // The page that rejects a form has another path: leaving it would hide the error.
  if (added !== null && !projects.includes(added)) projects.push(added)
  stored.set('projects', projects.join(','))
  url.search = String(stored)
  location.replace(url)
}

// The buttons that create and save the pack are in separate forms. They take what was typed above and not yet applied.
const setup = document.getElementById('setup')
for (const create of document.querySelectorAll('form[action*="/pack/"]'))
  create.addEventListener('submit', () => {
    for (const [name, value] of new FormData(setup)) {
      const field = create.elements.namedItem(name)
      if (field !== null) field.value = value
    }
  })
