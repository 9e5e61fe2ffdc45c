// Compares the documents with the source: errors, variables, commands, files, features and decisions.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { ERRORS } from '#lib/errors.ts'
import { envExample } from '#platform/config/env-example.ts'
import { documentBlocks, documentsWithBlocks, withBlocks } from '../../scripts/document-blocks.ts'

const ROOT = join(import.meta.dirname, '../..')
const DOCUMENTS = globSync('**/*.md', {
  cwd: ROOT,
  exclude: (path) => /(^|\/)(node_modules|data|\.git)(\/|$)/.test(path),
}).sort()

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** A document without its code blocks, in which brackets mean other things. */
const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '')

const headingsOf = (text: string): string[] => [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)

/** The anchor that a heading gets where the documents are read. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

test('every error word has a section in docs/api/errors.md, and no section is of another word', () => {
  const sections = [...read('docs/api/errors.md').matchAll(/^## (.+)$/gm)].map(([, word]) => word)
  const words = new Set(Object.values(ERRORS).map(({ error }) => error))
  assert.deepEqual(sections.toSorted(), [...words].sort())
})

test('the generated blocks of the documents are up to date', () => {
  const blocks = documentBlocks()
  const documents = documentsWithBlocks().filter((path) => path !== 'docs/contributors/pages.md')
  const outdated = documents.filter((path) => withBlocks(read(path), blocks) !== read(path))
  assert.deepEqual(outdated, [], 'run npm run gen')
})

test('.env.example is the one that npm run gen makes', () => {
  assert.equal(read('.env.example'), envExample())
})

test('relative links lead to files, and their anchors to headings', () => {
  const problems: string[] = []
  for (const document of DOCUMENTS) {
    for (const [, link = ''] of proseOf(read(document)).matchAll(/\]\(([^()\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : relative(ROOT, join(ROOT, dirname(document), path))
      if (!existsSync(join(ROOT, target))) problems.push(`${document} links to ${link}, which is not there`)
      else if (anchor !== undefined && !headingsOf(read(target)).some((heading) => anchorOf(heading) === anchor))
        problems.push(`${document} links to ${link}, and ${target} has no such heading`)
    }
  }
  assert.deepEqual(problems, [])
})

test('every file that a document names is there', () => {
  const problems: string[] = []
  for (const document of DOCUMENTS) {
    for (const [, path = ''] of read(document).matchAll(
      /`((?:src|test|scripts|migrations|taxonomy|docs|examples|bench|bin)\/[\w./-]+\.(?:ts|mjs|sql|json|md|jar))`/g,
    )) {
      // `NNNN` stands for any number.
      if (!path.includes('NNNN') && !existsSync(join(ROOT, path)))
        problems.push(`${document} names ${path}, which is not there`)
    }
  }
  assert.deepEqual(problems, [])
})

test('every function and key that a document names is in the source', () => {
  const sources = globSync('{src,test,browser,bench,scripts,taxonomy}/**/*.{ts,mjs,json}', { cwd: ROOT })
  const words = new Set(['package.json', ...sources].flatMap((path) => read(path).match(/\b[a-z]+[A-Z]\w*/g) ?? []))
  const problems = DOCUMENTS.flatMap((document) =>
    [...proseOf(read(document)).matchAll(/`([a-z]+[A-Z]\w*)(?:\([^`]*\))?`/g)]
      .filter(([, word = '']) => !words.has(word))
      .map(([, word]) => `${document} names ${word}, which is nowhere`),
  )
  assert.deepEqual(problems, [])
})

test('every decision has a unique number, a status and the four sections', () => {
  const files = globSync('*/*.md', { cwd: join(ROOT, 'docs/decisions') })
  const problems: string[] = []
  const numbers = new Map<string, string>()
  for (const file of files) {
    const number = /\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1] ?? ''
    const text = read(`docs/decisions/${file}`)
    const [title = '', ...sections] = headingsOf(text)
    if (number === '' || numbers.has(number)) problems.push(`${file}: the number is missing or used twice`)
    numbers.set(number, file)
    if (!title.startsWith(`${number} `)) problems.push(`${file}: the title does not begin with the number`)
    if (!/^Status: (accepted|superseded by \[\d{4}\])/m.test(text)) problems.push(`${file}: the status is missing`)
    if (sections.join() !== 'Context,Decision,What it costs,When to revisit')
      problems.push(`${file}: ${sections.join()}`)
  }
  assert.deepEqual(problems, [])
})

const READERS = ['visitors', 'publishers', 'api', 'operators', 'contributors']
const KINDS = ['Tutorial', 'How-to guides', 'Reference', 'Explanation']

/** Documents to which a document links. */
function linksOf(document: string): string[] {
  return [...proseOf(read(document)).matchAll(/\]\(([^()\s#]+)(?:#[^()\s]*)?\)/g)].flatMap(([, path = '']) =>
    /^[a-z]+:/.test(path) ? [] : [relative(ROOT, join(ROOT, dirname(document), path))],
  )
}

test('the index of each reader lists their pages by kind, and the front page links to each index', () => {
  const problems: string[] = []
  for (const reader of READERS) {
    const index = `docs/${reader}/README.md`
    if (headingsOf(read(index)).slice(1).join() !== KINDS.join()) problems.push(`${index}: not the four kinds of pages`)
    if (!linksOf('docs/README.md').includes(index)) problems.push(`docs/README.md does not link to ${index}`)
    const listed = linksOf(index)
    for (const page of DOCUMENTS.filter((path) => path.startsWith(`docs/${reader}/`) && path !== index))
      if (!listed.includes(page)) problems.push(`${index} does not list ${page}`)
  }
  assert.deepEqual(problems, [])
})

test('each entry of the FAQ is within two clicks of the front page, with and without the FAQ', () => {
  assert.ok(linksOf('docs/README.md').includes('docs/faq.md'))
  const entries = [...read('docs/faq.md').matchAll(/^- \[[^\]]+\?\]\(([^()\s#]+)[^()\s]*\)$/gm)]
  assert.ok(entries.length >= 30)
  assert.equal(entries.length, linksOf('docs/faq.md').length, 'a link is not an entry')
  const listed = READERS.flatMap((reader) => linksOf(`docs/${reader}/README.md`))
  const unlisted = linksOf('docs/faq.md').filter((page) => !listed.includes(page))
  assert.deepEqual(unlisted, [])
})

test('a browser test takes each image of the documents, and a document shows each', () => {
  const tests = globSync('test/system/browser/**/*.ts', { cwd: ROOT }).map(read).join('\n')
  const taken = [...tests.matchAll(/takeImage\(\w+, \w+, '([\w-]+)'\)/g)].map(([, name]) => `docs/images/${name}.webp`)
  const shown = DOCUMENTS.flatMap(linksOf).filter((path) => /^docs\/images\/.*\.webp$/.test(path))
  const present = globSync('docs/images/*.webp', { cwd: ROOT }).sort()
  assert.deepEqual(taken.toSorted(), present)
  assert.deepEqual([...new Set(shown)].sort(), present)
})
