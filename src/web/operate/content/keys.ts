// The kinds of tokens, and how scanners recognise and report them.
import { TOKEN_KINDS, TOKEN_PATTERN } from '#lib/access/tokens.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { showOperator } from '../sections.ts'

export function keyPages(pages: Pages): void {
  pages.own('GET', PATHS.operatorKeys, 'operateKeys', async (request) => showKeys(request), {
    role: 'admin',
    shows: 'Kinds of tokens',
  })
}

function showKeys(request: OwnRequest) {
  const { page, t } = request
  return showOperator(request, {
    section: PATHS.operatorKeys,
    heading: t('ops.keys'),
    text: t('ops.keys.text'),
    body: [kindsTable(page), scannerPart(page)],
  })
}

function kindsTable(page: PageContext): Part {
  const { t } = page.language
  const names = {
    pat: t('ops.keys.pat'),
    oauth: t('ops.keys.oauth'),
    session: t('ops.keys.session'),
    publisher: t('ops.keys.publisher'),
  }
  const ends = {
    pat: t('ops.keys.pat.end'),
    oauth: t('ops.keys.oauth.end'),
    session: t('ops.keys.session.end'),
    publisher: t('ops.keys.publisher.end'),
  }
  const columns = [
    { label: t('ops.keys.kind') },
    { label: t('ops.keys.prefix') },
    { label: t('ops.keys.revoke'), room: 'far' },
  ] as const
  const rows = TOKEN_KINDS.map(({ kind, prefix }) => ({
    cells: [nameCell({ name: names[kind], near: ends[kind] }), html`<code>${prefix}</code>`, ends[kind]],
  }))
  return listTable(page, { caption: t('ops.keys'), columns, rows })
}

function scannerPart(page: PageContext): Part {
  const { t } = page.language
  const content = html`<p>${t('ops.keys.format')}</p>
<p><code>${TOKEN_PATTERN}</code></p>
<p>${t('ops.keys.found')}</p>`
  return sheetPart({ id: 'scanners', title: t('ops.keys.scanners'), content })
}
