// The elements and attributes that texts of users can contain. The sanitizer drops everything else or shows it as text.

import sanitizeHtml from 'sanitize-html'
import type { SourceFiles } from '#lib/text/urls-in-text.ts'
import { videoOf } from '#lib/text/video-links.ts'
import { ALERTS, type Alert } from './alerts.ts'
import { createExternalImages, type ExternalOptions } from './external-images.ts'
import { NOWHERE, targetIn } from './source-links.ts'
import { videoCards } from './video-cards.ts'

/** Properties of the page that affect the rendered text. */
export type MarkdownOptions = {
  /** Origins whose images are shown. Other images would reveal the reader to their host, so they become links. */
  imageOrigins: readonly string[]
  /** Base URL of images without an address: `/data/…`. */
  filesUrl: string
  /** Undefined: images of other hosts become links. */
  external?: ExternalOptions | undefined
  /** Place of relative links and images. Null: they lead nowhere. Undefined: they are paths of the site. */
  source?: SourceFiles | null | undefined
  /** Labels that the renderer adds, in the language of the page. */
  /** URL of the sprite with the icons of alerts. */
  icons: string
  words: Record<'code' | 'table' | 'picture' | 'later' | 'video' | 'done' | 'notDone' | 'spoiler' | Alert, string>
}

/** Prefix of IDs in texts of users, so that none equals an ID of the page. */
export const ID_PREFIX = 'text-'

const ALIGNED = ['p', 'div', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'td', 'th', 'img']
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const TAGS = [
  ...HEADINGS,
  ...['p', 'div', 'br', 'hr', 'blockquote', 'pre', 'code', 'span', 'details', 'summary', 'ul', 'ol', 'li'],
  ...['dl', 'dt', 'dd', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'img', 'picture', 'source'],
  ...['b', 'strong', 'i', 'em', 's', 'del', 'ins', 'u', 'small', 'sub', 'sup', 'kbd', 'samp', 'var', 'mark', 'q'],
  ...['abbr', 'cite', 'figure', 'figcaption'],
]
/** Elements that are removed with their content. */
const SILENT = [
  'script',
  'style',
  'textarea',
  'option',
  'noscript',
  'template',
  'title',
  'object',
  'svg',
  'math',
  'head',
]
const LANGUAGE_CLASS = /^language-[a-z0-9+#-]{1,20}$/
const TOKEN_CLASSES = ['tok-*', 'function_', 'class_', 'language_', 'invoke__', 'inherited__', 'constant_']

/** Path of the files of every instance. */
const OWN_FILES = '/data/'

type Attributes = Record<string, string>
type Element = { tagName: string; attribs: Attributes; text?: string }

/** Removes everything that runs code, loads resources, imitates a part of the page, or hides the target of a link. */
export function sanitize(markup: string, { imageOrigins, filesUrl, external, source, words }: MarkdownOptions): string {
  const isAllowed = (address: string | undefined) => address !== undefined && isShown(address, imageOrigins)
  const others = createExternalImages(external, source ?? undefined)
  // A link cannot contain a link: browsers would close the outer one.
  let links = 0
  const insideLink = (element: Element): Element => ({ ...element, tagName: 'span', attribs: {} })
  const clean = sanitizeHtml(markup, {
    onOpenTag: (name) => {
      if (name === 'a') links += 1
    },
    onCloseTag: (name) => {
      if (name === 'a') links -= 1
    },
    allowedTags: TAGS,
    nonTextTags: SILENT,
    disallowedTagsMode: 'discard',
    selfClosing: ['img', 'br', 'hr', 'source'],
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    allowedAttributes: {
      '*': ['id', 'dir', 'lang', 'title'],
      a: ['href', 'rel'],
      img: ['src', 'alt', 'width', 'height', 'loading', LINK_MARK],
      source: ['srcset', 'media', 'type'],
      span: [NOWHERE],
      ol: ['start', 'reversed'],
      details: ['open'],
      th: ['colspan', 'rowspan', 'scope'],
      td: ['colspan', 'rowspan'],
    },
    allowedClasses: {
      code: [LANGUAGE_CLASS],
      span: [...TOKEN_CLASSES, 'spoiler'],
      li: ['task', 'done'],
      blockquote: ALERTS.map((kind) => `alert-${kind}`),
      a: ['outside', 'video'],
      ...Object.fromEntries(ALIGNED.map((tag) => [tag, ['align-center', 'align-right', 'align-left']])),
    },
    transformTags: {
      // Runs after the specific transformation of an element.
      '*': (tagName, attribs) => ({ tagName, attribs: common(tagName, attribs) }),
      center: () => ({ tagName: 'div', attribs: { class: 'align-center' } }),
      strike: 'del',
      tt: 'code',
      a: (_tag, attribs) => {
        const own = sourceLink(attribs, source)
        return links > 1 ? insideLink(own) : own
      },
      span: (tagName, { [NOWHERE]: _, ...attribs }) => ({ tagName, attribs }),
      img: (_tag, given) => {
        const src = targetIn(source, 'raw', given['src'] ?? '')
        if (src === null) return nowhere(given['src'], given['alt']?.trim() || words.picture)
        const attribs: Attributes = src.startsWith(OWN_FILES) ? { ...given, src: filesUrl + src } : { ...given, src }
        if (isAllowed(attribs['src'])) return image(attribs)
        const shown = others.show(src)
        if (shown !== undefined) {
          const named = { ...attribs, alt: attribs['alt']?.trim() || words.picture, src: shown.path }
          const { tagName, attribs: clean } = image(named)
          return { tagName, attribs: links > 0 ? clean : { [LINK_MARK]: shown.url, ...clean } }
        }
        // The link around an image stays; the host of the image would be the wrong target.
        if (links > 0) return { tagName: 'span', attribs: {}, text: attribs['alt']?.trim() || words.picture }
        return imageLink(attribs, { word: words.picture, note: others.isLater(src) ? words.later : undefined })
      },
      source: (_tag, attribs) =>
        isAllowed(attribs['srcset']) ? { tagName: 'source', attribs } : { tagName: 'dropped', attribs: {} },
      iframe: (_tag, attribs) => {
        const other = video(attribs, words.video)
        return links > 0 && other.tagName === 'a' ? insideLink(other) : other
      },
    },
    exclusiveFilter: ({ tag, attribs, text, mediaChildren = [] }) =>
      tag === 'a' &&
      attribs['href'] === undefined &&
      attribs['id'] === undefined &&
      text.trim() === '' &&
      mediaChildren.length === 0,
  })
  // The sanitizer leaves the end tag of a dropped element that is not closed. Texts of users cannot contain this tag.
  const linked = linkImages(clean.replaceAll('</dropped>', ''))
  return videoCards(linked, { word: words.video, show: (url) => others.show(url)?.path })
}

/** First attribute of an image, with the URL of the link around it. Texts of users cannot set it, because `image` drops it. */
const LINK_MARK = 'data-link'

/** Puts marked images into links: if an image fails, the browser shows its alternative text as the text of the link. */
function linkImages(markup: string): string {
  return markup.replace(/<img data-link="([^"<>]*)"([^<>]*)>/g, '<a href="$1" rel="nofollow ugc noopener"><img$2></a>')
}

