// The worker thread of markdown.ts.
import { serveTasks } from '#lib/concurrency/answer-questions.ts'
import { renderMarkdown } from './render.ts'
import type { MarkdownOptions } from './sanitize.ts'

export type MarkdownTask = { text: string; options: MarkdownOptions }

serveTasks(({ text, options }: MarkdownTask) => renderMarkdown(text, options))
