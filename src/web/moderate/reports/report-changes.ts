// The reported item at the time of the report, compared with its present state.
import type { readReportChanges } from '#features/community/moderation/read-changes.ts'
import { html, type Markup, type Part } from '#platform/html/html.ts'
import { isMessageKey } from '#platform/html/languages.ts'
import { note } from '#platform/html/lists.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import { sheetPart } from '#platform/html/work/frame.ts'

type Changes = Awaited<ReturnType<typeof readReportChanges>>
type TextChange = Changes['texts'][number]

export function changesPart(page: PageContext, changes: Changes): Markup {
  const { t } = page.language
  return sheetPart({ id: 'changes', title: t('reports.changes'), content: contentOf(page, changes) })
}

function contentOf(page: PageContext, changes: Changes): Part {
  const { t } = page.language
  if (!changes.known) return html`<p class="soft">${t('reports.changes.unknown')}</p>`
  const changed = changes.texts.filter((text) => text.changed)
  const same = changes.texts.filter((text) => !text.changed && text.parts.length > 0)
  const lists = listsOf(page, changes)
  const isSame = changed.length === 0 && lists.length === 0 && !changes.deleted
  return [
    changes.deleted && note(page, 'warn', html`<p>${t('reports.changes.deleted')}</p>`),
    isSame && html`<p>${t('reports.changes.none')}</p>`,
    changed.map((text) => html`<h4>${fieldName(page, text.field)}</h4>${textDiff(text)}`),
    lists.length > 0 && html`<ul>${lists}</ul>`,
    same.length > 0 &&
      html`<details><summary>${t('reports.changes.same', { count: same.length })}</summary>${same.map((text) => html`<h4>${fieldName(page, text.field)}</h4>${textDiff(text)}`)}</details>`,
  ]
}

function fieldName({ language: { t } }: PageContext, field: string): string {
  const key = `reports.field.${field}`
  return isMessageKey(key) ? t(key) : field
}

/** Renders both texts. Added words are underlined and removed words struck through. */
function textDiff({ parts }: TextChange): Markup {
  const marked = parts.map(({ change, text }) =>
    change === 'same' ? text : change === 'added' ? html`<ins>${text}</ins>` : html`<del>${text}</del>`,
  )
  return html`<div class="diff" dir="auto"><p>${marked}</p></div>`
}

/** Lists what was added and removed: tags, images and versions. */
function listsOf(page: PageContext, { lists, gallery, versions, icon }: Changes): Markup[] {
  const { t } = page.language
  const item = (name: string, of: { added: readonly string[]; removed: readonly string[]; changed?: number }) => {
    const { added, removed, changed = 0 } = of
    if (added.length + removed.length + changed === 0) return []
    const marks = [
      added.map((value) => html`<ins>${value}</ins> `),
      removed.map((value) => html`<del>${value}</del> `),
      changed > 0 && html`<span class="soft">${t('reports.changes.changed', { count: changed })}</span>`,
    ]
    return [html`<li dir="auto"><b>${name}</b> ${marks}</li>`]
  }
  const imageName = (image: Changes['gallery']['added'][number]): string => image.name ?? image.id
  return [
    ...lists.flatMap((list) => item(fieldName(page, list.field), list)),
    ...(icon.before === icon.after ? [] : [html`<li>${t('reports.changes.icon')}</li>`]),
    ...item(fieldName(page, 'gallery'), {
      added: gallery.added.map(imageName),
      removed: gallery.removed.map(imageName),
      changed: gallery.changed.length,
    }),
    ...item(fieldName(page, 'versions'), {
      added: versions.added.map(({ number }) => number),
      removed: versions.removed.map(({ number }) => number),
      changed: versions.changed.length,
    }),
  ]
}
