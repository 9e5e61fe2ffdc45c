// Finds URLs in texts without rendering them. The result can contain URLs that are not images. Relative links in texts lead to files
// of the repository of a project.
import { EXTERNAL_URL_MAX } from '#lib/access/signed-url.ts'

/** Targets of links and images that can be relative: in Markdown, with `<>` if they contain spaces, and in HTML. */
const PATH_FORM = /(\]\(\s{0,8}|\]:\s{0,8}|\bsrc\s{0,8}=\s{0,8}["']?)(<[^<>\n]{1,1024}>|[^\s<>"'()`]{1,1024})/g

const URL_FORM = /https:\/\/[^\s<>"'`\\]{1,2048}/g

export type UrlInText = { url: string; written: string }

/**
 * Returns the https URLs in a text, in the form in which pages contain them, with the form in which the text contains them. In
 * Markdown, a URL can be followed by a parenthesis, so that both forms are in the result. `source`: adds the URLs of the images
 * that relative paths lead to.
 */
export function urlsIn(text: string, source?: SourceFiles): UrlInText[] {
  if (source === undefined) return absoluteUrls(text)
  const relative = [...text.matchAll(PATH_FORM)].flatMap(([, , written = '']) => {
    const url = relativeUrl(written, source)
    return url === undefined ? [] : [{ url, written }]
  })
  return [...relative, ...absoluteUrls(text)]
}

function absoluteUrls(text: string): UrlInText[] {
  return [...text.matchAll(URL_FORM)].flatMap(([whole]) => {
    const end = whole.indexOf(')')
    return (end === -1 ? [whole] : [whole.slice(0, end), whole]).flatMap((written) => toUrl(written) ?? [])
  })
}

function toUrl(written: string): UrlInText | undefined {
  const url = URL.parse(written.replaceAll('&amp;', '&'))
  if (url === null) return undefined
  url.hash = ''
  return url.href.length > EXTERNAL_URL_MAX ? undefined : { url: url.href, written }
}

function relativeUrl(written: string, source: SourceFiles): string | undefined {
  const path = written.replace(/^<|>$/g, '').replaceAll('&amp;', '&')
  return isRelative(path) ? fileInSource(path, source)?.raw : undefined
}

/** Returns the text with other URLs. `replacements`: new URLs by those of `urlsIn`. */
export function replaceUrls(text: string, replacements: ReadonlyMap<string, string>, source?: SourceFiles): string {
  const absolute = text.replace(PATH_FORM, (whole, before: string, written: string) => {
    const url = source === undefined ? undefined : relativeUrl(written, source)
    const replacement = url === undefined ? undefined : replacements.get(url)
    return replacement === undefined ? whole : before + replacement
  })
  return absolute.replace(URL_FORM, (whole) => {
    for (const { url, written } of absoluteUrls(whole)) {
      const replacement = replacements.get(url)
      if (replacement !== undefined) return replacement + whole.slice(written.length)
    }
    return whole
  })
}

/** Prefixes of the URLs of the pages and of the contents of the files in a repository. */
export type SourceFiles = { page: string; raw: string }

const ROOT = 'https://repository.invalid/-/'

/** Returns whether a link is relative to the place of its text. Links that begin with `/` are paths of the site. */
export function isRelative(link: string): boolean {
  return !/^\s*[/#]/.test(link) && URL.parse(link) === null
}

/**
 * Returns the URLs of the page and of the content of the file that a relative link leads to; undefined if the link leaves the
 * repository or names no file.
 */
export function fileInSource(link: string, { page, raw }: SourceFiles): SourceFiles | undefined {
  const url = URL.parse(link, ROOT)
  if (url === null || !url.href.startsWith(ROOT)) return undefined
  const path = url.href.slice(ROOT.length, url.href.length - url.search.length - url.hash.length)
  // The host decodes the path, so that an encoded slash could end a name.
  if (path === '' || /%(?:2f|5c)/i.test(path)) return undefined
  return { page: page + path + url.hash, raw: raw + path }
}
