// Says where a proposal comes from.

import type { OwnRequest } from '#web/kit/pages.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { icon } from '#web/ui/page-context.ts'

type Source = { kind: string; entry?: string; version_number?: string }

export function sourceText({ page }: Pick<OwnRequest, 'page'>, { kind, entry, version_number = '' }: Source): Markup {
  const { t } = page.language
  const name = kind === 'manifest' ? 'file-code' : kind === 'file_name' ? 'package' : 'history'
  const other = kind === 'file_name' ? t('upload.from.name') : t('upload.from.version', { number: version_number })
  return html`<span class="from">${icon(page, name)}${entry ?? other}</span>`
}
