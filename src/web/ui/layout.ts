// The HTML document of every page: head, header and footer.

import { header, linkTo } from './header.ts'
import { attributes, html, type Markup, type Part, trusted } from './html.ts'
import { classOfHue } from './hues.ts'
import { type MessageKey, OFFERED_LANGUAGES } from './languages.ts'
import { type Announcement, assetHref, icon, type PageContext, pathTo, THEMES } from './page-context.ts'

export type Feed = { path: string; title: string; type: 'application/atom+xml' | 'application/feed+json' }

export type Page = {
  /** Title of the page; the name of the instance is appended. */
  title: string
  body: Markup
  /** One or two sentences for search engines and previews. */
  description?: string
  /** Canonical path for search engines. */
  canonical?: string
  /** Whether search engines must not index the page. Default: false */
  isUnlisted?: boolean
  openGraph?: {
    type: 'website' | 'article' | 'profile'
    image?: { url: string; type: string; alt: string; width: number; height: number }
  }
  /** Structured data (schema.org). */
  structuredData?: readonly object[]
  feeds?: readonly Feed[]
  /** Path of the oEmbed description of the page. */
  embed?: string
  previous?: string
  next?: string
  /** Classes of `main`. */
  className?: string
  /** URLs of external scripts; the content policy must allow them. */
  scripts?: readonly string[]
  /** Path that the browser opens automatically. */
  refresh?: string
  /** Whether the form on the page has errors. */
  hasErrors?: boolean
  /** Whether the page is for publishers, moderators or operators, with a second style sheet and script. Default: false */
  isWork?: boolean
}

/** Renders the whole document. */
export function layout(context: PageContext, page: Page): string {
  const { site, language, theme } = context
  const root = attributes({
    lang: language.tag,
    dir: language.dir === 'rtl' ? 'rtl' : null,
    class: site.accentHue === undefined ? null : classOfHue(site.accentHue),
    'data-theme': theme === 'system' ? null : theme,
  })
  return String(html`<!doctype html>
<html${root}>
<head>
${head(context, page)}
</head>
<body>
<a class="skip" href="#content">${language.t('layout.skip')}</a>
${site.readOnly !== undefined && notice(context, 'layout.read-only', site.readOnly(language))}${
  site.quiet !== undefined && notice(context, 'layout.quiet', site.quiet(language))
}${site.announcement !== undefined && announcementPart(context, site.announcement)}${context.personal(page.hasErrors === true ? termsInNewWindow : termsNotice)}${header(context, page)}
<main${attributes({ id: 'content', class: page.className })}>
${page.body}
</main>
${footer(context)}
</body>
</html>
`)
}

