// The thread behind markdown.ts.
import { serveTasks } from '#lib/concurrency/answer-questions.ts'
import { type MarkdownOptions, renderMarkdown } from './render.ts'

export type MarkdownQuestion = { text: string; options: MarkdownOptions }

serveTasks(({ text, options }: MarkdownQuestion) => renderMarkdown(text, options))
