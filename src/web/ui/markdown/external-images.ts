// Decides which images of other hosts a text shows, and under which signed URL. The server fetches them when a viewer's browser
// loads them, not while the text is rendered.

import { EXTERNAL_URL_MAX, signedPath } from '#lib/access/signed-url.ts'
import { type SourceFiles, urlsIn } from '#lib/text/urls-in-text.ts'

export type ExternalOptions = {
  /** The key of signatures. */
  key: Uint8Array
  /** URL of the site, without trailing slash. */
  baseUrl: string
  /**
   * Only for a text that is not saved: the saved one. Only its images are shown, so that nobody can make Depot fetch a URL
   * without saving a text that others can see.
   */
  savedText?: string | undefined
}

/** Maximum number of images of other hosts in a text. Further ones become links. */
const IMAGES_MAX = 100

export type ExternalImage = { path: string; url: string }

/** Returns the functions for the images of one text. `source`: place of the relative images of the saved text. */
export function createExternalImages(options: ExternalOptions | undefined, source?: SourceFiles) {
  const shown = new Set<string>()
  const saved =
    options?.savedText === undefined ? undefined : new Set(urlsIn(options.savedText, source).map(({ url }) => url))
  const isSaved = (url: string): boolean => saved === undefined || saved.has(url)
  const urlOf = (src: string): string | undefined => {
    const url = URL.parse(src.startsWith('//') ? `https:${src}` : src.trim())
    return url?.protocol === 'https:' && url.href.length <= EXTERNAL_URL_MAX ? withoutFragment(url) : undefined
  }
  return {
    /** Returns the URL under which the text shows an image; undefined if the image becomes a link. */
    show(src: string): ExternalImage | undefined {
      const url = urlOf(src)
      if (options === undefined || url === undefined || !isSaved(url)) return undefined
      if (!shown.has(url) && shown.size >= IMAGES_MAX) return undefined
      shown.add(url)
      return { path: `${options.baseUrl}${signedPath(options.key, url)}`, url }
    },
    /** Returns whether the image appears when the text is saved. */
    isLater(src: string): boolean {
      const url = urlOf(src)
      return options !== undefined && url !== undefined && !isSaved(url)
    },
  }
}

/** Servers do not receive fragments, which READMEs use for themes: `logo.png#gh-dark-mode-only`. */
function withoutFragment(url: URL): string {
  url.hash = ''
  return url.href
}
