// XML documents, written from texts that may hold anything.

/** An element: its name, and its text or the elements inside it; undefined ones are left out. */
export type XmlElement = readonly [
  name: string,
  content: string | readonly (XmlElement | undefined)[],
  attributes?: Readonly<Record<string, string>>,
]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text for an element or an attribute. Characters that XML 1.0 cannot hold, even escaped, become U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}

/** A whole document. Names of elements and attributes are the program's own; texts and values are escaped. */
export function xmlDocument(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${write(root, '')}\n`
}

function write([name, content, attributes = {}]: XmlElement, indent: string): string {
  const head = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
  const open = `${indent}<${name}${head.join('')}>`
  if (typeof content === 'string') return `${open}${escapeXml(content)}</${name}>`
  const inner = content.filter((child) => child !== undefined).map((child) => write(child, `${indent}  `))
  return [open, ...inner, `${indent}</${name}>`].join('\n')
}
