// Renders the texts of users (Markdown). Each text is rendered once per language.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Markup } from '#platform/html/html.ts'
import { createMarkdown } from '#platform/html/markdown/markdown.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import type { Deps } from '#ports/deps.ts'

export type UserTexts = { render(text: string, page: PageContext): Promise<Markup>; close(): Promise<void> }

const CACHE_BYTES = 32 * 1024 * 1024

/** The cache key contains a hash of the text, so that a changed text is rendered again. */
export function createUserTexts({ config, log }: Pick<Deps, 'config' | 'log'>): UserTexts {
  const markdown = createMarkdown({
    imageOrigins: [new URL(config.files.baseUrl).origin],
    onError: (error) => log.warn({ err: error }, 'Could not render a text; the page shows its source'),
  })
  const cache = new LRUCache<string, Markup>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (markup) => 2 * String(markup).length + 200,
  })
  return {
    render: async (text, { language }) => {
      const key = `${language.tag} ${createHash('sha256').update(text).digest('base64')}`
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const markup = await markdown.render(text, language)
      // Renders a text again if the previous attempt failed.
      if (!String(markup).startsWith('<div class="prose plain"')) cache.set(key, markup)
      return markup
    },
    close: () => markdown.close(),
  }
}