/** Returns the global attributes in the form that pages use. */
function common(tag: string, attribs: Attributes): Attributes {
  const { id, name, align, style, class: classes, ...rest } = attribs
  const anchor = id ?? (tag === 'a' ? name : undefined)
  const side = ALIGNED.includes(tag) ? sideOf(align, style) : undefined
  const all = [classes, side === undefined ? undefined : `align-${side}`].filter((part) => part !== undefined).join(' ')
  return {
    ...rest,
    ...(anchor === undefined || !/^[^\s]{1,100}$/.test(anchor) ? {} : { id: `${ID_PREFIX}${anchor}` }),
    ...(all === '' ? {} : { class: all }),
  }
}

/** Returns the alignment: Markdown tables use `style`, old HTML `align`. */
function sideOf(align: string | undefined, style: string | undefined): string | undefined {
  const side = (align ?? /^text-align:\s*(left|center|right)$/.exec(style ?? '')?.[1])?.toLowerCase()
  return side === 'left' || side === 'center' || side === 'right' ? side : undefined
}

function sourceLink(attribs: Attributes, source: MarkdownOptions['source']): Element {
  const { href } = attribs
  if (href === undefined) return link(attribs)
  const target = targetIn(source, 'page', href)
  return target === null ? nowhere(href) : link({ ...attribs, href: target })
}

/** Returns the text of a link or image without a target. The link keeps its content. */
function nowhere(target = '', text?: string): Element {
  return { tagName: 'span', attribs: { [NOWHERE]: target }, ...(text === undefined ? {} : { text }) }
}

function link(attribs: Attributes): Element {
  const { href, ...rest } = attribs
  if (href === undefined) return { tagName: 'a', attribs: rest }
  if (href.startsWith('#')) return { tagName: 'a', attribs: { ...rest, href: `#${ID_PREFIX}${href.slice(1)}` } }
  const address = href.startsWith('//') ? `https:${href}` : href
  return { tagName: 'a', attribs: { ...rest, href: address, rel: 'nofollow ugc noopener' } }
}

/** Renders an image of an allowed origin with its given size, loaded when it becomes visible. */
function image({ src = '', alt = '', width, height, title, align, style }: Attributes): Element {
  const size = (text: string | undefined) => (text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? text : undefined)
  const [wide, high] = [size(width), size(height)]
  return {
    tagName: 'img',
    attribs: {
      src,
      alt,
      ...(wide === undefined ? {} : { width: wide }),
      ...(high === undefined ? {} : { height: high }),
      ...(title === undefined ? {} : { title }),
      ...(align === undefined ? {} : { align }),
      ...(style === undefined ? {} : { style }),
      loading: 'lazy',
    },
  }
}

/** Replaces an image of another host by a link with its text and host. */
function imageLink(
  { src = '', alt = '' }: Attributes,
  { word, note }: { word: string; note?: string | undefined },
): Element {
  const url = URL.parse(src.startsWith('//') ? `https:${src}` : src)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { tagName: 'span', attribs: {}, text: alt }
  const text = `${alt.trim() === '' ? word : alt.trim()} (${[url.host, note].filter(Boolean).join(', ')})`
  return { tagName: 'a', attribs: { href: url.href, class: 'outside', rel: 'nofollow ugc noopener' }, text }
}

function isShown(address: string, origins: readonly string[]): boolean {
  const url = URL.parse(address)
  return url !== null && origins.includes(url.origin) && !/[\s,]/.test(address)
}

/** Replaces an embedded player of YouTube or Vimeo by a link. Other frames are removed. */
function video({ src = '', title = '' }: Attributes, word: string): Element {
  const found = videoOf(src)
  if (found === undefined) return { tagName: 'dropped', attribs: {} }
  const text = title.trim() === '' ? word : title.trim()
  const attribs = { href: found.url, class: 'video', rel: 'nofollow ugc noopener' }
  return { tagName: 'a', attribs, text: `${text} (${found.host}.com)` }
}
