// Types of the Markdown plugins that Depot uses.
import type { MarkdownIt } from 'markdown-it'

type Plugin = (parser: MarkdownIt, options?: object) => void
declare const plugin: Plugin

export { plugin as default, plugin as full }
