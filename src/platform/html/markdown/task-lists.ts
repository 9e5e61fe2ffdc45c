// Task lists: `- [x] done`.
import type { MarkdownIt } from 'markdown-it'

/** Adds a class to the items of task lists, which shapeDocument turns into a labelled symbol. */
export function taskLists(parser: MarkdownIt): void {
  parser.core.ruler.after('inline', 'task-lists', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const first = token.children?.[0]
      const match = first?.type === 'text' ? /^\[([ xX])\]\s+/.exec(first.content) : null
      const item = tokens[index - 2]
      if (first === undefined || match === null || item?.type !== 'list_item_open') continue
      first.content = first.content.slice(match[0].length)
      item.attrJoin('class', match[1] === ' ' ? 'task' : 'task done')
    }
  })
}
