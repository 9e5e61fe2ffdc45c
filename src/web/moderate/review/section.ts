// A section of the review page.
import { html, type Markup, type Part } from '#web/ui/html.ts'

export function section(of: { id: string; title: string; text?: Part; content: Part }): Markup {
  const { id, title, text, content } = of
  return html`<section class="part" id="${id}" aria-labelledby="${id}-h" data-step><header><h2 id="${id}-h">${title}</h2>${text !== undefined && html`<p>${text}</p>`}</header>
${content}
</section>
`
}
