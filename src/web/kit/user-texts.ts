// Renders the texts of users (Markdown). Each text is rendered once per language.

import { createHash } from 'node:crypto'
import type { ExternalImages } from '#features/basics/external-images/external-images.ts'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { assetPath, loadAssets } from '#web/ui/assets.ts'
import type { Markup } from '#web/ui/html.ts'
import { createMarkdown } from '#web/ui/markdown/markdown.ts'
import type { PageContext } from '#web/ui/page-context.ts'

type Page = Pick<PageContext, 'language'>

export type UserTexts = {
  /** Renders a saved text. */
  render(text: string, page: Page): Promise<Markup>
  /** Renders a text that is not saved. It shows the images of other hosts that the saved text contains. */
  preview(text: string, page: Page, savedText?: string): Promise<Markup>
  close(): Promise<void>
}

const RENDERED = defineCache<RememberDefinition<Markup>>({
  name: 'rendered-text',
  contains: 'Markdown text of a user as HTML, by its content',
  maxBytes: 32 * MIB,
  sizeOf: (markup) => 2 * String(markup).length,
})

/** The cache key contains a hash of the text, so that a changed text is rendered again. */
export function createUserTexts(
  { cache, config, log }: Pick<Deps, 'cache' | 'config' | 'log'>,
  images: Pick<ExternalImages, 'key'>,
): UserTexts {
  const { baseUrl } = config.http
  const markdown = createMarkdown({
    filesUrl: config.files.baseUrl,
    videoStyle: assetPath(loadAssets(), new URL(baseUrl).pathname.replace(/\/$/, ''), 'video.css'),
    imageOrigins: [...new Set([config.files.baseUrl, baseUrl].map((url) => new URL(url).origin))],
    onError: (error) => log.warn({ err: error }, 'Could not render a text; the page shows its source'),
  })
  const rendered = cache.remember(RENDERED)
  const external = async (savedText?: string) =>
    config.externalImages.isProxied ? { key: await images.key(), baseUrl, savedText } : undefined
  const render = async (key: string, make: () => Promise<Markup>): Promise<Markup> => {
    const cached = rendered.peek(key)
    if (cached !== undefined) return cached
    const markup = await make()
    // Renders a text again if the previous attempt failed.
    if (!String(markup).startsWith('<div class="prose plain"')) rendered.store(key, markup)
    return markup
  }
  return {
    render: (text, { language }) =>
      render(`${language.tag} ${hashOf(text)}`, async () => markdown.render(text, language, await external())),
    preview: (text, { language }, savedText = '') =>
      render(`${language.tag} ${hashOf(text)} ${hashOf(savedText)}`, async () =>
        markdown.render(text, language, await external(savedText)),
      ),
    close: () => markdown.close(),
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')

/** Returns the images of other hosts that a rendered text shows, each once. */
export function externalImagesOf(markup: Markup): { url: string; path: string }[] {
  const found = String(markup).matchAll(/<img src="([^"]*\/external\/[\w-]+\/([\w-]+))"/g)
  return [...new Map([...found].map(([, path = '', encoded = '']) => [encoded, path]))].map(([encoded, path]) => ({
    url: Buffer.from(encoded, 'base64url').toString(),
    path,
  }))
}
