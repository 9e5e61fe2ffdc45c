// Finds URLs in texts without rendering them. The result can contain URLs that are not images.
import { EXTERNAL_URL_MAX } from '#lib/access/signed-url.ts'

const URL_FORM = /https:\/\/[^\s<>"'`\\]{1,2048}/g

export type UrlInText = { url: string; written: string }

/**
 * Returns the https URLs in a text, in the form in which pages contain them, with the form in which the text contains them. In
 * Markdown, a URL can be followed by a parenthesis, so that both forms are in the result.
 */
export function urlsIn(text: string): UrlInText[] {
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

/** Returns the text with other URLs. `replacements`: new URLs by those of `urlsIn`. */
export function replaceUrls(text: string, replacements: ReadonlyMap<string, string>): string {
  return text.replace(URL_FORM, (whole) => {
    for (const { url, written } of urlsIn(whole)) {
      const replacement = replacements.get(url)
      if (replacement !== undefined) return replacement + whole.slice(written.length)
    }
    return whole
  })
}
