// Renders the texts of users (Markdown). Each text is rendered once per language.

import { createHash } from 'node:crypto'
import type { ExternalImages } from '#features/basics/external-images/external-images.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { MIB } from '#lib/text/sizes.ts'
import type { SourceFiles } from '#lib/text/urls-in-text.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { type SourceHost, sourceFilesOf } from '#taxonomy/source-hosts.ts'
import { type AssetName, assetPath, loadAssets } from '#web/ui/assets.ts'
import { type Markup, trusted } from '#web/ui/html.ts'
import { createMarkdown } from '#web/ui/markdown/markdown.ts'
import type { PageContext } from '#web/ui/page-context.ts'

type Page = Pick<PageContext, 'language'>
/** Links of a project by platform. */
type Linked = Pick<ProjectView, 'link_urls'>

export type UserTexts = {
  /** Renders a saved text. `source`: the project of the text, in whose repository relative links lead to files. */
  render(text: string, page: Page, source?: Linked): Promise<Markup>
  /** Renders a text that is not saved. It shows the images of other hosts that the saved text contains. */
  preview(text: string, page: Page, saved?: { text: string; source: Linked }): Promise<Markup>
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
  { cache, config, log, sourceHosts }: Pick<Deps, 'cache' | 'config' | 'log' | 'sourceHosts'>,
  images: Pick<ExternalImages, 'key'>,
): UserTexts {
  const { baseUrl } = config.http
  const pathOf = (name: AssetName) => assetPath(loadAssets(), new URL(baseUrl).pathname.replace(/\/$/, ''), name)
  const markdown = createMarkdown({
    filesUrl: config.files.baseUrl,
    videoStyle: pathOf('video.css'),
    icons: pathOf('icons.svg'),
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
    render: (text, { language }, linked) => {
      const source = projectFiles(linked, sourceHosts)
      return render(keyOf(language, source, text), async () =>
        markdown.render(text, language, { external: await external(), source }),
      )
    },
    preview: (text, { language }, saved) => {
      const source = projectFiles(saved?.source, sourceHosts)
      return render(`${keyOf(language, source, text)} ${hashOf(saved?.text ?? '')}`, async () =>
        markdown.render(text, language, { external: await external(saved?.text ?? ''), source }),
      )
    },
    close: () => markdown.close(),
  }
}

const keyOf = ({ tag }: Page['language'], source: SourceFiles | null | undefined, text: string): string =>
  `${tag} ${source === null ? 'none' : (source?.page ?? '')} ${hashOf(text)}`

/** Returns where the files of a project are; null if its source link does not lead to a known code host. */
export function projectFiles(linked: Linked | undefined, hosts: readonly SourceHost[]): SourceFiles | null | undefined {
  if (linked === undefined) return undefined
  const link = linked.link_urls['source']?.url
  return (link === undefined ? undefined : sourceFilesOf(link, hosts)) ?? null
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

/** Returns the targets of the links and images of a rendered text that lead nowhere, each once. */
export function nowhereIn(markup: Markup): Markup[] {
  const found = String(markup).matchAll(/<span data-nowhere(?:="([^"]*)")?/g)
  return [...new Set([...found].map(([, target = '']) => target))].map(trusted)
}
