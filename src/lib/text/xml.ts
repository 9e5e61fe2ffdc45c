// Escapes texts for HTML and XML, and writes XML documents whose strings can contain any characters.

/** An element: its name, and its text or its child elements. Undefined children are omitted. */
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

/** Escapes text for element content and quoted attributes. Fixed texts need half of the time of a function per character. */
export function escapeText(text: string): string {
  if (!/[&<>"']/.test(text)) return text
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Escapes text for an element or an attribute of XML. Characters that XML 1.0 cannot represent become U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}

/** Returns a complete document. Escapes texts and values, but not the names of elements and attributes. */
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
