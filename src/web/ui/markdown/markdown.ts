// Renders Markdown of users in a worker thread, because a hostile text of 64 KB takes up to some seconds.
import { createWorkerThread } from '#lib/concurrency/worker-thread.ts'
import type { SourceFiles } from '#lib/text/urls-in-text.ts'
import { html, type Markup, trusted } from '../html.ts'
import type { Language } from '../languages.ts'
import type { ExternalOptions } from './external-images.ts'
import type { MarkdownTask } from './markdown-worker.ts'

const WAITING_MAX = 500
const ANSWER_MS = 30_000
const IDLE_MS = 300_000

export type Markdown = {
  /**
   * Renders a text inside a separate element. If too many texts wait or rendering takes too long, returns the text as
   * written. Without `external`, images of other hosts become links. `source`: place of relative links, as in MarkdownOptions.
   * Cache the result: it costs more than any other part of a page.
   */
  render(
    text: string,
    language: Language,
    options?: { external?: ExternalOptions | undefined; source?: SourceFiles | null | undefined },
  ): Promise<Markup>
  close(): Promise<void>
}

/**
 * `imageOrigins`: origins whose images are shown, such as `https://cdn.example.org`. `filesUrl`: base URL of images
 * without an address.
 */
export function createMarkdown({
  imageOrigins,
  filesUrl,
  videoStyle,
  icons,
  onError,
}: {
  imageOrigins: readonly string[]
  filesUrl: string
  /** URL of the style sheet that texts with videos, spoilers or alerts load. */
  videoStyle: string
  /** URL of the sprite with the icons of alerts. */
  icons: string
  onError: (error: Error) => void
}): Markdown {
  const thread = createWorkerThread<MarkdownTask, string>({
    url: new URL('./markdown-worker.ts', import.meta.url),
    name: 'The Markdown thread',
    waiting: WAITING_MAX,
    answerMs: ANSWER_MS,
    idleMs: IDLE_MS,
  })
  return {
    render: async (text, language, given = {}) => {
      if (text.trim() === '') return html``
      try {
        const markup = await thread.ask({
          text,
          options: { imageOrigins, filesUrl, icons, ...given, words: wordsOf(language) },
        })
        const style =
          /<a [^<>]* data-video="|<span class="spoiler"| role="note"/.test(markup) &&
          html`<link rel="stylesheet" href="${videoStyle}">`
        return html`<div class="prose" dir="auto">${style}${trusted(markup)}</div>`
      } catch (error) {
        onError(error as Error)
        return html`<div class="prose plain" dir="auto">${text}</div>`
      }
    },
    close: () => thread.close(),
  }
}

function wordsOf({ t }: Language): MarkdownTask['options']['words'] {
  return {
    code: t('text.code'),
    table: t('text.table'),
    picture: t('text.picture'),
    later: t('text.later'),
    video: t('text.video'),
    done: t('text.done'),
    notDone: t('text.not-done'),
    spoiler: t('text.spoiler'),
    note: t('text.note'),
    tip: t('text.tip'),
    important: t('text.important'),
    warning: t('text.warning'),
    caution: t('text.caution'),
  }
}
