// The editor of a Markdown text: toolbar, text area and preview. Without scripts, it is a text area with a button for the preview.
import { fileSize } from '../format.ts'
import { attributes, html, type Markup, type Part } from '../html.ts'
import type { IconName } from '../icons.ts'
import { assetHref, icon, type PageContext } from '../page-context.ts'

/** The buttons of the toolbar. `key` is the letter of the shortcut with Ctrl or Cmd. */
const TOOLS: readonly { name: Tool; icon: IconName; key?: string }[] = [
  { name: 'bold', icon: 'bold', key: 'B' },
  { name: 'italic', icon: 'italic', key: 'I' },
  { name: 'heading', icon: 'heading' },
  { name: 'link', icon: 'link', key: 'K' },
  { name: 'image', icon: 'image' },
  { name: 'list', icon: 'list' },
  { name: 'numbers', icon: 'list-ordered' },
  { name: 'tasks', icon: 'list-checks' },
  { name: 'quote', icon: 'quote' },
  { name: 'code', icon: 'code' },
  { name: 'table', icon: 'table' },
  { name: 'spoiler', icon: 'eye-off' },
  { name: 'alert', icon: 'info' },
]
type Tool =
  | 'bold'
  | 'italic'
  | 'heading'
  | 'link'
  | 'image'
  | 'list'
  | 'numbers'
  | 'tasks'
  | 'quote'
  | 'code'
  | 'table'
  | 'spoiler'
  | 'alert'

/** The upload of images that are pasted, dropped or chosen. */
export type EditorImages = {
  /** Path of a form whose command `image` adds the file `image` to the end of the text in its response. */
  action: string
  /** Name of the text in that form. */
  field: string
  maxBytes: number
  /** ID of the version whose changelog contains the images. */
  version?: string | undefined
  /** Whether the text belongs to a draft that exists when the URL of the form has the parameter `draft`. */
  needsDraft?: boolean
}

export type Editor = {
  name: string
  label: string
  value: string
  rendered: Markup
  rows: number
  maxLength: number
  /** Message with the length of the text, which contains `{count}`. */
  count?: string
  /** First words above the text. Default: Markdown */
  title?: Part
  isInvalid?: boolean
  /** IDs of the elements that the script updates while the user types. Default: the preview */
  swaps?: string
  /** Default: images are linked, not uploaded. */
  images?: EditorImages
}

/** Renders the editor. The script of this page shows the toolbar, and uploads images. */
export function markdownEditor(page: PageContext, of: Editor): Markup {
  const { t } = page.language
  const preview = t('work.editor.preview')
  const area = attributes({
    id: of.name,
    name: of.name,
    maxlength: of.maxLength,
    rows: of.rows,
    'aria-label': of.label,
    'aria-invalid': of.isInvalid === true && 'true',
    'data-preview': of.swaps ?? 'preview',
    'data-count': of.count,
    dir: 'auto',
  })
  const box = attributes({
    'data-script': assetHref(page, 'editor.js'),
    'data-editor': JSON.stringify(optionsOf(page, of)),
  })
  // Browsers remove the first line break of a text area.
  return html`<div class="write both"${box}><div class="marks"><span>${of.title ?? 'Markdown'}</span>${toolbar(page, of)}<button class="tight" name="do" value="preview" formnovalidate data-now>${preview}</button></div><p class="hint" role="status"></p><textarea${area}>
${of.value}</textarea><div class="prose" id="preview" aria-label="${preview}" role="region" tabindex="0">${of.rendered}</div></div>`
}

function toolbar(page: PageContext, { name, label }: Editor): Markup {
  const { t } = page.language
  const buttons = TOOLS.map((tool, index) => {
    const text = t(`work.editor.${tool.name}`)
    const { key } = tool
    const button = attributes({
      type: 'button',
      class: 'tight',
      'data-tool': tool.name,
      'aria-label': text,
      title: key === undefined ? text : `${text} (${t('work.editor.key', { key })})`,
      'aria-keyshortcuts': key !== undefined && `Control+${key} Meta+${key}`,
      tabindex: index === 0 ? null : '-1',
    })
    return html`<button${button}>${icon(page, tool.icon)}</button>`
  })
  const side = attributes({
    type: 'button',
    class: 'tight',
    'data-side': true,
    'aria-label': t('work.editor.side'),
    title: t('work.editor.side'),
    'aria-pressed': 'true',
    hidden: true,
  })
  return html`<div class="line" role="toolbar" aria-label="${t('work.editor.tools', { name: label })}" aria-controls="${name}" hidden>${buttons}</div><button${side}>${icon(page, 'columns')}</button>`
}

/** Returns the options and texts of the script. */
function optionsOf(page: PageContext, { images }: Editor): unknown {
  const { t } = page.language
  const texts = { column: t('work.editor.column'), spoiler: t('work.editor.spoiler') }
  if (images === undefined) return { texts }
  const size = fileSize(page.language, images.maxBytes)
  return {
    ...images,
    texts: {
      ...texts,
      uploading: t('work.editor.uploading', { name: '{name}' }),
      uploaded: t('work.editor.uploaded', { name: '{name}' }),
      wait: t('work.editor.wait'),
      draft: t('work.editor.draft'),
      failed: t('work.editor.failed', { name: '{name}' }),
      format: t('work.editor.format', { name: '{name}' }),
      size: t('work.editor.size', { name: '{name}', size }),
    },
  }
}
