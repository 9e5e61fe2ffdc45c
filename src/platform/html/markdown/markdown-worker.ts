// The thread behind markdown.ts.
import { answerQuestions } from '#lib/concurrency/answer-questions.ts'
import { type MarkdownOptions, renderMarkdown } from './render.ts'

export type MarkdownQuestion = { text: string; options: MarkdownOptions }

answerQuestions(({ text, options }: MarkdownQuestion) => renderMarkdown(text, options))
