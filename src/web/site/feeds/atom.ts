// Writes a feed as Atom (RFC 4287), with links to older pages (RFC 5005).
import { escapeText } from '#lib/text/xml.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { type Document, type Entry, stableId } from './feed.ts'

export function writeAtom(page: PageContext, feed: Document): string {
  const { url, name } = page.site
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${page.language.tag}">`,
    element('id', stableId(feed.instance, 'feed', feed.path)),
    element('title', feed.title),
    feed.description === undefined ? '' : element('subtitle', feed.description),
    element('updated', feed.updated),
    element('generator', 'Depot'),
    element('icon', `${url}/favicon.ico`),
    link({ rel: 'self', type: 'application/atom+xml', href: feed.self }),
    link({ rel: 'alternate', type: 'text/html', href: `${url}${feed.path}` }),
    feed.next === undefined ? '' : link({ rel: 'next', type: 'application/atom+xml', href: feed.next }),
    ...feed.entries.map((entry, index) => writeEntry(page, feed, { ...entry, html: feed.rendered[index] })),
    '</feed>',
  ]
  return `${lines.filter((line) => line !== '').join('\n')}\n`

  function writeEntry(_page: PageContext, { instance }: Document, entry: Entry & { html: string | undefined }): string {
    const { author = { name, path: '/' }, file } = entry
    return [
      '<entry>',
      element('id', stableId(instance, entry.kind, entry.id)),
      element('title', entry.title),
      element('published', entry.published),
      element('updated', entry.updated),
      `<author>${element('name', author.name)}${element('uri', `${url}${author.path}`)}</author>`,
      link({ rel: 'alternate', type: 'text/html', href: `${url}${entry.path}` }),
      file === undefined
        ? ''
        : link({ rel: 'enclosure', type: file.type, length: String(file.size), title: file.filename, href: file.url }),
      ...entry.tags.map((tag) => `<category term="${xml(tag)}"/>`),
      entry.summary === '' ? '' : element('summary', entry.summary),
      entry.html === undefined ? '' : `<content type="html">${xml(entry.html)}</content>`,
      '</entry>',
    ].join('')
  }
}

function element(name: string, text: string): string {
  return `<${name}>${xml(text)}</${name}>`
}

function link(attributes: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(attributes).map(([name, value]) => ` ${name}="${xml(value)}"`)
  return `<link${pairs.join('')}/>`
}

/** Escapes text for XML. Removes the control characters that XML cannot contain. */
export function xml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
  return escapeText(text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ''))
}
