// Syntax highlighting for the languages of projects, with classes of the style sheet.
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import groovy from 'highlight.js/lib/languages/groovy'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { MarkdownIt } from 'markdown-it'

/** Each language includes its aliases, such as `toml` for `ini` and `kts` for `kotlin`. */
const LANGUAGES = { bash, groovy, ini, java, javascript, json, kotlin, xml, yaml }
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)
hljs.configure({ classPrefix: 'tok-' })

/** Maximum number of highlighted characters per text; the block that exceeds it and later blocks are not highlighted. */
const COLOURED_LENGTH_MAX = 24_576

/** Markdown plugin that highlights code in a known language. */
export function highlighting(parser: MarkdownIt): void {
  parser.core.ruler.push('highlighting-limit', ({ tokens }) => {
    let left = COLOURED_LENGTH_MAX
    for (const token of tokens) {
      if (token.type !== 'fence') continue
      left -= token.content.length
      if (left < 0) token.info = ''
    }
  })
  // The result is escaped; an empty result leaves the code unchanged.
  parser.set({
    highlight: (code, language) =>
      hljs.getLanguage(language) === undefined ? '' : hljs.highlight(code, { language, ignoreIllegals: true }).value,
  })
}
