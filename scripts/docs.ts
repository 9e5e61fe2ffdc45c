// `npm run docs`: builds the documentation as a searchable web site, by default in `docs-site/dist`. The generator is not
// a dependency of Depot: docs-site/package.json pins it, and the first run installs it below node_modules/.cache.
// Options: `--base /docs/` is the path below which a web server will serve the site, `--out FOLDER` its folder, and `--images
// FOLDER` has newer images than `docs/images`, which the browser tests have taken.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type ReferencePage, referenceMarkdown } from './reference-markdown.ts'

const ROOT = join(import.meta.dirname, '..')
const SITE = join(ROOT, 'docs-site')
const WORK = join(ROOT, 'node_modules/.cache/docs-site')
const PAGES = join(WORK, 'pages')
const READERS = ['visitors', 'publishers', 'api', 'operators', 'contributors']
/** Documents outside `docs` that are pages of the site too. */
const MORE_PAGES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'migrations/README.md', 'taxonomy/README.md']

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Returns the path of a file of the checkout in the site. */
function placeOf(path: string): string {
  const place = path.startsWith('docs/') ? path.slice('docs/'.length) : `project/${path}`
  return place.replace(/(^|\/)README\.md$/, '$1index.md')
}

/** Installs the generator, unless the version of the lock file is installed. */
function install(): void {
  mkdirSync(WORK, { recursive: true })
  const lock = join(WORK, 'package-lock.json')
  const isCurrent =
    existsSync(join(WORK, 'node_modules')) &&
    existsSync(lock) &&
    readFileSync(lock, 'utf8') === read('docs-site/package-lock.json')
  if (isCurrent) return
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(SITE, name), join(WORK, name))
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: WORK, stdio: 'inherit' })
}

/** Copies the pages with the links of the site, and the other files to which they link. */
function stagePages(): void {
  rmSync(PAGES, { recursive: true, force: true })
  const pages = [...globSync('docs/**/*.md', { cwd: ROOT }), ...MORE_PAGES]
  for (const page of pages) {
    const withLinks = read(page).replace(/\]\(([^()\s]+)\)/g, (all, link: string) => {
      if (/^[a-z]+:|^#/.test(link)) return all
      const [path = '', ...anchor] = link.split('#')
      const target = relative(ROOT, join(ROOT, dirname(page), path))
      const isPage = pages.includes(target)
      const isImage = target.startsWith('docs/images/')
      if (!isPage && !isImage) copy(target, join('public/files', target))
      const place = isPage || isImage ? placeOf(target) : `/files/${target}`
      if (isImage) copy(newestImage(target), place)
      const to = place.startsWith('/') ? place : posix.relative(dirname(placeOf(page)), place)
      return `](${[place.startsWith('/') || to.startsWith('.') ? to : `./${to}`, ...anchor].join('#')})`
    })
    const target = join(PAGES, placeOf(page))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, withLinks.replace(/^<!-- (?:generated: [\w-]+|end) -->\n/gm, ''))
  }
}

const reference: readonly ReferencePage[] = referenceMarkdown(JSON.parse(read('docs/generated/openapi.json')))

/** Writes the pages of the reference of the API. */
function stageReference(): void {
  const folder = join(PAGES, 'api/reference')
  mkdirSync(folder, { recursive: true })
  for (const { slug, markdown } of reference) writeFileSync(join(folder, `${slug}.md`), markdown)
}

function copy(path: string, place: string): void {
  const target = join(PAGES, place)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(resolve(ROOT, path), target)
}

/** Returns the path of the image of the same name in `--images`, if it is there. */
function newestImage(path: string): string {
  const newer = resolve(values.images ?? '', basename(path))
  return values.images !== undefined && existsSync(newer) ? newer : path
}

type Item = { text: string; link?: string; collapsed?: boolean; items?: Item[] }

