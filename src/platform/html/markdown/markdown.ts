// People's texts as markup. The work is done in a thread: a text of 64 KB takes from 0.1 to some seconds, depending on
// how hostile it is, and requests must not wait for that.
import { createWorkerThread } from '#lib/concurrency/worker-thread.ts'
import { html, type Markup, trusted } from '../html.ts'
import type { Language } from '../languages.ts'
import type { MarkdownQuestion } from './markdown-worker.ts'

const WAITING_MAX = 500
const ANSWER_MS = 30_000
const IDLE_MS = 300_000

export type Markdown = {
  /**
   * The markup of a text, in an element of its own. One that cannot be rendered, because too many wait or it takes too
   * long, is shown as it was written. Keep what comes back: it costs more than any other part of a page.
   */
  render(text: string, language: Language): Promise<Markup>
  close(): Promise<void>
}

/** `imageOrigins`: where pictures may be loaded from, such as `https://cdn.example.org`. */
export function createMarkdown({
  imageOrigins,
  onError,
}: {
  imageOrigins: readonly string[]
  onError: (error: Error) => void
}): Markdown {
  const thread = createWorkerThread<MarkdownQuestion, string>({
    url: new URL('./markdown-worker.ts', import.meta.url),
    name: 'The Markdown thread',
    waiting: WAITING_MAX,
    answerMs: ANSWER_MS,
    idleMs: IDLE_MS,
  })
  return {
    render: async (text, language) => {
      if (text.trim() === '') return html``
      try {
        const markup = await thread.ask({ text, options: { imageOrigins, words: wordsOf(language) } })
        return html`<div class="prose" dir="auto">${trusted(markup)}</div>`
      } catch (error) {
        onError(error as Error)
        return html`<div class="prose plain" dir="auto">${text}</div>`
      }
    },
    close: () => thread.close(),
  }
}

function wordsOf({ t }: Language): MarkdownQuestion['options']['words'] {
  return {
    code: t('text.code'),
    table: t('text.table'),
    picture: t('text.picture'),
    video: t('text.video'),
    done: t('text.done'),
    notDone: t('text.not-done'),
  }
}
