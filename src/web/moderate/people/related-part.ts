// The accounts and projects that might belong to the same person as an account, for its pages.
import { listRelated, type Relation } from '#features/community/moderation/accounts/related.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { reviewPath } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { checkbox } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { bulkForm, listTable, nameCell } from '#web/ui/parts/tables.ts'
import { accountTable } from './accounts-page.ts'
import type { AccountArea } from './accounts-request.ts'

/** Renders related accounts with the actions of the list, which shows the preview, and projects with the same links. */
export async function relatedPart(
  request: OwnRequest,
  area: Pick<AccountArea, 'path' | 'actions' | 'accountPath'>,
  account: { id: string; username: string },
): Promise<Part> {
  const { page, deps, viewer, t } = request
  const { accounts, projects } = await listRelated(deps.db, account.id, new Date(deps.now()))
  if (accounts.length === 0) return null
  const common = new Map(accounts.map(({ id, relations }) => [id, relations]))
  const name = (relation: Relation): string => t(`moderate.related.${relation}`)
  const table = accountTable(request, area, accounts, {
    label: t('moderate.related.common'),
    valueOf: ({ id }) => (common.get(id) ?? []).map(name).join(', '),
  })
  const form = bulkForm(page, {
    action: pathTo(page, area.path),
    table,
    actions: area.actions.map((value) => ({ value, label: t(`moderate.cleanup.${value}`) })),
    // The account itself belongs to the selection, unless it is that of the viewer.
    fields:
      account.id !== viewer.id &&
      checkbox({
        name: 'ids',
        value: account.id,
        isChecked: true,
        label: t('moderate.related.own', { name: account.username }),
      }),
  })
  const links =
    projects.length > 0 &&
    listTable(page, {
      caption: t('moderate.related.projects'),
      columns: [
        { label: t('moderate.related.projects') },
        { label: t('moderate.related.url'), room: 'mid' },
        { label: t('moderate.accounts.status') },
      ],
      rows: projects.map((project) => ({
        cells: [
          nameCell({ href: pathTo(page, reviewPath(project.id)), name: project.name, least: [project.link] }),
          html`<code>${project.link}</code>`,
          statusOf(page, 'project', project.status),
        ],
      })),
    })
  return html`${sheetPart({ id: 'related', title: t('moderate.related'), text: t('moderate.related.text'), content: '' })}${form}${links}`
}
