// The worker thread of markdown.ts.
import { serveTasks } from '#lib/concurrency/answer-questions.ts'
import { type MarkdownOptions, renderMarkdown } from './render.ts'

export type MarkdownTask = { text: string; options: MarkdownOptions }

serveTasks(({ text, options }: MarkdownTask) => renderMarkdown(text, options))