/** The first paint waits for the style sheet and for the script, which hides buttons, but not for the font. */
function head(context: PageContext, page: Page): Part {
  const { site, language } = context
  const title = page.hasErrors === true ? language.t('layout.error-title', { title: page.title }) : page.title
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${
  page.refresh !== undefined &&
  html`<meta http-equiv="refresh" content="0; url=${page.refresh.startsWith('/') ? pathTo(context, page.refresh) : page.refresh}">
`
}<title>${title} · ${site.name}</title>
<link rel="stylesheet" href="${assetHref(context, 'site.css')}">
${
  page.isWork === true &&
  html`<link rel="stylesheet" href="${assetHref(context, 'work.css')}">
`
}${favicon(context)}
${
  site.search !== undefined &&
  html`<link rel="search" href="${pathTo(context, '/opensearch.xml')}" type="application/opensearchdescription+xml" title="${site.name}">
<link rel="manifest" href="${pathTo(context, '/manifest.webmanifest')}">
`
}<script src="${assetHref(context, 'site.js')}" type="module" blocking="render"></script>
${
  page.isWork === true &&
  html`<script src="${assetHref(context, 'work.js')}" type="module"></script>
`
}${page.scripts?.map(
  (address) => html`<script src="${address}" defer></script>
`,
)}${forMachines(context, page)}`
}

/** Uses an SVG logo directly, and the smallest copy of other logos. */
function favicon(context: PageContext): Markup {
  const { mark } = context.site
  if (mark === undefined) return html`<link rel="icon" href="${assetHref(context, 'mark.svg')}" type="image/svg+xml">`
  return mark.rawUrl.endsWith('.svg')
    ? html`<link rel="icon" href="${mark.rawUrl}" type="image/svg+xml">`
    : html`<link rel="icon" href="${mark.url}" type="image/webp">`
}

function forMachines({ site }: PageContext, page: Page): Part {
  const { description, canonical, openGraph, feeds = [], structuredData = [] } = page
  const absolute = (path: string) => `${site.url}${path}`
  const image = openGraph?.image
  return [
    description !== undefined &&
      html`<meta name="description" content="${description}">
`,
    page.isUnlisted === true &&
      html`<meta name="robots" content="noindex">
`,
    canonical !== undefined &&
      html`<link rel="canonical" href="${absolute(canonical)}">
`,
    page.previous !== undefined &&
      html`<link rel="prev" href="${absolute(page.previous)}">
`,
    page.next !== undefined &&
      html`<link rel="next" href="${absolute(page.next)}">
`,
    feeds.map(
      ({ path, title, type }) => html`<link rel="alternate" type="${type}" href="${absolute(path)}" title="${title}">
`,
    ),
    page.embed !== undefined &&
      html`<link rel="alternate" type="application/json+oembed" href="${absolute(page.embed)}" title="${page.title}">
`,
    openGraph !== undefined &&
      html`<meta property="og:type" content="${openGraph.type}">
<meta property="og:title" content="${page.title}">
<meta property="og:site_name" content="${site.name}">
${
  canonical !== undefined &&
  html`<meta property="og:url" content="${absolute(canonical)}">
`
}${
  description !== undefined &&
  html`<meta property="og:description" content="${description}">
`
}${
  image !== undefined &&
  html`<meta property="og:image" content="${image.url}">
<meta property="og:image:type" content="${image.type}">
<meta property="og:image:alt" content="${image.alt}">
<meta property="og:image:width" content="${image.width}">
<meta property="og:image:height" content="${image.height}">
<meta name="twitter:card" content="summary_large_image">
`
}`,
    structuredData.map(dataScript),
  ]
}

/** Renders JSON that cannot end its element. Browsers do not run this type, so the content policy does not apply. */
function dataScript(data: object): Markup {
  const json = JSON.stringify({ '@context': 'https://schema.org', ...data })
  const inert = json.replace(/[<>&\u2028\u2029]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return trusted(`<script type="application/ld+json">${inert}</script>\n`)
}

/** The text of an operator can be in another language and direction than the page. */
function notice(context: PageContext, label: MessageKey, text: string): Markup {
  return html`<aside class="announcement" aria-label="${context.language.t(label)}"><p class="page">${icon(context, 'info')}<span dir="auto">${text}</span></p></aside>
`
}

const termsNotice = (context: PageContext): Part => askForConsent(context)

/** Keeps the page, whose form contains what the user entered. */
const termsInNewWindow = (context: PageContext): Part => askForConsent(context, '_blank')

/** Asks the user to agree to the Terms, except on the page that does so. */
function askForConsent({ owesConsent, ...context }: PageContext, target?: '_blank'): Part {
  const { site, language, address } = context
  const isAsking = address === site.paths.terms || address.startsWith(`${site.paths.terms}?`)
  if (owesConsent !== true || isAsking) return null
  const href = pathTo(context, `${site.paths.terms}?return=${encodeURIComponent(address)}`)
  const link = (text: Part) => html`<a${attributes({ href, target })}>${text}</a>`
  return html`<aside class="announcement" aria-label="${language.t('layout.terms')}"><div class="page">${icon(context, 'info')}<p>${language.rich('layout.terms.ask', { name: site.name, link })}</p></div></aside>
`
}

/**
 * The script hides the announcement without a request, so that visitors share cached pages. The form is for browsers without
 * scripts, and has no CSRF token.
 */
function announcementPart(context: PageContext, announcement: Announcement): Markup {
  const { t } = context.language
  const { severity, key } = announcement
  const isCritical = severity === 'critical'
  const hide =
    !isCritical &&
    html`<form method="post" action="${pathTo(context, context.site.paths.preferences)}"><input type="hidden" name="announcement" value="${key}"><input type="hidden" name="return" value="${context.address}"><button class="plain">${icon(context, 'x')}<span class="vh">${t('layout.announcement.hide')}</span></button></form>`
  return html`<aside${attributes({ class: `announcement ${severity}`, 'aria-label': t('layout.announcement'), 'data-hide': isCritical ? null : key })}><div class="page">${announcementContent(context, announcement)}${hide}</div></aside>
`
}

/** Renders the content of an announcement, also for its preview. */
export function announcementContent(context: PageContext, { text, severity, link }: Announcement): Markup {
  const { t } = context.language
  const href = link?.startsWith('/') === true ? pathTo(context, link) : link
  return html`${icon(context, severity === 'info' ? 'info' : 'warning')}<div>${severity !== 'info' && html`<p class="strong">${t(`layout.announcement.${severity}`)}</p>`}${text}${href !== null && html`<p><a href="${href}">${t('layout.announcement.link')}</a></p>`}</div>`
}

function footer(context: PageContext): Markup {
  const { site, language } = context
  const { footer: links = [] } = site
  const at = language.rich('layout.instance', {
    name: site.name,
    host: html`<strong>${new URL(site.url).host}</strong>`,
  })
  return html`<footer class="foot"><div class="page"><span>${at}</span>
${
  links.length > 0 &&
  html`<ul>${links.map((link) => html`<li>${linkTo(context, link)}</li>`)}</ul>
`
}${preferencesForm(context)}
</div></footer>`
}

/** The form has no CSRF token, so that public pages are the same for everyone; its route checks the origin instead. */
function preferencesForm(context: PageContext): Markup {
  const { site, language, theme } = context
  const select = (id: string, label: string, options: Markup[]) =>
    html`<label class="vh" for="${id}">${label}</label><select id="${id}" name="${id}">${options}</select>`
  const option = (value: string, label: string, isChosen: boolean, lang: string | null = null) =>
    html`<option${attributes({ value, selected: isChosen, lang })}>${label}</option>`
  return html`<form method="post" action="${pathTo(context, site.paths.preferences)}" data-send>
<input type="hidden" name="return" value="${context.address}">
${select(
  'theme',
  language.t('layout.theme'),
  THEMES.map((value) => option(value, language.t(`layout.theme.${value}`), value === theme)),
)}
${select(
  'language',
  language.t('layout.language'),
  OFFERED_LANGUAGES.map(({ tag, name }) => option(tag, name, tag === language.tag, tag)),
)}
<label class="keys" hidden>${language.t('layout.keys')}</label>
<button class="tight">${language.t('layout.set')}</button>
</form>`
}
