// Renders the texts of users (Markdown). Each text is rendered once per language.

import { createHash } from 'node:crypto'
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import type { Markup } from '#web/ui/html.ts'
import { createMarkdown } from '#web/ui/markdown/markdown.ts'
import type { PageContext } from '#web/ui/page-context.ts'

export type UserTexts = {
  render(text: string, page: Pick<PageContext, 'language'>): Promise<Markup>
  close(): Promise<void>
}

const RENDERED = defineCache<RememberDefinition<Markup>>({
  name: 'rendered-text',
  contains: 'Markdown text of a user as HTML, by its content',
  maxBytes: 32 * MIB,
  sizeOf: (markup) => 2 * String(markup).length,
})

/** The cache key contains a hash of the text, so that a changed text is rendered again. */
export function createUserTexts({ cache, config, log }: Pick<Deps, 'cache' | 'config' | 'log'>): UserTexts {
  const markdown = createMarkdown({
    filesUrl: config.files.baseUrl,
    imageOrigins: [new URL(config.files.baseUrl).origin],
    onError: (error) => log.warn({ err: error }, 'Could not render a text; the page shows its source'),
  })
  const rendered = cache.remember(RENDERED)
  return {
    render: async (text, { language }) => {
      const key = `${language.tag} ${createHash('sha256').update(text).digest('base64')}`
      const cached = rendered.peek(key)
      if (cached !== undefined) return cached
      const markup = await markdown.render(text, language)
      // Renders a text again if the previous attempt failed.
      if (!String(markup).startsWith('<div class="prose plain"')) rendered.store(key, markup)
      return markup
    },
    close: () => markdown.close(),
  }
}
