// The line that says where a mirrored project or version was copied from.
import type { OriginView } from '#features/basics/access/origin.ts'
import { html, type Markup } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'

/** Names the host of the source, with a link to the page there, and its author if the source has one. */
export function mirroredFrom({ language }: PageContext, { address, url, author }: OriginView): Markup {
  const source = html`<a href="${url}" rel="nofollow noopener">${new URL(address).host}</a>`
  return author === null
    ? html`${language.rich('project.mirrored.text', { source })}`
    : html`${language.rich('project.mirrored.by', { source, author: html`<bdi>${author}</bdi>` })}`
}
