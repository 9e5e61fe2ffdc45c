// The reported item at the time of the report, compared with its present state.
import type { readReportChanges } from '#features/community/moderation/read-changes.ts'
import { changedFields, changedSets, fieldName } from '#web/kit/forms/changes.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { marked } from '#web/ui/parts/diff.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { note } from '#web/ui/parts/lists.ts'

type Changes = Awaited<ReturnType<typeof readReportChanges>>

export function changesPart(page: PageContext, changes: Changes): Markup {
  const { t } = page.language
  return sheetPart({ id: 'changes', title: t('reports.changes'), content: contentOf(page, changes) })
}

function contentOf(page: PageContext, changes: Changes): Part {
  const { t } = page.language
  if (!changes.known) return html`<p class="soft">${t('reports.changes.unknown')}</p>`
  const same = changes.texts.filter((text) => !text.changed && text.parts.length > 0)
  const [fields, sets] = [changedFields(page, changes, t('reports.changes.then')), changedSets(page, changes)]
  return [
    changes.deleted && note(page, 'warn', html`<p>${t('reports.changes.deleted')}</p>`),
    fields === null && sets === null && !changes.deleted && html`<p>${t('reports.changes.none')}</p>`,
    fields,
    sets,
    same.length > 0 &&
      html`<details class="more"><summary>${t('reports.changes.same', { count: same.length })}</summary>${same.map(({ field, parts }) => html`<p class="strong">${fieldName(page, field)}</p><p dir="auto">${parts.map(marked)}</p>`)}</details>`,
  ]
}
