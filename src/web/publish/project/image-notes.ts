// Notes of the editors of texts: copied images, and links that lead nowhere.
import { nowhereIn } from '#web/kit/user-texts.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { note } from '#web/ui/parts/lists.ts'
import type { CopiedImages } from './copy-images.ts'

/** Maximum number of links that a note names. */
const NAMED_MAX = 10

export function copiedNote(page: PageContext, { copied, failed }: CopiedImages): Markup {
  const { t } = page.language
  const reasons = failed.map(({ url, reason }) => html`<li><span class="long">${url}</span>: ${reason}</li>`)
  const content = html`<p>${t('manage.copy.done', { count: copied })}</p>${failed.length > 0 && html`<p>${t('manage.copy.failed')}</p><ul>${reasons}</ul>`}`
  return note(page, failed.length > 0 ? 'warn' : 'good', content, { role: 'status' })
}

/** Names the links and images of a rendered text that visitors see as text. */
export function nowhereNote(page: PageContext, rendered: Markup): Part {
  const targets = nowhereIn(rendered).slice(0, NAMED_MAX)
  if (targets.length === 0) return null
  const items = targets.map((target) => html`<li><code class="long">${target}</code></li>`)
  return note(page, 'warn', html`<p>${page.language.t('manage.nowhere')}</p><ul>${items}</ul>`)
}
