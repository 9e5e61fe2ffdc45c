// The checklist of a project: on its review page, and as a summary on its other settings pages until it is public.
import {
  type ChecklistItem,
  checklistOf,
  listChecklistFacts,
} from '#features/catalogue/projects/checklist/checklist.ts'
import type { Db } from '#platform/db/db.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { badge } from '#web/ui/parts/lists.ts'
import type { ManagedProject } from '../project/managed-project.ts'

/** The label of each item, and the page that completes it, below the project. */
const ITEMS: Readonly<Record<string, readonly [label: MessageKey, below: string]>> = {
  summary: ['publish.item.summary', '/settings#summary'],
  license: ['publish.item.license', '/settings/tags#license_id'],
  icon: ['publish.item.icon', '/settings#icon'],
  description: ['publish.item.description', '/settings/description'],
  description_length: ['publish.item.description_length', '/settings/description'],
  description_structure: ['publish.item.description_structure', '/settings/description'],
  gallery: ['publish.item.gallery', '/settings/gallery'],
  version: ['publish.item.version', '/versions/new'],
  category: ['publish.item.category', '/settings/tags'],
  source: ['publish.item.source', '/settings/links'],
}

/** Statuses in which a project can be submitted. */
const OPEN_STATUSES = ['draft', 'rejected', 'withheld']
export const canSubmit = ({ view }: ManagedProject): boolean => OPEN_STATUSES.includes(view.status)

export async function loadChecklist(db: Db, projectId: string): Promise<ChecklistItem[]> {
  const facts = (await listChecklistFacts(db, [projectId])).get(projectId)
  return facts === undefined ? [] : checklistOf(facts)
}

export const missingOf = (items: readonly ChecklistItem[]): ChecklistItem[] =>
  items.filter(({ weight, done }) => weight === 'needed' && !done)

export const itemLabel = (page: PageContext, { id }: ChecklistItem): string => itemLabelOf(page, id)

export function itemLabelOf(page: PageContext, id: string): string {
  const [label] = ITEMS[id] ?? []
  return label === undefined ? id : page.language.t(label)
}

/** Renders all items: the required ones first, each with a link to the page that completes it. */
export function checklist(page: PageContext, { path }: ManagedProject, items: readonly ChecklistItem[]): Markup {
  const { t } = page.language
  const groups = [
    ['needed', t('publish.checklist.needed')],
    ['advised', t('publish.checklist.advised')],
  ] as const
  return html`${groups.map(([weight, title]) => {
    const rows = items.filter((item) => item.weight === weight)
    const done = rows.filter((item) => item.done).length
    const kind = weight === 'advised' ? 'warn' : done === rows.length ? 'good' : 'bad'
    const steps = badge(kind, t('publish.checklist.steps', { done, total: rows.length }))
    return html`<h4>${title}${rows.length > 0 && html` ${steps}`}</h4>
<ul class="checks${weight === 'advised' && ' soft'}">${rows.map((item) => itemRow(page, path, item))}</ul>`
  })}`
}

function itemRow(page: PageContext, path: string, item: ChecklistItem): Markup {
  const { t } = page.language
  const below = ITEMS[item.id]?.[1]
  const label = itemLabel(page, item)
  const state = item.done ? 'done' : item.weight === 'needed' ? 'fail' : 'todo'
  const text =
    item.done || below === undefined ? label : html`<a href="${pathTo(page, `${path}${below}`)}">${label}</a>`
  const spoken = t(item.done ? 'publish.checklist.done' : 'publish.checklist.open')
  return html`<li class="${state}" id="check-${item.id}">${icon(page, item.done ? 'ok' : state === 'fail' ? 'alert' : 'circle')}<span>${text}<span class="vh"> (${spoken})</span></span></li>`
}

/** Renders the progress of a project that is not submitted yet, for the top of its settings pages. */
export async function checklistSummary(page: PageContext, db: Db, data: ManagedProject): Promise<Part> {
  if (!canSubmit(data)) return false
  const { t, rich } = page.language
  const needed = (await loadChecklist(db, data.project.id)).filter(({ weight }) => weight === 'needed')
  const done = needed.filter((item) => item.done).length
  const missing = needed.filter((item) => !item.done)
  const review = (text: Part) => html`<a href="${pathTo(page, `${data.settings}/review`)}">${text}</a>`
  const text =
    missing.length === 0
      ? rich('publish.checklist.ready', { link: review })
      : rich('publish.checklist.missing', {
          items: new Intl.ListFormat(page.language.tag).format(missing.map((item) => itemLabel(page, item))),
          link: review,
        })
  return html`<div class="note" role="note" aria-label="${t('publish.checklist')}">${icon(page, 'list-checks')}<div><p>${text}</p><progress value="${done}" max="${needed.length}" aria-label="${t('publish.checklist.progress')}">${t('publish.checklist.steps', { done, total: needed.length })}</progress></div></div>`
}