/** Returns the navigation: each reader with the kinds of pages in their index. */
function sidebar(): Item[] {
  const groups = READERS.map((reader) => {
    const [head = '', ...kinds] = read(`docs/${reader}/README.md`).split(/^## /m)
    const items = kinds.map((kind) => ({
      text: kind.split('\n')[0] ?? '',
      items: [...kind.matchAll(/\[([^\]]+)\]\(([^()\s]+)\)/g)]
        .filter(([, , link = '']) => link.includes('.md'))
        .map(([, text = '', link = '']) => {
          const [path = '', ...anchor] = link.split('#')
          const place = placeOf(relative(ROOT, join(ROOT, 'docs', reader, path)))
          return { text, link: `/${[place.replace(/\.md$/, ''), ...anchor].join('#')}` }
        }),
    }))
    if (reader === 'api') items.unshift({ text: 'Operations and objects', items: referenceItems() })
    const text = /^# (.+)$/m.exec(head)?.[1] ?? reader
    return { text, link: `/${reader}/`, collapsed: true, items }
  })
  return [{ text: 'FAQ', link: '/faq' }, ...groups, { text: 'Changelog', link: '/project/CHANGELOG' }]
}

function referenceItems(): { text: string; link: string }[] {
  return reference.map(({ slug, title }) => ({ text: title, link: `/api/reference/${slug === 'index' ? '' : slug}` }))
}

/** Returns the links of the built pages that lead to no file or to no element. VitePress does not check anchors. */
function brokenLinks(folder: string, base: string): string[] {
  const ids = new Map<string, Set<string>>()
  const idsOf = (path: string): Set<string> => {
    const known =
      ids.get(path) ?? new Set([...readFileSync(path, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id))
    ids.set(path, known)
    return known
  }
  return globSync('**/*.html', { cwd: folder }).flatMap((page) =>
    [...readFileSync(join(folder, page), 'utf8').matchAll(/<(?:a|img)\b[^>]* (?:href|src)="([^"]+)"/g)].flatMap(
      ([, link = '']) => {
        const { origin, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site${base}${page}`)
        if (origin !== 'http://site') return []
        const path = join(folder, decodeURIComponent(pathname).slice(base.length))
        const file = [path, `${path}.html`, join(path, 'index.html')].find(
          (one) => existsSync(one) && /\.\w+$/.test(one),
        )
        if (file === undefined) return [`${page} links to ${link}, which does not exist`]
        const id = decodeURIComponent(hash.slice(1))
        return id === '' || !file.endsWith('.html') || idsOf(file).has(id)
          ? []
          : [`${page} links to ${link}, which has no such anchor`]
      },
    ),
  )
}

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '/' },
    out: { type: 'string', default: join(SITE, 'dist') },
    images: { type: 'string' },
  },
})
const outDir = resolve(values.out)
const { version } = JSON.parse(read('package.json')) as { version: string }
install()
stagePages()
stageReference()
mkdirSync(join(WORK, '.vitepress'), { recursive: true })
copyFileSync(join(SITE, 'config.mjs'), join(WORK, '.vitepress/config.mjs'))
// The compiler of the generator must not read that of Depot.
writeFileSync(join(WORK, 'tsconfig.json'), '{}\n')
writeFileSync(
  join(WORK, 'site.json'),
  JSON.stringify({ title: `Depot ${version}`, base: values.base, sidebar: sidebar(), outDir }),
)
execFileSync(process.execPath, [join(WORK, 'node_modules/vitepress/bin/vitepress.js'), 'build'], {
  cwd: WORK,
  stdio: 'inherit',
  // Files that are not pages.
  env: { ...process.env, VITE_EXTRA_EXTENSIONS: 'sql' },
})
const broken = brokenLinks(outDir, values.base)
for (const problem of broken) console.error(problem)
console.log(
  `Built ${outDir} from ${globSync('**/*.html', { cwd: outDir }).length} pages; broken links: ${broken.length}`,
)
if (broken.length > 0) process.exitCode = 1
