// Lists of advisories with their status, for members and moderators.
import type { AdvisoryRow } from '#features/catalogue/versions/advisories/queries.ts'
import type { AdvisoryStatus } from '#features/catalogue/versions/advisories/requests.ts'
import { versionNames } from '#web/site/advisory/advisory-notes.ts'
import { timeAgo } from '#web/ui/format.ts'
import type { Markup } from '#web/ui/html.ts'
import type { IconName } from '#web/ui/icons.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { status } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'

const STATUS: Readonly<Record<AdvisoryStatus, readonly [IconName, 'good' | 'wait' | 'bad' | undefined]>> = {
  review: ['wait', 'wait'],
  published: ['globe', 'good'],
  rejected: ['x', 'bad'],
  withdrawn: ['undo', undefined],
}

export function advisoryStatus(page: PageContext, { status: value }: Pick<AdvisoryRow, 'status'>): Markup {
  const name = value as AdvisoryStatus
  const [symbol, kind] = STATUS[name]
  return status(page, { kind, icon: symbol, label: page.language.t(`advisories.status.${name}`) })
}

/** Renders a table of advisories. `pathOf` returns the page of an advisory. */
export function advisoryTable(page: PageContext, rows: readonly AdvisoryRow[], pathOf: (id: string) => string): Markup {
  const { t } = page.language
  return listTable(page, {
    caption: t('advisories.title'),
    columns: [
      { label: t('advisories.summary') },
      { label: t('advisories.status') },
      { label: t('advisories.part.affected'), room: 'mid' },
      { label: t('site.advisory.modified'), room: 'far' },
    ],
    rows: rows.map((row) => {
      const versions = row.versions.map(({ name }) => ({ version_number: name }))
      const about =
        versions.length > 0 ? versionNames(page, versions) : t('site.advisory.hashes', { count: row.hashes.length })
      const changed = timeAgo(page.language, row.modified, page.now)
      return {
        cells: [
          nameCell({
            href: pathTo(page, pathOf(row.id)),
            name: row.summary,
            details: row.id,
            near: changed,
            least: [about],
          }),
          advisoryStatus(page, row),
          about,
          changed,
        ],
      }
    }),
  })
}
